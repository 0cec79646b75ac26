"""Rules that are called AdamW."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.conformance.naming.families.torch.adam import (
    AFTER_CORRECTION,
    INSIDE,
    LOST,
    ON_CORRECTION,
    UNCORRECTED,
    UNCORRECTED_1,
    UNCORRECTED_2,
    UNCORRECTED_EPSILON,
    AdamChoices,
)
from optimetry.reference.books.torch.adamw import AdamW
from optimetry.reference.books.torch.gradient import directed
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class AdamWFamily(AdamChoices, AdamW):
    """AdamW of torch.optim, with a choice at every place where implementations differ."""

    decay: str = axis(
        "with_lr",
        {
            "with_lr": "w loses lr*wd*w",
            "without_lr": "w loses wd*w",
            "after_step": "w loses lr*wd of what the step has made of it",
            "coupled": "g + wd*w takes the place of g",
            "by_step_size": "w loses lr*sqrt(c2)/c1*wd*w",
        },
        rare=("by_step_size",),
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        if self.decay == "coupled":
            grad = grad + self.weight_decay * param
        elif self.decay == "with_lr":
            param = param - lr * self.weight_decay * param
        elif self.decay == "without_lr":
            param = param - self.weight_decay * param
        elif self.decay == "by_step_size":
            correction1, correction2 = self.corrections(t)
            param = param - lr * np.sqrt(correction2) / correction1 * self.weight_decay * param
        param, state = self.stepped(param, grad, state, lr, t)
        if self.decay == "after_step":
            param = param - lr * self.weight_decay * param
        return param, state


AFTER_STEP = "w -= lr*wd*w, with the w that the step has made"

dialect = dialects_of(AdamWFamily)

declare(
    dialect(
        name="uncorrected_epsilon",
        point={"epsilon_placement": "uncorrected"},
        origin="keras.optimizers.AdamW",
        reference="keras/src/optimizers/adamw.py and base_optimizer.py",
        difference=UNCORRECTED_EPSILON,
    ),
    dialect(
        name="epsilon_inside",
        point={"epsilon_placement": "inside"},
        origin="optax.adamw with eps_root in place of eps",
        reference="optax/_src/alias.py, adamw; optax/_src/transform.py, scale_by_adam",
        difference=INSIDE,
    ),
    dialect(
        name="uncorrected",
        point={"bias_correction": "none"},
        origin="AdamWeightDecayOptimizer of BERT",
        reference="google-research/bert, optimization.py",
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
        origin="optax.amsgrad with decoupled decay",
        reference="optax/_src/transform.py, scale_by_amsgrad and add_decayed_weights",
        difference=AFTER_CORRECTION,
    ),
    dialect(
        name="decay_without_lr",
        point={"decay": "without_lr"},
        origin="AdamW as published, with a constant schedule",
        reference="Loshchilov & Hutter (2019), algorithm 2",
        difference="w -= wd*w",
    ),
    dialect(
        name="decay_after_step",
        point={"decay": "after_step"},
        origin="an order of two lines; no release known that keeps the documented epsilon",
        reference="Loshchilov & Hutter (2019), algorithm 2, where both take the old parameter",
        difference=AFTER_STEP,
    ),
    dialect(
        name="uncorrected_epsilon_decay_after_step",
        point={"epsilon_placement": "uncorrected", "decay": "after_step"},
        origin="transformers.AdamW, of Hugging Face up to 4.4x",
        reference="transformers/optimization.py, AdamW",
        difference=f"{UNCORRECTED_EPSILON}; {AFTER_STEP}",
    ),
    dialect(
        name="uncorrected_decay_after_step",
        point={"bias_correction": "none", "decay": "after_step"},
        origin="transformers.AdamW(correct_bias=False), of Hugging Face up to 4.4x",
        reference="transformers/optimization.py, AdamW",
        difference=f"{UNCORRECTED}; {AFTER_STEP}",
    ),
    dialect(
        name="uncorrected_epsilon_decay_by_step_size",
        point={"epsilon_placement": "uncorrected", "decay": "by_step_size"},
        origin="AdamW-pytorch, from before torch had an AdamW, and the many copies of it",
        reference="pytorch/pytorch#3740, and egg-west/AdamW-pytorch, adamW.py",
        difference=f"{UNCORRECTED_EPSILON}; w -= lr*sqrt(c2)/c1*wd*w",
    ),
    dialect(
        name="coupled_decay",
        point={"decay": "coupled"},
        origin="torch.optim.Adam(weight_decay=0.01), in the place of AdamW",
        reference="torch/optim/adam.py; Loshchilov & Hutter (2019), algorithm 2, with L2 regularization",
        difference="g += wd*w before both moments",
    ),
    settings=tuple(
        Setting({"beta1": 0.7, "beta2": 0.9, "eps": 0.1, "weight_decay": 0.5, "amsgrad": on, "maximize": on})
        for on in (False, True)
    ),
)
