"""Laws judged without an oracle; importing this package enters them all into `LAWS`."""

from importlib import import_module
from pkgutil import iter_modules

from optimetry.conformance.laws.law import LAWS, Law, Trial, laws_of

# Universal laws come first, so that they are reported first.
for _module in sorted((module.name for module in iter_modules(__path__)), key=lambda name: (name != "universal", name)):
    import_module(f"{__name__}.{_module}")

__all__ = ["LAWS", "Law", "Trial", "laws_of"]
