"""Every dialect in working precision: members of a family, which the suite must tell from the document and name."""

from __future__ import annotations

from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.selftest.faults.fault import Fault, Start, enter
from optimetry.conformance.targets.numpy.target import RuleRun


def _start(dialect: Dialect) -> Start:
    return lambda rule, parameters, memory: RuleRun(dialect.rule(rule.hyper()), parameters)


enter(
    *(
        Fault(
            name=f"{dialect.optimizer}_{dialect.name}",
            optimizer=dialect.optimizer,
            defect=f"{dialect.difference}: {dialect.origin}",
            start=_start(dialect),
            convicted_by="oracle",
            outcome=f"dialect:{dialect.name}",
        )
        for dialects in DIALECTS.values()
        for dialect in dialects
    )
)
