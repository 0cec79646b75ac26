"""Runs optimizers for JAX on one tree of all parameters, which have one state then, as they are used.

Elsewhere every parameter has a state of its own, since JAX has no missing gradients. What couples parameters, such as a
norm over all of them, shows in a tree alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from optimetry.conformance.cases.offered import MISSING
from optimetry.conformance.numerics.arrays import Array

TREE = "tree"
"""The engine of such runs."""

LACKING: Mapping[str, Sequence[str]] = {TREE: (MISSING,)}
"""What that engine cannot take."""


class InOneTree:
    """A run whose parameters are one tree: a dictionary, of which no array operation makes anything.

    Args:
        begin: begins the run of a list of trees, of which there is one.
        parameters: the leaves of the tree.
    """

    def __init__(self, begin: Callable[[list[Any]], Any], parameters: Sequence[Array]) -> None:
        self.run = begin([_tree(parameters)])

    def step(self, grads: Sequence[Array | None], learning_rate: float) -> list[Array]:
        """Update all parameters, each of which has a gradient."""
        (after,) = self.run.step([_tree(grads)], learning_rate)
        return [after[name] for name in map(_name, range(len(grads)))]


class InOneSavedTree(InOneTree):
    """The same of a run that can be saved."""

    def state(self) -> dict[str, list[Array]]:
        """Return the state of the tree, one array under each slot name."""
        state: dict[str, list[Array]] = self.run.state()
        return state

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        self.run.load(state)


def _tree(arrays: Sequence[Array | None]) -> dict[str, Array | None]:
    return {_name(i): array for i, array in enumerate(arrays)}


def _name(i: int) -> str:
    return f"parameter {i}"
