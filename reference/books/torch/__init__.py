"""The algorithms in the docstrings of ``torch.optim``, one file for each class; importing this package enters them all.

Hyperparameters have torch's names, order and defaults; of a pair such as ``betas``, each number has a name of its own.
What chooses an implementation (``foreach``, ``fused``, ``capturable``, ``differentiable``) changes no formula.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")
