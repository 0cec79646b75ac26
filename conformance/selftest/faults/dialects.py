"""Every dialect and way of counting in working precision as a fault: the suite must reject it, and name it."""

from __future__ import annotations

from collections.abc import Iterator

from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.families.family import STEP_COUNTS, Dialect
from optimetry.conformance.naming.known.points import PointClass, classes_of
from optimetry.conformance.selftest.faults.fault import Fault, Start, enter
from optimetry.conformance.targets.numpy.target import run_of

COUNTING = {
    "adam": ("documented", "scaled_epsilon"),
    "adamax": ("documented",),
    "asgd": ("documented",),
    "lamb": ("bias_corrected",),
    "momentum": ("dampened_after_first_step",),
    "papers.adabelief": ("documented",),
    "papers.adafactor": ("documented",),
    "papers.adan": ("documented",),
    "torch.adafactor": ("documented",),
    "torch.asgd": ("documented",),
    "torch.sgd": ("documented",),
}
"""Rules that depend on the number of the step, which is counted for all parameters together."""


def _start(rule: Dialect | PointClass) -> Start:
    return lambda documented, parameters, memory: run_of(rule.of(documented.hyper()), parameters)


def _counted() -> Iterator[PointClass]:
    for optimizer, names in COUNTING.items():
        for rule in classes_of(optimizer):
            yield from (rule.counting(way) for way in STEP_COUNTS if rule.name in names)


enter(
    *(
        Fault(
            name=f"{dialect.optimizer}_{dialect.name}",
            optimizer=dialect.optimizer,
            defect=f"{dialect.difference}: {dialect.origin}",
            start=_start(dialect),
            rejected_by="oracle",
            outcome=f"dialect: {dialect.name}",
        )
        for dialects in DIALECTS.values()
        for dialect in dialects
    ),
    *(
        Fault(
            name=f"{rule.optimizer}_{rule.name.replace(', ', '_')}",
            optimizer=rule.optimizer,
            defect=rule.difference,
            start=_start(rule),
            rejected_by="oracle",
            outcome=f"dialect: {rule.name}",
        )
        for rule in _counted()
    ),
)
