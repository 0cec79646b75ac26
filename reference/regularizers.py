"""Regularizers: what they add to a gradient, coupled, before the update rule sees it.

Documented: the argument ``regularization`` of pages 000 and 003, and ``weight_decay`` of pages 001 and 002.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from optimetry.reference.domains import real
from optimetry.reference.precision import working
from optimetry.reference.rule import Array
from optimetry.reference.sparse import SparseRows


def l1_term(strength: Any, param: Array) -> Array:
    """The gradient of ``strength * sum(|param|)``; the sign of 0 is 0."""
    return strength * np.sign(param)


def l2_term(strength: Any, param: Array) -> Array:
    """The gradient of ``strength * sum(param**2) / 2``."""
    return strength * param


class WeightDecayRegularizer(ABC):
    """The base of every regularizer.

    Args:
        regularization_coeff: the strength, a finite number in [0, inf).

    Raises:
        HyperparameterError: the strength is no such number.
    """

    def __init__(self, regularization_coeff: float = 0.0) -> None:
        self.coefficient = real(type(self).__name__, "regularization_coeff", regularization_coeff, "[0, inf)")

    @abstractmethod
    def term(self, param: Array) -> Array:
        """The gradient of the penalty at ``param``, same shape and dtype."""

    def regularized(self, param: Array, grad: Array | SparseRows) -> Any:
        """The gradient plus the term, in the gradient's dtype; a sparse one becomes dense, also for a lazy optimizer.

        Args:
            param: the parameter.
            grad: its gradient.
        """
        dense = grad.dense() if isinstance(grad, SparseRows) else grad
        with np.errstate(all="ignore"):
            return np.asarray(working(dense) + self.term(working(param)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.coefficient})"


class L1DecayRegularizer(WeightDecayRegularizer):
    r"""Adds :math:`c \operatorname{sign}(w)` to the gradient; the sign of 0 is 0."""

    def term(self, param: Array) -> Array:
        """The coefficient times the sign of the parameter."""
        return l1_term(self.coefficient, param)


class L2DecayRegularizer(WeightDecayRegularizer):
    r"""Adds :math:`c w` to the gradient."""

    def term(self, param: Array) -> Array:
        """The coefficient times the parameter."""
        return l2_term(self.coefficient, param)


L1Decay = L1DecayRegularizer
L2Decay = L2DecayRegularizer
