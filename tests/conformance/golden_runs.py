"""What real PaddlePaddle computed (tests/reference/golden), as targets that play it back."""

from __future__ import annotations

from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.recorded import RecordedRun, RecordedTarget
from tests.reference.golden_cases import array, arrays, cases

LIBRARIES = {
    "fluid185": "1.8.5",
    "fluid185_wrappers": "1.8.5",
    "paddle262": "2.6.2",
    "paddle331_asgd": "3.3.1",
}
"""The version of PaddlePaddle that made each file."""

SINGLE = ("clip_by_value", "clip_by_norm", "clip_by_global_norm", "l1_decay", "l2_decay")
"""Wrappers whose runs are one step, stored without a list of steps."""


def recorded(file: str) -> RecordedTarget:
    """Return the runs of a golden file as a target."""
    return RecordedTarget("paddle", LIBRARIES[file], [run_of(stored) for stored in cases(file)])


def run_of(stored: dict[str, Any]) -> RecordedRun:
    """Read one run."""
    dtype, name = stored["dtype"], stored.get("rule") or stored["wrapper"]
    single = name in SINGLE
    fed = [stored["gradients"]] if single else stored.get("gradients") or stored["fed"]
    after = [stored["after"]] if single else stored["after"]
    rates = [array({"shape": (), "bits": [bits]}, stored["rate_dtype"]) for bits in stored.get("learning_rates", ())]
    hyper = dict(stored["hyper"])
    if name == "clip_by_value":
        hyper.setdefault("min", -hyper["max"])  # as the page says of a clip without it
    case = Case(
        optimizer=name,
        dtype=dtype,
        hyper=subject_named(name).of(hyper).hyper(),
        learning_rates=tuple(float(rate) for rate in rates) or (1.0,) * len(fed),
        parameters=tuple(arrays(stored["parameters"] if "parameters" in stored else fed[0], dtype)),
        grads=tuple(tuple(arrays(step, dtype)) for step in fed),
    )
    return RecordedRun(case, [arrays(step, dtype) for step in after])
