"""Regularizers that go by the documented names and differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimetry.conformance.naming.families.clips import TORCH, scaled_with_epsilon
from optimetry.conformance.naming.families.family import Dialect, declare
from optimetry.conformance.subjects.wrappers.decays import L2, ClipThenDecay
from optimetry.reference.clips import clip_by_global_norm
from optimetry.reference.regularizers import l2_term
from optimetry.reference.rule import Array


class DecayThenClip(ClipThenDecay):
    """Clips after adding the term, so that the term is clipped, too."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        pairs = zip(fed, parameters, strict=True)
        decayed = [grad + l2_term(self.regularization_coeff, param) for grad, param in pairs]
        return clip_by_global_norm(decayed, self.clip_norm), None


class ClipWithEpsilonThenDecay(ClipThenDecay):
    """Keeps the documented order, behind a clip that scales to a little less than the limit."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        pairs = zip(scaled_with_epsilon(fed, self.clip_norm), parameters, strict=True)
        return [grad + l2_term(self.regularization_coeff, param) for grad, param in pairs], None


class DoubledL2(L2):
    """Takes the gradient of a penalty without the factor 1/2."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        terms = [l2_term(self.regularization_coeff, param) for param in parameters]
        return [grad + (term + term) for grad, term in zip(fed, terms, strict=True)], None


declare(
    Dialect(
        name="decay_then_clip",
        family=DecayThenClip,
        origin="penalties in the loss",
        difference="clip(g + k*w) in place of clip(g) + k*w",
    ),
    Dialect(
        name="epsilon_in_divisor",
        family=ClipWithEpsilonThenDecay,
        origin=TORCH,
        reference="torch/nn/utils/clip_grad.py",
        difference="g * min(1, c / (|all g| + 1e-6)) + k*w",
    ),
)

declare(
    Dialect(
        name="doubled",
        family=DoubledL2,
        origin="keras.regularizers.L2",
        reference="keras/src/regularizers/regularizers.py",
        difference="g + 2*c*w: the gradient of c*sum(w^2)",
    ),
)
