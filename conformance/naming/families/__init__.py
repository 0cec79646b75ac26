"""Dialects of the documented rules and wrappers, one family a file; importing this package declares them all."""

from importlib import import_module
from pkgutil import iter_modules

from optimetry.conformance.naming.families.family import DIALECTS, FAMILIES, SETTINGS

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["DIALECTS", "FAMILIES", "SETTINGS"]
