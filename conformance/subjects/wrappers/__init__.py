"""The documented wrappers, one kind a file; importing this package declares them all."""

from importlib import import_module
from pkgutil import iter_modules

from optimetry.conformance.subjects.wrappers.wrapper import WRAPPERS

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["WRAPPERS"]
