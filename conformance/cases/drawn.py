"""Declares what drawing asks of a subject, and the shapes that its tensors have."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.reference.declaration import Declared, Hyperparameter

Shape = tuple[int, ...]

SHAPES = ((17,), (3,), (), (1,), (0,), (2, 3), (67,), (1, 5, 1), (131,), (4, 1, 9))
"""Tensor shapes: 0-d, empty, and lengths that leave a tail behind every vector width."""

MATRICES = ((3, 4), (1, 7), (9, 1), (2, 11), (13, 3), (5, 5), (2, 3, 4))
"""More shapes where rows and columns are told apart: one row, one column, wide, tall, square, and several matrices."""


@dataclass(frozen=True)
class Drawn(ABC):
    """What drawing uses of a subject; `optimetry.conformance.subjects` declares the rest.

    Attributes:
        declaration: its hyperparameters and its formula.
    """

    declaration: type[Declared]

    @property
    def name(self) -> str:
        """Its name, as on the command line."""
        return self.declaration.name

    @property
    def elementwise(self) -> bool:
        """Whether an element of the result depends on the same element of the inputs alone."""
        return self.declaration.elementwise

    @property
    def joint(self) -> bool:
        """Whether what one parameter gets depends on the others."""
        return self.declaration.joint

    @property
    def counts_zeros(self) -> bool:
        """Whether elements that are zero in all inputs change what others become."""
        return self.declaration.counts_zeros

    @property
    def shaped(self) -> bool:
        """Whether the shape of a parameter changes what its elements become."""
        return self.declaration.shaped

    def takes(self, shape: Shape) -> bool:
        """Return whether the document says what becomes of a parameter of this shape."""
        return self.declaration.takes(shape)

    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Its hyperparameters with their domains and corners, in the order of the document."""
        return self.declaration.hyperparameters()

    def epsilon_shows_at(self, epsilon: float, hyper: Mapping[str, Any]) -> float:
        """Return the magnitude of a gradient near which an epsilon decides the result."""
        return self.declaration.epsilon_shows_at(epsilon, hyper)

    def adapted(self, case: Case) -> Case:
        """Turn a case as it was drawn into one that makes sense for this subject."""
        return case


def shapes_of(subject: Drawn) -> Sequence[Shape]:
    """Return the shapes that a subject takes, in which its tensors are drawn."""
    return tuple(shape for shape in (*SHAPES, *(MATRICES if subject.shaped else ())) if subject.takes(shape))


def fitting(subject: Drawn, shape: Shape) -> Shape:
    """Return a shape if a subject takes it, else a matrix of about as many elements, as square as can be."""
    if subject.takes(shape):
        return shape
    rows = max(math.isqrt(math.prod(shape)), 1)
    return rows, max(math.prod(shape) // rows, 1)
