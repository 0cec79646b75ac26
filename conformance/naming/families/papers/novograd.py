"""Rules that are called NovoGrad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.papers.novograd import NovoGrad
from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.rule import Array, State

FIRST_AS_LATER = "m = b1*m + (g/(sqrt(v) + eps) + d*w) in the first step, too"
AVERAGED = "m = b1*m + (1-b1)*(g/(sqrt(v) + eps) + d*w) in the first step, too"


@dataclass(frozen=True, kw_only=True)
class NovoGradFamily(NovoGrad):
    """NovoGrad, with a choice at every place where implementations differ."""

    epsilon_in: str = axis(
        "later_steps",
        {
            "later_steps": "the first quotient is g/sqrt(v), 0 where v is 0",
            "every_step": FIRST_AS_LATER,
        },
    )
    second_moment: str = axis(
        "begun_in_the_first_step",
        {
            "begun_in_the_first_step": "v = |g|^2 in the first step",
            "begun_while_zero": "v = |g|^2 in every step before which v is 0",
            "from_zero": "v = b2*v + (1-b2)*|g|^2 in the first step, too",
        },
        rare=("from_zero",),
    )
    momentum: str = axis(
        "sum", {"sum": "m = b1*m + (g/(sqrt(v) + eps) + d*w)", "average": "m = b1*m + (1-b1)*(g/(sqrt(v) + eps) + d*w)"}
    )
    step_count: str = step_count()

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        square = np.sum(np.square(grad), initial=0.0)
        v = self.beta2 * state.v + (1 - self.beta2) * square
        if self.second_moment == "begun_while_zero":
            v = np.where(state.v == 0, square, v)
        elif t == 1 and self.second_moment == "begun_in_the_first_step":
            v = square
        share = 1 - self.beta1 if self.momentum == "average" else 1.0
        if t == 1 and self.epsilon_in == "later_steps":
            m = share * (quotient(grad, np.sqrt(v)) + self.weight_decay * param)
        else:
            m = self.beta1 * state.m + share * (grad / (np.sqrt(v) + self.epsilon) + self.weight_decay * param)
        return param - lr * m, State(m=m, v=v)


dialect = dialects_of(NovoGradFamily)

declare(
    dialect(
        name="epsilon_in_every_step",
        point={"epsilon_in": "every_step"},
        origin="pytorch-optimizer",
        reference="pytorch_optimizer/optimizer/novograd.py, NovoGrad.step",
        difference=FIRST_AS_LATER,
    ),
    dialect(
        name="epsilon_in_every_step_begun_while_zero",
        point={"epsilon_in": "every_step", "second_moment": "begun_while_zero"},
        origin="the code of NVIDIA, and what is ported from it: MONAI, timm",
        reference="NVIDIA/DeepLearningExamples, novograd.py; monai/optimizers/novograd.py",
        difference=f"{FIRST_AS_LATER}; v = |g|^2 wherever v was 0",
    ),
    dialect(
        name="epsilon_in_every_step_begun_while_zero_averaged",
        point={"epsilon_in": "every_step", "second_moment": "begun_while_zero", "momentum": "average"},
        origin="the code of NVIDIA, and what is ported from it, with grad_averaging=True",
        reference="NVIDIA/DeepLearningExamples, novograd.py; monai/optimizers/novograd.py",
        difference=f"{AVERAGED}; v = |g|^2 wherever v was 0",
    ),
    dialect(
        name="epsilon_in_every_step_from_zero",
        point={"epsilon_in": "every_step", "second_moment": "from_zero"},
        origin="FusedNovoGrad of apex with init_zero=True, reg_inside_moment=True, and no averaging or correction",
        reference="NVIDIA/apex, apex/optimizers/fused_novograd.py",
        difference=f"{FIRST_AS_LATER}; v = b2*v + (1-b2)*|g|^2 in the first step, too",
    ),
    settings=(Setting({"beta1": 0.7, "beta2": 0.4, "epsilon": 0.1, "weight_decay": 0.5}),),
)
