"""Declares the gradient clips; the formulas are those of `optimetry.reference.clips`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, wrapper
from optimetry.reference.clips import clip_by_global_norm, clip_by_value
from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array

CLIP_NORMS = (1.0, 0.1, 10.0, 1000.0, 1e-3)
"""Corners of the largest norm, or the largest element."""


@wrapper
@dataclass(frozen=True, kw_only=True)
class ClipByValue(Wrapper):
    """Moves every element to the nearest number of ``[min, max]``.

    Documented: fluid.clip.GradientClipByValue (pages 001, 002 and 003).
    """

    max: float = hyper(1.0, "(-inf, inf)", "the upper end", corners=CLIP_NORMS)
    min: float = hyper(-1.0, "(-inf, inf)", "the lower end")

    name = "clip_by_value"
    clips = True

    @property
    def symmetric(self) -> bool:
        """Whether the ends are alike."""
        return self.min == -self.max

    @classmethod
    def consistent(cls, hyper: dict[str, Any]) -> dict[str, Any]:
        """The lower end below the upper one, and mostly its negative, unless it is the one or the other already."""
        upper, lower = abs(hyper["max"]), hyper["min"]
        if lower not in (-upper, -upper / 2):
            lower = -upper if lower < 0.5 else -upper / 2
        return {**hyper, "max": upper, "min": lower}

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``min(max(g, lower), upper)``."""
        return clip_by_value(fed, self.min, self.max), None


@wrapper
@dataclass(frozen=True, kw_only=True)
class ClipByNorm(Wrapper):
    """``g*c/|g|`` where the norm of a gradient is above c, for each gradient on its own.

    Written here as ``g*c/max(c, |g|)``, the same number, which rounds even where nothing is clipped.

    Documented: fluid.clip.GradientClipByNorm (pages 001, 002 and 003).
    """

    clip_norm: float = hyper(None, "(0, inf)", "the largest norm", corners=CLIP_NORMS)

    name = "clip_by_norm"
    clips = True
    elementwise = False

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Each gradient scaled on its own."""
        return [clipped for grad in fed for clipped in clip_by_global_norm([grad], self.clip_norm)], None


@wrapper
@dataclass(frozen=True, kw_only=True)
class ClipByGlobalNorm(Wrapper):
    """``g*c/max(c, |all g|)``.

    Documented: fluid.clip.GradientClipByGlobalNorm (pages 001, 002 and 003).
    """

    clip_norm: float = hyper(None, "(0, inf)", "the largest norm of all gradients together", corners=CLIP_NORMS)

    name = "clip_by_global_norm"
    clips = True
    elementwise = False
    joint = True

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """All gradients scaled by one factor."""
        return clip_by_global_norm(fed, self.clip_norm), None
