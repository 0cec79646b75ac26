"""The algorithms of the original publications, one file for each; importing this package enters them all.

Hyperparameters have the names of the publication, and defaults where it recommends them; a Greek letter that it gives a
meaning, as lambda for the weight decay, has the name of that. Each docstring cites the algorithm, and says where a line
had to be read in one way of several.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")
