"""Maps every rule of the book ``torch`` to the class of ``torch.optim`` whose docstring it is, with all arguments."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import torch

from optimetry.conformance.targets.arguments import PAIRS, WORDS
from optimetry.conformance.targets.torch.rules import TorchClass
from optimetry.reference.books import BOOKS
from optimetry.reference.rule import Rule


def class_of(rule: type[Rule]) -> TorchClass:
    """Map a rule to the class of its name: every hyperparameter is an argument, every slot a key of the state."""
    cls = getattr(torch.optim, rule.__name__)
    otherwise = {name for names in PAIRS.values() for name in names} | {name for name, _ in WORDS.values()}
    declared = [parameter.name for parameter in rule.hyperparameters()]
    return TorchClass(
        cls,
        {keyword: names for keyword, names in PAIRS.items() if names[0] in declared}
        | {name: name for name in declared if name not in otherwise},
        slots={slot: slot for slot in (*rule.slots, "step")},
        words={keyword: pair for keyword, pair in WORDS.items() if pair[0] in declared},
        sparse=cls is torch.optim.SparseAdam,
        unset="eps1" if "eps1" in declared else "",
        fused="fused" in inspect.signature(cls).parameters,
    )


BOOK: Mapping[str, TorchClass] = {name: class_of(rule) for name, rule in BOOKS["torch"].items()}
"""The classes by the names of the rules."""
