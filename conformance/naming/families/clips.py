"""Clips that go by the documented names and differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, declare
from optimetry.conformance.numerics.arithmetic import in_float32
from optimetry.conformance.subjects.wrappers.clips import ClipByGlobalNorm, ClipByNorm
from optimetry.reference.clips import clip_by_global_norm
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array

TORCH_EPSILON = 1e-6
"""What ``torch.nn.utils.clip_grad_norm_`` adds to a norm before it divides by it."""

GLUON_EPSILON = 1e-8
"""What ``mxnet.gluon.utils.clip_global_norm`` adds."""


def norm_of_all(arrays: Sequence[Array]) -> Array:
    """Return the norm of all elements of all arrays."""
    squares = [np.square(norm(array)) for array in arrays]
    return np.sqrt(sum(squares[1:], start=squares[0]))


def scaled_with_epsilon(grads: Sequence[Array], limit: Any, epsilon: float = TORCH_EPSILON) -> list[Array]:
    """Scale all gradients by one clamped factor, as ``torch.nn.utils.clip_grad_norm_`` does."""
    factor = np.minimum(limit / (norm_of_all(grads) + epsilon), 1.0)
    return [grad * factor for grad in grads]


class NormWithEpsilon(ClipByNorm):
    """Scaled to a little less than the limit."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return [scaled for grad in fed for scaled in scaled_with_epsilon([grad], self.clip_norm)], None


class GlobalNormWithEpsilon(ClipByGlobalNorm):
    """Scaled to a little less than the limit."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return scaled_with_epsilon(fed, self.clip_norm), None


class GlobalNormWithSmallEpsilon(ClipByGlobalNorm):
    """Scaled to less than the limit by as much as shows where norms are small."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return scaled_with_epsilon(fed, self.clip_norm, GLUON_EPSILON), None


@dataclass(frozen=True, kw_only=True)
class RoundedClipByNorm(ClipByNorm):
    """The documented clip, with a choice of how it is rounded: the norm may pass through float32."""

    float32_norm: bool = False

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        if not self.float32_norm:
            return super().feed(fed, parameters, state)
        norms = [in_float32(norm(grad)) for grad in fed]
        return [g * self.clip_norm / np.maximum(n, self.clip_norm) for g, n in zip(fed, norms, strict=True)], None


@dataclass(frozen=True, kw_only=True)
class RoundedClipByGlobalNorm(ClipByGlobalNorm):
    """The documented clip, with a choice of how it is rounded: norms and their ratio may pass through float32."""

    float32_norm: bool = False

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        if not self.float32_norm:
            return super().feed(fed, parameters, state)
        size = in_float32(norm_of_all([in_float32(norm(grad)) for grad in fed]))
        factor = in_float32(self.clip_norm / np.maximum(size, self.clip_norm))
        return [grad * factor for grad in fed], None


class AlwaysScaled(ClipByNorm):
    """Scales short gradients up, too."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return [np.where(norm(grad) > 0.0, grad * self.clip_norm / norm(grad), grad) for grad in fed], None


class ScaledToOne(ClipByNorm):
    """Scales long gradients to a norm of 1, whatever the limit is."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return [np.where(norm(grad) > self.clip_norm, grad / norm(grad), grad) for grad in fed], None


class NormOfAll(ClipByNorm):
    """Computes what `ClipByGlobalNorm` documents."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return clip_by_global_norm(fed, self.clip_norm), None


class NormOfEach(ClipByGlobalNorm):
    """Computes what `ClipByNorm` documents."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        return [clipped for grad in fed for clipped in clip_by_global_norm([grad], self.clip_norm)], None


TORCH = "torch.nn.utils.clip_grad_norm_"

declare(
    Dialect(
        name="epsilon_in_divisor",
        family=NormWithEpsilon,
        origin=TORCH,
        reference="torch/nn/utils/clip_grad.py",
        difference="g *= min(1, c / (|g| + 1e-6))",
    ),
    Dialect(
        name="always_scaled",
        family=AlwaysScaled,
        origin="normalized gradients",
        difference="g *= c / |g|, whatever the norm is",
    ),
    Dialect(
        name="scaled_to_one",
        family=ScaledToOne,
        origin="kann_grad_clip of KANN",
        reference="attractivechaos/kann, kann.c, kann_grad_clip",
        difference="g /= |g| where |g| > c",
    ),
    Dialect(
        name="global_norm",
        family=NormOfAll,
        origin="a clip by the global norm",
        difference="one norm of all gradients in place of each one's",
    ),
    with_arithmetic=RoundedClipByNorm,
)

declare(
    Dialect(
        name="epsilon_in_divisor",
        family=GlobalNormWithEpsilon,
        origin=TORCH,
        reference="torch/nn/utils/clip_grad.py",
        difference="g *= min(1, c / (|all g| + 1e-6))",
    ),
    Dialect(
        name="small_epsilon_in_divisor",
        family=GlobalNormWithSmallEpsilon,
        origin="mxnet.gluon.utils.clip_global_norm",
        reference="python/mxnet/gluon/utils.py",
        difference="g *= min(1, c / (|all g| + 1e-8))",
    ),
    Dialect(
        name="norm_of_each",
        family=NormOfEach,
        origin="a clip by norm",
        difference="each gradient's own norm in place of one of all",
    ),
    with_arithmetic=RoundedClipByGlobalNorm,
)
