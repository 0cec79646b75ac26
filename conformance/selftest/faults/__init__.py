"""Targets with one defect each, every one of which the suite must reject; importing this package enters them all."""

from importlib import import_module
from pkgutil import iter_modules

from optimetry.conformance.selftest.faults.fault import FAULTS, Fault, FaultyTarget, outcome, rejected_by

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["FAULTS", "Fault", "FaultyTarget", "outcome", "rejected_by"]
