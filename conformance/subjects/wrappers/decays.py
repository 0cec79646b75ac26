"""Declares the regularizers, and their order behind the clip, in terms of `optimetry.reference.regularizers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.subjects.wrappers.clips import CLIP_NORMS
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, wrapper
from optimetry.reference.clips import clip_by_global_norm
from optimetry.reference.declaration import hyper
from optimetry.reference.regularizers import l1_term, l2_term
from optimetry.reference.rule import Array

STRENGTHS = (0.01, 0.1, 0.0, 1.0)
"""Corners of the strength of a decay."""


@wrapper
@dataclass(frozen=True, kw_only=True)
class L1(Wrapper):
    """``g + c*sign(w)``; the sign of 0 is 0.

    Documented: fluid.regularizer.L1Decay (pages 000 and 003).
    """

    regularization_coeff: float = hyper(0.0, "[0, inf)", "the strength of the decay", corners=STRENGTHS)

    name = "l1_decay"

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The gradients plus the term."""
        return [grad + l1_term(self.regularization_coeff, p) for grad, p in zip(fed, parameters, strict=True)], None


@wrapper
@dataclass(frozen=True, kw_only=True)
class L2(Wrapper):
    """``g + c*w``.

    Documented: fluid.regularizer.L2Decay (pages 000 and 003).
    """

    regularization_coeff: float = hyper(0.0, "[0, inf)", "the strength of the decay", corners=STRENGTHS)

    name = "l2_decay"

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The gradients plus the term."""
        return [grad + l2_term(self.regularization_coeff, p) for grad, p in zip(fed, parameters, strict=True)], None


@wrapper
@dataclass(frozen=True, kw_only=True)
class ClipThenDecay(Wrapper):
    """``g*c/max(c, |all g|) + k*w``: first the clip, by the global norm, then the regularizer, L2.

    Documented: fluid.optimizer.Optimizer.apply_gradients (page 002), the order inside a step.
    """

    regularization_coeff: float = hyper(0.0, "[0, inf)", "the strength of the decay", corners=STRENGTHS)
    clip_norm: float = hyper(None, "(0, inf)", "the largest norm of all gradients together", corners=CLIP_NORMS)

    name = "clip_then_decay"
    elementwise = False
    joint = True

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """The clip does not see the term."""
        pairs = zip(clip_by_global_norm(fed, self.clip_norm), parameters, strict=True)
        return [grad + l2_term(self.regularization_coeff, param) for grad, param in pairs], None
