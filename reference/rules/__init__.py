"""The documented update rules, one file per optimizer; importing this package declares them all."""

from importlib import import_module
from pkgutil import iter_modules

from optimetry.reference.rule import RULES, rule_named

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["RULES", "rule_named"]
