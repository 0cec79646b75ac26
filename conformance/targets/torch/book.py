"""Maps every rule of the book ``torch`` to the class of ``torch.optim`` whose docstring it is, with all arguments."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import torch

from optimetry.conformance.targets.torch.rules import TorchClass
from optimetry.reference.books import BOOKS
from optimetry.reference.rule import Rule

PAIRS: Mapping[str, tuple[str, ...]] = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
    "eps": ("eps1", "eps2"),
}
"""Arguments that are several numbers, with the hyperparameter that is each."""


def class_of(rule: type[Rule]) -> TorchClass:
    """Map a rule to the class of its name: every hyperparameter is an argument, every slot a key of the state."""
    cls = getattr(torch.optim, rule.__name__)
    paired = {name for names in PAIRS.values() for name in names}
    declared = [parameter.name for parameter in rule.hyperparameters()]
    return TorchClass(
        cls,
        {keyword: names for keyword, names in PAIRS.items() if names[0] in declared}
        | {name: name for name in declared if name not in paired},
        slots={slot: slot for slot in (*rule.slots, "step")},
        unset="eps1" if "eps1" in declared else "",
        fused="fused" in inspect.signature(cls).parameters,
    )


BOOK: Mapping[str, TorchClass] = {name: class_of(rule) for name, rule in BOOKS["torch"].items()}
"""The classes by the names of the rules."""
