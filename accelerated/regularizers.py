"""Regularizers, in place: they add a term to gradients before the update rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.inplace import InPlace, Options, zeros
from optimetry.accelerated.kernels.kernel import GRAD, PARAM, Kernel, Pass, Real
from optimetry.reference.regularizers import L1DecayRegularizer, L2DecayRegularizer


def added_sign(g: Real, w: Real, strength: Real) -> tuple[Real]:
    """``g + c sign(w)``; the sign of 0 is 0."""
    return (g + strength * np.sign(w),)


SIGN_CUDA = "g = g + strength * (w > 0 ? 1 : w < 0 ? -1 : w != w ? w : 0);"


def added(g: Real, w: Real, strength: Real) -> tuple[Real]:
    """``g + c w``."""
    return (g + strength * w,)


ADDED_CUDA = "g = g + strength * w;"


class L1Decay(InPlace):
    """Gradients to which ``c sign(w)`` is added.

    Args:
        grads: the arrays that are added to, as `InPlace` takes them.
        regularization_coeff: the strength.
        **options: ``engine``, ``threads`` and ``fmad``; see `InPlace`.

    Raises:
        HyperparameterError: as the reference does.
        ArrayError: an array that cannot be updated in place.
    """

    name = "l1_decay"
    function = staticmethod(added_sign)
    cuda = SIGN_CUDA
    documented: type[L1DecayRegularizer] | type[L2DecayRegularizer] = L1DecayRegularizer

    def __init__(self, grads: Sequence[Array], regularization_coeff: float, **options: Unpack[Options]) -> None:
        strength = self.documented(regularization_coeff).coefficient
        pass_ = Pass(self.function, (PARAM, GRAD), (PARAM,), lambda lr, t: (strength,), self.cuda)
        super().__init__(self.name, grads, {"add": Kernel((pass_,))}, zeros(), noun="gradient", **options)

    def regularize(self, parameters: Sequence[Array]) -> None:
        """Add the term of these parameters, of the gradients' dtypes and shapes, to the arrays.

        Parameters that are the same objects as the last time are not checked again.
        """
        self._run("add", read=parameters, noun="parameter")


class L2Decay(L1Decay):
    """Gradients to which ``c w`` is added; the arguments are those of `L1Decay`."""

    name = "l2_decay"
    function = staticmethod(added)
    cuda = ADDED_CUDA
    documented = L2DecayRegularizer
