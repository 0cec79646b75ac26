"""Adapters of optimizers in torch that are judged as classes, without a line of code around them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import Any

from optimetry.conformance.targets.own import OwnTarget, own_target


class TorchClasses(OwnTarget):
    """A target of optimizers in torch, each judged as ``optimetry check torch:CLASS --as RULE --with ...`` does.

    Attributes:
        distribution: what pip calls the library.
        rules: the name of a rule -> the class, and what some of its arguments are given, as `own_target` takes it.
        dtypes: what the library takes.
    """

    distribution: str
    rules: Mapping[str, tuple[Any, Mapping[str, Any]]]
    dtypes: tuple[str, ...] = ("float32", "float64")

    def __init__(self) -> None:
        made = [own_target("torch", cls, {rule: given}) for rule, (cls, given) in self.rules.items()]
        offers = {rule: offer for each in made for rule, offer in each.offers.items()}
        note = "; ".join(each.note for each in made)
        super().__init__(self.distribution, metadata.version(self.distribution), offers, ("single",), note)
        self.cannot = tuple(dict.fromkeys(words for each in made for words in each.cannot))
        self.shared = {rule: names for each in made for rule, names in each.shared.items()}
        taken = [set(each.more.get("single", ())) for each in made]
        self.more = {"single": set.intersection(*taken)}

    def unsupported(self, optimizer: str, hyper: Mapping[str, Any], dtype: str) -> str | None:
        """Return why the library does not offer this; None where it does."""
        if dtype not in self.dtypes:
            return f"{self.name} takes {' and '.join(self.dtypes)} only"
        return super().unsupported(optimizer, hyper, dtype)
