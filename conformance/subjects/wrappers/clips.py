"""The gradient clips; the formulas are those of `optimetry.reference.clips`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, variant, wrapper
from optimetry.reference.clips import (
    GradientClipByGlobalNorm,
    GradientClipByValue,
)
from optimetry.reference.norms import norm
from optimetry.reference.precision import working
from optimetry.reference.rule import Array, hyper

C = TypeVar("C")

LIMITS = (1.0, 0.1, 10.0, 1000.0, 1e-3)

TORCH_EPSILON = 1e-6
"""What ``torch.nn.utils.clip_grad_norm_`` adds to a norm before it divides by it."""


def holding(holder: C, **numbers: Any) -> C:
    """A clip, or what else holds numbers, with numbers of another kind, such as `Bounded`."""
    vars(holder).update(numbers)
    return holder


@wrapper
@dataclass(frozen=True, kw_only=True)
class ClipByValue(Wrapper):
    """Every element moved to the nearest number of ``[min, max]``."""

    max: float = hyper(1.0, "(-inf, inf)", "the upper end", corners=LIMITS)
    min: float = hyper(-1.0, "(-inf, inf)", "the lower end")

    name = "clip_by_value"
    clips = True

    @property
    def symmetric(self) -> bool:
        """Whether the ends are alike."""
        return self.min == -self.max

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``min(max(g, lower), upper)``."""
        return holding(GradientClipByValue(1.0), min=self.min, max=self.max).clipped_arrays(fed), None


@wrapper
@dataclass(frozen=True, kw_only=True)
class ClipByNorm(Wrapper):
    """``g*c/|g|`` where the norm of a gradient is above c, for each gradient on its own.

    Written here as ``g*c/max(c, |g|)``, which is the same number: who computes it so rounds where nothing is clipped.
    """

    clip_norm: float = hyper(None, "(0, inf)", "the largest norm", corners=LIMITS)

    name = "clip_by_norm"
    clips = True
    elementwise = False

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Each gradient scaled on its own."""
        clip = holding(GradientClipByGlobalNorm(1.0), clip_norm=self.clip_norm)
        return [clipped for grad in fed for clipped in clip.clipped_arrays([grad])], None


@wrapper
@dataclass(frozen=True, kw_only=True)
class ClipByGlobalNorm(Wrapper):
    """``g*c/max(c, |all g|)``."""

    clip_norm: float = hyper(None, "(0, inf)", "the largest norm of all gradients together", corners=LIMITS)

    name = "clip_by_global_norm"
    clips = True
    elementwise = False
    joint = True

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """All gradients scaled by one factor."""
        return holding(GradientClipByGlobalNorm(1.0), clip_norm=self.clip_norm).clipped_arrays(fed), None


def norm_of_all(arrays: Sequence[Array]) -> Array:
    """The norm of all elements of all arrays."""
    squares = [np.square(norm(array)) for array in arrays]
    return np.sqrt(sum(squares[1:], start=squares[0]))


def scaled_with_epsilon(grads: Sequence[Array], limit: Any) -> list[Array]:
    """All gradients scaled by one factor, as ``torch.nn.utils.clip_grad_norm_`` has it."""
    factor = np.minimum(limit / (norm_of_all(grads) + TORCH_EPSILON), 1.0)
    return [grad * factor for grad in grads]


@variant("epsilon_in_divisor", "g *= min(1, c / (|g| + 1e-6))", "torch.nn.utils.clip_grad_norm_")
@dataclass(frozen=True, kw_only=True)
class NormWithEpsilon(ClipByNorm):
    """Scaled to a little less than the limit."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The factor is clamped, not the divisor."""
        return [scaled for grad in fed for scaled in scaled_with_epsilon([grad], self.clip_norm)], None


@variant("epsilon_in_divisor", "g *= min(1, c / (|all g| + 1e-6))", "torch.nn.utils.clip_grad_norm_")
@dataclass(frozen=True, kw_only=True)
class GlobalNormWithEpsilon(ClipByGlobalNorm):
    """Scaled to a little less than the limit."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The factor is clamped, not the divisor."""
        return scaled_with_epsilon(fed, self.clip_norm), None


def to_float32(number: Any) -> Any:
    """A number rounded to float32 and back."""
    if isinstance(number, Bounded):
        rounding = np.abs(number.value) * FORMATS["float32"].roundoff
        return Bounded(number.value, number.bound + rounding, number.form, number.nonnegative)
    return working(np.asarray(number).astype(np.float32).astype(number.dtype))


@variant("float32_norm", "|g| rounded to float32", "Keras on torch", dtypes=("float64",))
@dataclass(frozen=True, kw_only=True)
class NormInFloat32(ClipByNorm):
    """The norm of float64 gradients passes through float32."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Each gradient scaled on its own."""
        norms = [to_float32(norm(grad)) for grad in fed]
        return [g * self.clip_norm / np.maximum(n, self.clip_norm) for g, n in zip(fed, norms, strict=True)], None


@variant("float32_norm", "|all g| and c/|all g| rounded to float32", "Keras on torch", dtypes=("float64",))
@dataclass(frozen=True, kw_only=True)
class GlobalNormInFloat32(ClipByGlobalNorm):
    """The norm of float64 gradients passes through float32."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """All gradients scaled by one factor."""
        size = to_float32(norm_of_all([to_float32(norm(grad)) for grad in fed]))
        factor = to_float32(self.clip_norm / np.maximum(size, self.clip_norm))
        return [grad * factor for grad in fed], None


@variant("always_scaled", "g *= c / |g|, whatever the norm is", "normalized gradients")
@dataclass(frozen=True, kw_only=True)
class AlwaysScaled(ClipByNorm):
    """Short gradients are made longer."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Without the condition."""
        return [np.where(norm(grad) > 0.0, grad * self.clip_norm / norm(grad), grad) for grad in fed], None


@variant("global_norm", "one norm of all gradients in place of each one's", "a clip by the global norm")
@dataclass(frozen=True, kw_only=True)
class NormOfAll(ClipByNorm):
    """What `ClipByGlobalNorm` documents."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """All gradients scaled by one factor."""
        return ClipByGlobalNorm.feed(self, fed, parameters, state)  # type: ignore[arg-type]


@variant("norm_of_each", "each gradient's own norm in place of one of all", "a clip by norm")
@dataclass(frozen=True, kw_only=True)
class NormOfEach(ClipByGlobalNorm):
    """What `ClipByNorm` documents."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Each gradient scaled on its own."""
        return ClipByNorm.feed(self, fed, parameters, state)  # type: ignore[arg-type]
