"""Every dialect in working precision as a fault: the suite must reject it, and name it."""

from __future__ import annotations

from optimetry.conformance.naming.families import DIALECTS
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.selftest.faults.fault import Fault, Start, enter
from optimetry.conformance.targets.numpy.target import run_of


def _start(dialect: Dialect) -> Start:
    return lambda documented, parameters, memory: run_of(dialect.of(documented.hyper()), parameters)


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
    )
)
