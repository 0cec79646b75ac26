"""The regularizers, and their place behind the clip; the terms are those of `optimetry.reference.regularizers`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.subjects.wrappers.clips import LIMITS, holding, scaled_with_epsilon
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, variant, wrapper
from optimetry.reference.clips import GradientClipByGlobalNorm
from optimetry.reference.regularizers import L1Decay, L2Decay, WeightDecayRegularizer
from optimetry.reference.rule import Array, hyper

STRENGTHS = (0.01, 0.1, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Decay(Wrapper):
    """What both regularizers share."""

    regularization_coeff: float = hyper(0.0, "[0, inf)", "the strength of the decay", corners=STRENGTHS)

    @abstractmethod
    def regularizer(self) -> WeightDecayRegularizer:
        """The documented regularizer of no strength yet."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The gradients plus the term."""
        held = self.regularizer()
        held.coefficient = self.regularization_coeff
        return [grad + held.term(param) for grad, param in zip(fed, parameters, strict=True)], None


@wrapper
@dataclass(frozen=True, kw_only=True)
class L1(Decay):
    """``g + c*sign(w)``; the sign of 0 is 0."""

    name = "l1_decay"

    def regularizer(self) -> WeightDecayRegularizer:
        """`L1Decay`."""
        return L1Decay()


@wrapper
@dataclass(frozen=True, kw_only=True)
class L2(Decay):
    """``g + c*w``."""

    name = "l2_decay"

    def regularizer(self) -> WeightDecayRegularizer:
        """`L2Decay`."""
        return L2Decay()


@wrapper
@dataclass(frozen=True, kw_only=True)
class ClipThenDecay(Decay):
    """``g*c/max(c, |all g|) + k*w``: first the clip, by the global norm, then the regularizer, L2."""

    clip_norm: float = hyper(None, "(0, inf)", "the largest norm of all gradients together", corners=LIMITS)

    name = "clip_then_decay"
    elementwise = False
    joint = True

    def regularizer(self) -> WeightDecayRegularizer:
        """`L2Decay`."""
        return L2Decay()

    def clipped(self, grads: Sequence[Array]) -> list[Array]:
        """All gradients scaled by one factor."""
        return holding(GradientClipByGlobalNorm(1.0), clip_norm=self.clip_norm).clipped_arrays(grads)

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The clip does not see the term."""
        return super().feed(self.clipped(fed), parameters, state)


@variant("decay_then_clip", "clip(g + k*w) in place of clip(g) + k*w", "penalties in the loss")
@dataclass(frozen=True, kw_only=True)
class DecayThenClip(ClipThenDecay):
    """The clip shortens the term, too."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The other order."""
        return self.clipped(Decay.feed(self, fed, parameters, state)[0]), None


@variant("epsilon_in_divisor", "g * min(1, c / (|all g| + 1e-6)) + k*w", "torch.nn.utils.clip_grad_norm_")
@dataclass(frozen=True, kw_only=True)
class ClipWithEpsilonThenDecay(ClipThenDecay):
    """The documented order behind a clip that scales to a little less than the limit."""

    def clipped(self, grads: Sequence[Array]) -> list[Array]:
        """The factor is clamped, not the divisor."""
        return scaled_with_epsilon(grads, self.clip_norm)


def _doubled(held: WeightDecayRegularizer) -> WeightDecayRegularizer:
    plain = held.term
    held.term = lambda param: plain(param) + plain(param)  # type: ignore[method-assign]
    return held


@variant("doubled", "g + 2*c*w: the gradient of c*sum(w^2)", "keras.regularizers.L2")
@dataclass(frozen=True, kw_only=True)
class DoubledL2(L2):
    """A penalty without the half."""

    def regularizer(self) -> WeightDecayRegularizer:
        """Twice the term."""
        return _doubled(L2Decay())
