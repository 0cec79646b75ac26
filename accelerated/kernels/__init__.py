"""One file per optimizer, each with ``kernel(rule)``: the kernel for a rule and its hyperparameters.

Those of another book than fluid have its folder: the kernel of ``torch.adamw`` is in ``torch/adamw.py``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module, util
from importlib.machinery import ModuleSpec
from typing import Any

from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.reference.books import BOOKS
from optimetry.reference.errors import UsageError
from optimetry.reference.rule import Rule


def kernel_of(rule: Rule) -> Kernel:
    """Return the kernel of a rule: ``kernel(rule)`` of the file that has the rule's name.

    Raises:
        UsageError: there is no such file.
    """
    if _file_of(rule.name) is None:
        raise UsageError(f"{rule.name}: has no accelerated kernel, must be one of {', '.join(offered())}")
    module: Any = import_module(f"{__name__}.{rule.name}")
    made: Kernel = module.kernel(rule)
    return made


@cache
def offered() -> dict[str, type[Rule]]:
    """Return the rules of all books that have a kernel, by name."""
    return {name: rule for rules in BOOKS.values() for name, rule in rules.items() if _file_of(name)}


def _file_of(name: str) -> ModuleSpec | None:
    file = f"{__name__}.{name}"
    folder = file.rpartition(".")[0]
    return util.find_spec(file) if util.find_spec(folder) else None
