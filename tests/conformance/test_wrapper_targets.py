"""What the frameworks' clips, regularizers, averages and compression turn out to be."""

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.selftest.faults import outcome
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.protocol import engines_of
from optimetry.reference.errors import TargetError

FEW = Effort("quick", 20, 2)

VERDICTS: dict[str, dict[str, set[str]]] = {
    "torch": {
        "dgc_compress": {"unsupported"},
        "clip_by_value": {"conforms", "unsupported"},
        "clip_by_norm": {"dialect:epsilon_in_divisor", "unsupported"},
        "clip_by_global_norm": {"dialect:epsilon_in_divisor", "unsupported"},
        "l1_decay": {"unsupported"},
        "l2_decay": {"conforms", "unsupported"},
        "clip_then_decay": {"dialect:epsilon_in_divisor", "unsupported"},
        "exponential_moving_average": {"dialect:starts_at_first", "unsupported"},
        "model_average": {"unsupported"},
    },
    "paddle": {
        "dgc_compress": {"unsupported"},
        "clip_by_value": {"conforms"},
        "clip_by_norm": {"conforms"},
        "clip_by_global_norm": {"error"},  # the shape of 0-d gradients
        "l1_decay": {"conforms"},
        "l2_decay": {"conforms"},
        "clip_then_decay": {"conforms"},
        "exponential_moving_average": {"unsupported"},
        "model_average": {"error"},  # the shape of 0-d parameters
    },
    "optax": {
        "dgc_compress": {"unsupported"},
        "clip_by_norm": {"conforms"},
        "clip_by_global_norm": {"conforms"},
        "l1_decay": {"unsupported"},
        "clip_then_decay": {"conforms"},
        "model_average": {"unsupported"},
    },
    "keras": {
        "dgc_compress": {"unsupported"},
        "clip_by_norm": {"conforms"},
        "clip_by_global_norm": {"conforms"},
        "l2_decay": {"unsupported"},
        "clip_then_decay": {"unsupported"},
        "model_average": {"unsupported"},
    },
}
"""The verdicts of all engines in float32."""


def target_of(name: str) -> Any:
    try:
        return load_target(name)
    except TargetError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("name", "wrapper"), [(name, wrapper) for name, verdicts in VERDICTS.items() for wrapper in verdicts]
)
@pytest.mark.filterwarnings("ignore")
def test_a_framework_computes_what_the_findings_say(name: str, wrapper: str) -> None:
    found = judge(engines_of(target_of(name)), wrapper, "float32", effort=FEW, seed=0)
    assert {outcome(verdict) for verdict in found} == VERDICTS[name][wrapper]


@pytest.mark.parametrize("name", VERDICTS)
def test_what_is_not_offered_raises_with_the_reason(name: str) -> None:
    target = target_of(name)
    for wrapper in WRAPPERS:
        hyper = {declared.name: declared.default or 1.0 for declared in WRAPPERS[wrapper].hyperparameters()}
        reason = target.unsupported(wrapper, hyper, "float32")
        if reason is not None:
            with pytest.raises(ValueError, match=wrapper):
                target.start_wrapper(wrapper, hyper, [np.zeros(2, np.float32)])
