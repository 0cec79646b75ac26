"""Numbers with rounding bounds: formats, bounds, error ratios, units in the last place.

Importing this package fills the tables of what NumPy's functions become on numbers with bounds.
"""

from importlib import import_module

for _module in ("operations", "reductions"):
    import_module(f"{__name__}.{_module}")
