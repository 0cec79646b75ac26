"""Rules that are called ADOPT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.papers.adopt import ADOPT
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class ADOPTFamily(ADOPT):
    """ADOPT, with a choice at every place where implementations differ."""

    clip: str = axis(
        "fourth_root",
        {
            "fourth_root": "c = (t-1)^(1/4)",
            "none": "g / max(sqrt(v), eps) is not clipped",
            "step_ahead": "c = t^(1/4)",
            "third_root": "c = (t-1)^0.333",
        },
    )
    epsilon_placement: str = axis("least", {"least": "g / max(sqrt(v), eps)", "added": "g / (sqrt(v) + eps)"})
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        if t == 1:
            return param, State(m=state.m, v=np.square(grad))
        root = np.sqrt(state.v)
        normalized = grad / (
            root + self.epsilon if self.epsilon_placement == "added" else np.maximum(root, self.epsilon)
        )
        m = self.beta1 * state.m + (1 - self.beta1) * self._clipped(normalized, t)
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        return param - lr * m, State(m=m, v=v)

    def _clipped(self, normalized: Array, t: int) -> Array:
        if self.clip == "none":
            return normalized
        most = {"fourth_root": (t - 1) ** 0.25, "step_ahead": t**0.25, "third_root": (t - 1) ** 0.333}[self.clip]
        return np.minimum(np.maximum(normalized, -most), most)


dialect = dialects_of(ADOPTFamily)

declare(
    dialect(
        name="unclipped",
        point={"clip": "none"},
        origin="the first version of the publication, and what has no clip",
        reference="iShohei220/adopt, adopt.py, with clip_lambda=None",
        difference="m = b1*m + (1-b1) * g / max(sqrt(v), eps)",
    ),
    dialect(
        name="clip_of_the_step_ahead",
        point={"clip": "step_ahead"},
        origin="pytorch-optimizer's ADOPT",
        reference="pytorch_optimizer/optimizer/adopt.py, ADOPT.step",
        difference="the clip is t^(1/4)",
    ),
    dialect(
        name="clip_by_a_third_root",
        point={"clip": "third_root"},
        origin="timm's Adopt, with its default clip_exp",
        reference="timm/optim/adopt.py, Adopt",
        difference="the clip is (t-1)^0.333",
    ),
    dialect(
        name="epsilon_added",
        point={"epsilon_placement": "added"},
        origin="adv_optm's Adopt_adv",
        reference="adv_optm/optim/Adopt_adv.py, Adopt_adv._step_parameter",
        difference="m = b1*m + (1-b1) * clip(g / (sqrt(v) + eps))",
    ),
    settings=(
        Setting({"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1}, grads=(-2.0, 1.5)),
        Setting({"beta1": 0.7, "beta2": 0.9, "epsilon": 1.0}, grads=(-1.0, 2.0)),
    ),
)
