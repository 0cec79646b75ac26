"""The target for PaddlePaddle under a Python that has release 2.6.2: the runs stored of it are played again."""

from collections.abc import Iterator

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.numerics.arrays import flat
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.errors import TargetError
from tests.conformance.golden_runs import LIBRARIES, run_of
from tests.conformance.other_pythons import under_its_own
from tests.reference.golden_cases import cases

FILE = "paddle262"
WIDER = ("adam", "adamax")
"""Rules whose float64 runs were stored with all hyperparameters in float32; dygraph has some of them in float64."""

STORED = [stored for stored in cases(FILE) if not (stored["rule"] in WIDER and stored["dtype"] == "float64")]


@pytest.fixture(scope="module")
def library() -> Iterator[ProgramTarget]:
    """Paddle 2.6.2."""
    with under_its_own("paddle2", "3.10", "OPTIMETRY_PADDLE262_PYTHON", LIBRARIES[FILE]) as target:
        yield target


@pytest.mark.parametrize("rule", sorted({stored["rule"] for stored in STORED}))
def test_runs_of_the_library_are_those_that_were_stored(rule: str, library: ProgramTarget) -> None:
    """They were stored by another program; kernels may differ in their last bits from one processor to another."""
    for run in [run_of(stored) for stored in STORED if stored["rule"] == rule]:
        tolerance = 64 * np.finfo(run.case.dtype).eps
        computed, must = trajectory(library, run.case, Guard()), np.array([flat(row) for row in run.after])
        np.testing.assert_allclose(computed, must, rtol=tolerance, atol=tolerance, err_msg=str(run.case.hyper))


@pytest.mark.parametrize(
    ("subject", "dtype", "expected"),
    [
        ("sgd", "float64", "conforms: "),
        ("adam", "float32", "dialect: scaled_epsilon = papers.adam = torch.adam"),
        ("ftrl", "float32", "dialect: strengths_enlarged"),
        ("asgd", "float32", "unsupported: paddle 2.6.2 has no ASGD"),
        ("torch.adam", "float32", "conforms: "),
        ("torch.nadam", "float32", "unsupported: paddle 2.6.2 has no NAdam"),
    ],
)
def test_a_sample_has_its_verdicts(subject: str, dtype: str, expected: str, library: ProgramTarget) -> None:
    (verdict,) = judge([library], subject, dtype, effort=Effort("few", 12, 1), seed=0)
    why = {"dialect": verdict.computes, "unsupported": verdict.reason}.get(verdict.verdict, "")
    assert f"{verdict.verdict}: {why}" == expected


def test_another_release_is_refused() -> None:
    pytest.importorskip("paddle")
    with pytest.raises(TargetError, match=r"paddlepaddle 2 is not installed: python3.10 -m venv paddle2-env"):
        load_target("paddle2")
