"""Rules that are called Adam, and count as torch's: with its hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.torch.adam import Adam
from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.rule import Array, Rule, State


def decayed(rule: Any, param: Array, grad: Array, lr: Any) -> tuple[Array, Array]:
    """Return the parameter and the gradient to descend along, one of which holds the decay as the rule's flag says."""
    grad = directed(grad, rule.maximize)
    if rule.decoupled_weight_decay:
        return param - lr * rule.weight_decay * param, grad
    return param, with_decay(grad, param, rule.weight_decay)


@dataclass(frozen=True, kw_only=True)
class AdamChoices(Rule):
    """What implementations of Adam and AdamW choose differently; c1 and c2 are the bias corrections."""

    epsilon_placement: str = axis(
        "corrected",
        {
            "corrected": "sqrt(v/c2) + eps",
            "uncorrected": "(sqrt(v) + eps) / sqrt(c2)",
            "inside": "sqrt(v/c2 + eps)",
        },
    )
    bias_correction: str = axis(
        "documented",
        {
            "documented": "c1 = 1 - b1^t, c2 = 1 - b2^t",
            "none": "c1 = c2 = 1",
            "of_m": "c1 = 1 - b1^t, c2 = 1",
            "of_v": "c1 = 1, c2 = 1 - b2^t",
        },
        rare=("of_m", "of_v"),
    )
    amsgrad_order: str = axis(
        "before_correction",
        {"before_correction": "the largest v so far, over c2", "after_correction": "the largest v/c2 so far"},
    )
    step_count: str = step_count()

    def corrections(self: Any, t: int) -> tuple[Any, Any]:
        """Return c1 and c2."""
        correction1 = 1 - self.beta1**t if self.bias_correction in ("documented", "of_m") else 1.0
        correction2 = 1 - self.beta2**t if self.bias_correction in ("documented", "of_v") else 1.0
        return correction1, correction2

    def stepped(self: Any, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        """Return a parameter and its state after a step along a gradient to descend along."""
        correction1, correction2 = self.corrections(t)
        exp_avg = self.beta1 * state.exp_avg + (1 - self.beta1) * grad
        exp_avg_sq = self.beta2 * state.exp_avg_sq + (1 - self.beta2) * np.square(grad)

        variance, largest = exp_avg_sq / correction2, state.max_exp_avg_sq
        if self.amsgrad and self.amsgrad_order == "before_correction":
            largest = np.maximum(largest, exp_avg_sq)
            variance = largest / correction2
        elif self.amsgrad:
            variance = largest = np.maximum(largest, variance)

        if self.epsilon_placement == "corrected":
            root = np.sqrt(variance) + self.eps
        elif self.epsilon_placement == "uncorrected":
            root = np.sqrt(variance) + self.eps / np.sqrt(correction2)
        else:
            root = np.sqrt(variance + self.eps)
        param = param - lr * (exp_avg / correction1) / root
        return param, State(exp_avg=exp_avg, exp_avg_sq=exp_avg_sq, max_exp_avg_sq=largest)


@dataclass(frozen=True, kw_only=True)
class AdamFamily(AdamChoices, Adam):
    """Adam of torch.optim, with a choice at every place where implementations differ."""

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        param, grad = decayed(self, param, grad, lr)
        return self.stepped(param, grad, state, lr, t)


FLAGS = ("amsgrad", "maximize", "decoupled_weight_decay")
UNCORRECTED_EPSILON = "w -= lr*sqrt(c2)/c1 * m / (sqrt(v) + eps)"
INSIDE = "w -= lr*(m/c1) / sqrt(v/c2 + eps)"
UNCORRECTED = "w -= lr*m / (sqrt(v) + eps)"
UNCORRECTED_1, UNCORRECTED_2 = "w -= lr*m / (sqrt(v/c2) + eps)", "w -= lr*(m/c1) / (sqrt(v) + eps)"
LOST, ON_CORRECTION = "a lost factor; no release known", "Kingma & Ba (2015), section 3, on the initialization bias"
AFTER_CORRECTION = "x = max(x, v/c2); w -= lr*(m/c1) / (sqrt(x) + eps)"

dialect = dialects_of(AdamFamily)

declare(
    dialect(
        name="uncorrected_epsilon",
        point={"epsilon_placement": "uncorrected"},
        origin="keras.optimizers.Adam, tf.train.AdamOptimizer; torch.optim.SparseAdam",
        reference="Kingma & Ba (2015), before section 2.1; keras/src/optimizers/adam.py",
        difference=UNCORRECTED_EPSILON,
    ),
    dialect(
        name="epsilon_inside",
        point={"epsilon_placement": "inside"},
        origin="optax.adam with eps_root in place of eps",
        reference="optax/_src/transform.py, scale_by_adam",
        difference=INSIDE,
    ),
    dialect(
        name="uncorrected",
        point={"bias_correction": "none"},
        origin="BertAdam without its decay; apex.optimizers.FusedAdam(bias_correction=False)",
        reference="google-research/bert, optimization.py; apex/optimizers/fused_adam.py",
        difference=UNCORRECTED,
    ),
    dialect(
        name="moment1_uncorrected",
        point={"bias_correction": "of_v"},
        origin=LOST,
        reference=ON_CORRECTION,
        difference=UNCORRECTED_1,
    ),
    dialect(
        name="moment2_uncorrected",
        point={"bias_correction": "of_m"},
        origin=LOST,
        reference=ON_CORRECTION,
        difference=UNCORRECTED_2,
    ),
    dialect(
        name="amsgrad_after_correction",
        point={"amsgrad_order": "after_correction"},
        origin="optax.amsgrad",
        reference="optax/_src/transform.py, scale_by_amsgrad",
        difference=AFTER_CORRECTION,
    ),
    settings=tuple(
        Setting({"beta1": 0.7, "beta2": 0.9, "eps": 0.1, "weight_decay": 0.5, **dict.fromkeys(FLAGS, on)})
        for on in (False, True)
    ),
)
