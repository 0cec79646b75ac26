"""One file per optimizer, each with ``kernel(rule)``: the kernel for a rule and its hyperparameters.

Those of another book than fluid have its folder: the kernel of ``torch.adamw`` is in ``torch/adamw.py``.
"""

from __future__ import annotations

from importlib import import_module, util
from typing import Any

from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.reference.rule import Rule


def kernel_of(rule: Rule) -> Kernel:
    """Return the kernel of a rule: ``kernel(rule)`` of the file that has the rule's name."""
    module: Any = import_module(f"{__name__}.{rule.name}")
    made: Kernel = module.kernel(rule)
    return made


def has_kernel(name: str) -> bool:
    """Return whether there is a kernel for the rule of that name."""
    file = f"{__name__}.{name}"
    folder = file.rpartition(".")[0]
    return util.find_spec(folder) is not None and util.find_spec(file) is not None
