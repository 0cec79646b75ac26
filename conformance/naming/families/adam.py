"""Rules that are called Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.adam import Adam

STEPS_AHEAD = {"t": 0, "t+1": 1, "t-1": -1}


def _correction(decay: Any, count: int) -> Any:
    """``1 - decay**count``, which is exactly 0 for no step."""
    return 1 - decay**count if count else 0.0


@dataclass(frozen=True, kw_only=True)
class AdamFamily(Adam):
    """Adam, with a choice at every place where implementations differ; c1 and c2 are the bias corrections.

    With the count ``t-1`` both corrections of the first step are zero, so its result is 0/0.
    """

    epsilon_placement: str = axis(
        "outside",
        {
            "outside": "sqrt(v) + eps",
            "scaled": "sqrt(v) + eps*sqrt(c2), which is sqrt(v/c2) + eps after correction",
            "inside": "sqrt(v + eps)",
            "scaled_inside": "sqrt(v + eps*c2), which is sqrt(v/c2 + eps) after correction",
        },
    )
    moment1_correction: str = axis("documented", {"documented": "c1 = 1 - b1^t", "none": "c1 = 1"})
    moment2_correction: str = axis("documented", {"documented": "c2 = 1 - b2^t", "none": "c2 = 1"})
    correction_count: str = axis(
        "t", {"t": "b1^t and b2^t", "t+1": "b1^(t+1) and b2^(t+1)", "t-1": "b1^(t-1) and b2^(t-1)"}
    )
    moments: str = axis(
        "new",
        {
            "new": "the step uses this step's m and v",
            "old": "the step uses those before it",
            "old_m": "the step uses the m before it, and this step's v",
            "old_v": "the step uses this step's m, and the v before it",
        },
        rare=("old_m", "old_v"),
    )
    amsgrad: str = axis(
        "none",
        {
            "none": "v",
            "before_correction": "the largest v so far",
            "after_correction": "the largest v/c2 so far, times c2",
        },
    )
    decay: str = axis(
        "none",
        {
            "none": "no decay",
            "with_lr": "w also loses lr*wd*w",
            "without_lr": "w also loses wd*w",
            "coupled": "g + wd*w takes the place of g",
        },
        rare=("coupled",),
    )

    step_count: str = step_count()
    weight_decay: ClassVar[float] = 0.01  # no documented hyperparameter: AdamW's default, which L2 is given, too
    slots = ("moment1", "moment2", "moment2_max")  # type: ignore[assignment]  # mypy infers a pair from Adam

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        count = t + STEPS_AHEAD[self.correction_count]
        correction1 = _correction(self.beta1, count) if self.moment1_correction == "documented" else 1.0
        correction2 = _correction(self.beta2, count) if self.moment2_correction == "documented" else 1.0

        if self.decay == "coupled":
            grad = grad + self.weight_decay * param
        moment1 = self.beta1 * state.moment1 + (1 - self.beta1) * grad
        moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
        m = state.moment1 if self.moments in ("old", "old_m") else moment1
        v = state.moment2 if self.moments in ("old", "old_v") else moment2

        moment2_max = state.moment2_max
        if self.amsgrad == "before_correction":
            v = moment2_max = np.maximum(moment2_max, v)
        elif self.amsgrad == "after_correction":
            moment2_max = np.maximum(moment2_max, v / correction2)
            v = moment2_max * correction2

        if self.epsilon_placement == "outside":
            root = np.sqrt(v) + self.epsilon
        elif self.epsilon_placement == "scaled":
            root = np.sqrt(v) + self.epsilon * np.sqrt(correction2)
        elif self.epsilon_placement == "inside":
            root = np.sqrt(v + self.epsilon)
        else:
            root = np.sqrt(v + self.epsilon * correction2)

        lr_t = lr * np.sqrt(correction2) / correction1
        if self.decay == "with_lr":
            param = param - lr * self.weight_decay * param
        elif self.decay == "without_lr":
            param = param - self.weight_decay * param
        return param - lr_t * m / root, State(moment1=moment1, moment2=moment2, moment2_max=moment2_max)


dialect = dialects_of(AdamFamily)

declare(
    dialect(
        name="scaled_epsilon",
        point={"epsilon_placement": "scaled"},
        origin="torch.optim.Adam, optax.adam, PaddlePaddle since 2.0",
        reference="Kingma & Ba (2015), algorithm 1; torch/optim/adam.py; optax/_src/transform.py",
        difference="w -= lr_t*m / (sqrt(v) + eps*sqrt(1-b2^t))",
    ),
    dialect(
        name="epsilon_inside",
        point={"epsilon_placement": "inside"},
        origin="a misplaced parenthesis; no release known",
        reference="Kingma & Ba (2015), end of section 2, for the form it departs from",
        difference="w -= lr_t*m / sqrt(v + eps)",
    ),
    dialect(
        name="scaled_epsilon_inside",
        point={"epsilon_placement": "scaled_inside"},
        origin="optax.adam with eps_root in place of eps",
        reference="optax/_src/transform.py, scale_by_adam",
        difference="w -= lr*(m/(1-b1^t)) / sqrt(v/(1-b2^t) + eps)",
    ),
    dialect(
        name="uncorrected",
        point={"moment1_correction": "none", "moment2_correction": "none"},
        origin="BertAdam without its decay",
        reference="pytorch-pretrained-bert, optimization.py; google-research/bert, optimization.py",
        difference="w -= lr*m / (sqrt(v) + eps)",
    ),
    dialect(
        name="uncorrected_decoupled_decay",
        point={"moment1_correction": "none", "moment2_correction": "none", "decay": "with_lr"},
        origin="AdamWeightDecayOptimizer of BERT",
        reference="google-research/bert, optimization.py",
        difference="w -= lr*(m/(sqrt(v) + eps) + wd*w)",
    ),
    dialect(
        name="moment1_uncorrected",
        point={"moment1_correction": "none"},
        origin="a lost factor; no release known",
        reference="Kingma & Ba (2015), section 3, on the initialization bias",
        difference="lr_t = lr*sqrt(1-b2^t)",
    ),
    dialect(
        name="moment2_uncorrected",
        point={"moment2_correction": "none"},
        origin="a lost factor; no release known",
        reference="Kingma & Ba (2015), section 3, on the initialization bias",
        difference="lr_t = lr/(1-b1^t)",
    ),
    dialect(
        name="count_ahead",
        point={"correction_count": "t+1"},
        origin="PaddlePaddle 1.8.5 with sparse gradients on the CPU: the powers are advanced before their use",
        reference="Paddle 1.8, paddle/fluid/operators/optimizers/adam_op.h",
        difference="lr_t = lr*sqrt(1-b2^(t+1))/(1-b1^(t+1))",
    ),
    dialect(
        name="scaled_epsilon_count_ahead",
        point={"epsilon_placement": "scaled", "correction_count": "t+1"},
        origin="PaddlePaddle 2.0 to 3.3 with sparse gradients on the CPU, for rows that have a gradient",
        reference="Paddle 3.3, paddle/phi/kernels/funcs/adam_functors.h, SparseAdamFunctor",
        difference="lr_t = lr*sqrt(1-b2^(t+1))/(1-b1^(t+1)); w -= lr_t*m / (sqrt(v) + eps*sqrt(1-b2^(t+1)))",
    ),
    dialect(
        name="count_behind",
        point={"correction_count": "t-1"},
        origin="a step count that starts at 0; no release known",
        reference="Kingma & Ba (2015), algorithm 1, where t is advanced before its use",
        difference="lr_t = lr*sqrt(1-b2^(t-1))/(1-b1^(t-1)), 0/0 in the first step",
    ),
    dialect(
        name="old_moments",
        point={"moments": "old"},
        origin="the equation of fluid.optimizer.AdamOptimizer as printed, without its `_out`",
        reference="fluid.optimizer.AdamOptimizer, page 000",
        difference="w -= lr_t*m_old / (sqrt(v_old) + eps)",
    ),
    dialect(
        name="old_moment1",
        point={"moments": "old_m"},
        origin="a first moment that is updated after its use; no release known",
        reference="Kingma & Ba (2015), algorithm 1, which updates both moments before the step",
        difference="w -= lr_t*m_old / (sqrt(v) + eps)",
    ),
    dialect(
        name="old_moment2",
        point={"moments": "old_v"},
        origin="a second moment that is updated after its use; no release known",
        reference="Kingma & Ba (2015), algorithm 1, which updates both moments before the step",
        difference="w -= lr_t*m / (sqrt(v_old) + eps)",
    ),
    dialect(
        name="amsgrad",
        point={"amsgrad": "before_correction"},
        origin="keras.optimizers.Adam(amsgrad=True)",
        reference="keras/src/optimizers/adam.py; Reddi et al. (2018), algorithm 2, which corrects no bias",
        difference="x = max(x, v); w -= lr_t*m / (sqrt(x) + eps)",
    ),
    dialect(
        name="uncorrected_amsgrad",
        point={
            "moment1_correction": "none",
            "moment2_correction": "none",
            "amsgrad": "before_correction",
        },
        origin="AMSGrad as published, but for its epsilon: nnabla.solvers.AMSGRAD",
        reference="src/nbla/solver/generic/amsgrad.cpp, AMSGRAD::update_impl",
        difference="x = max(x, v); w -= lr*m / (sqrt(x) + eps)",
    ),
    dialect(
        name="scaled_epsilon_amsgrad",
        point={"epsilon_placement": "scaled", "amsgrad": "before_correction"},
        origin="torch.optim.Adam(amsgrad=True), PaddlePaddle 3.3 Adam(amsgrad=True)",
        reference="torch/optim/adam.py; Paddle 3.3, paddle/phi/kernels/funcs/adam_functors.h",
        difference="x = max(x, v); w -= lr_t*m / (sqrt(x) + eps*sqrt(1-b2^t))",
    ),
    dialect(
        name="scaled_epsilon_amsgrad_corrected",
        point={"epsilon_placement": "scaled", "amsgrad": "after_correction"},
        origin="optax.amsgrad",
        reference="optax/_src/transform.py, scale_by_amsgrad",
        difference="x = max(x, v/(1-b2^t)); w -= lr*(m/(1-b1^t)) / (sqrt(x) + eps)",
    ),
    dialect(
        name="decoupled_decay",
        point={"decay": "with_lr"},
        origin="keras.optimizers.AdamW",
        reference="keras/src/optimizers/adamw.py and base_optimizer.py",
        difference="w -= lr_t*m / (sqrt(v) + eps) + lr*wd*w",
    ),
    dialect(
        name="scaled_epsilon_decoupled_decay",
        point={"epsilon_placement": "scaled", "decay": "with_lr"},
        origin="torch.optim.AdamW, optax.adamw, paddle.optimizer.AdamW",
        reference="torch/optim/adam.py, decoupled_weight_decay; optax/_src/alias.py",
        difference="w -= lr_t*m / (sqrt(v) + eps*sqrt(1-b2^t)) + lr*wd*w",
    ),
    dialect(
        name="scaled_epsilon_decay_without_lr",
        point={"epsilon_placement": "scaled", "decay": "without_lr"},
        origin="AdamW as published, with a constant schedule",
        reference="Loshchilov & Hutter (2019), algorithm 2",
        difference="w -= lr_t*m / (sqrt(v) + eps*sqrt(1-b2^t)) + wd*w",
    ),
    dialect(
        name="coupled_decay",
        point={"decay": "coupled"},
        origin="keras.optimizers.Adam over weights with keras.regularizers.L2(0.005)",
        reference="keras/src/regularizers/regularizers.py; keras/src/optimizers/adam.py",
        difference="g += wd*w before both moments",
    ),
    dialect(
        name="scaled_epsilon_coupled_decay",
        point={"epsilon_placement": "scaled", "decay": "coupled"},
        origin="torch.optim.Adam(weight_decay=0.01), paddle.optimizer.Adam(weight_decay=0.01)",
        reference="torch/optim/adam.py, weight_decay; Loshchilov & Hutter (2019), algorithm 2, with L2 regularization",
        difference="g += wd*w before both moments; w -= lr_t*m / (sqrt(v) + eps*sqrt(1-b2^t))",
    ),
    dialect(
        name="scaled_epsilon_amsgrad_coupled_decay",
        point={"epsilon_placement": "scaled", "amsgrad": "before_correction", "decay": "coupled"},
        origin="torch.optim.Adam(amsgrad=True, weight_decay=0.01)",
        reference="torch/optim/adam.py, weight_decay and amsgrad",
        difference="g += wd*w before both moments; x = max(x, v); w -= lr_t*m / (sqrt(x) + eps*sqrt(1-b2^t))",
    ),
    settings=(Setting({"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1}, sizes=(-2, 4), pool=400),),
)
