"""Dialects of the documented rules and wrappers, one family a file; importing this package declares them all.

Those of fluid's rules lie here, those of another book's in a folder of its name.
"""

from importlib import import_module
from pkgutil import walk_packages

from optimetry.conformance.naming.families.family import DIALECTS, FAMILIES, SETTINGS

for _module in sorted(module.name for module in walk_packages(__path__, f"{__name__}.")):
    import_module(_module)

__all__ = ["DIALECTS", "FAMILIES", "SETTINGS"]
