"""One file per optimizer, each with ``kernel(rule)``: the kernel for a rule and its hyperparameters."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.reference.rule import Rule


def kernel_of(rule: Rule) -> Kernel:
    """Return the kernel of a rule: ``kernel(rule)`` of the file that has the rule's name."""
    module: Any = import_module(f"{__name__}.{rule.name}")
    made: Kernel = module.kernel(rule)
    return made
