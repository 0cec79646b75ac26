"""Maps each documented rule or wrapper to what PyTorch offers for it, with its arguments.

Documented hyperparameters are passed as they are; where a class computes another rule under the same name (epsilon
elsewhere, say), the suite finds it.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim.swa_utils import get_ema_avg_fn, get_ema_multi_avg_fn

from optimetry.conformance.targets.offers import Offer
from optimetry.conformance.targets.torch.book import BOOK
from optimetry.conformance.targets.torch.papers import BETAS, EPSILON, PAPERS
from optimetry.conformance.targets.torch.rules import TorchClass
from optimetry.conformance.targets.torch.wrappers import Average, Clip, Decay

OFFERS: Mapping[str, Offer] = {
    **BOOK,
    **PAPERS,
    "sgd": TorchClass(torch.optim.SGD, fused=True),
    "momentum": TorchClass(
        torch.optim.SGD,
        {"momentum": "momentum", "nesterov": "use_nesterov"},
        constants={"dampening": 0.0},
        slots={"velocity": "momentum_buffer"},
        fused=True,
    ),
    "adagrad": TorchClass(
        torch.optim.Adagrad,
        {**EPSILON, "initial_accumulator_value": "initial_accumulator_value"},
        constants={"lr_decay": 0.0},
        slots={"moment": "sum", "step": "step"},
        fused=True,
    ),
    # RMSprop without momentum is the decayed Adagrad of the documents: epsilon outside the root.
    "decayed_adagrad": TorchClass(
        torch.optim.RMSprop, {"alpha": "decay", **EPSILON}, slots={"moment": "square_avg", "step": "step"}
    ),
    "adadelta": TorchClass(
        torch.optim.Adadelta,
        {"rho": "rho", **EPSILON},
        slots={"avg_squared_grad": "square_avg", "avg_squared_update": "acc_delta", "step": "step"},
    ),
    "adam": TorchClass(
        torch.optim.Adam,
        {**BETAS, **EPSILON},
        slots={"moment1": "exp_avg", "moment2": "exp_avg_sq", "step": "step"},
        fused=True,
    ),
    "adamax": TorchClass(
        torch.optim.Adamax,
        {**BETAS, **EPSILON},
        slots={"moment": "exp_avg", "inf_norm": "exp_inf", "step": "step"},
    ),
    # torch keeps the learning rate outside its momentum buffer, so that is not the documented velocity.
    "rmsprop": TorchClass(
        torch.optim.RMSprop,
        {"alpha": "rho", **EPSILON, "momentum": "momentum", "centered": "centered"},
        slots={
            "mean_square": "square_avg",
            "mean_grad": "grad_avg",
            "momentum_buffer": "momentum_buffer",
            "step": "step",
        },
    ),
    "clip_by_value": Clip(clip_grad_value_, "max"),
    "clip_by_norm": Clip(clip_grad_norm_, "clip_norm", apart=True),
    "clip_by_global_norm": Clip(clip_grad_norm_, "clip_norm"),
    "l2_decay": Decay(torch.optim.SGD, "regularization_coeff"),
    "clip_then_decay": Decay(torch.optim.SGD, "regularization_coeff", behind=Clip(clip_grad_norm_, "clip_norm")),
    "exponential_moving_average": Average(
        "decay", {"single": ("avg_fn", get_ema_avg_fn), "foreach": ("multi_avg_fn", get_ema_multi_avg_fn)}
    ),
}

ABSENT: Mapping[str, str] = {
    "lars_momentum": "torch.optim has no LARS class",
    "ftrl": "torch.optim has no FTRL class",
    "lamb": "torch.optim has no LAMB class",
    "asgd": "torch.optim.ASGD is Polyak averaging, another algorithm",
    "dgc_compress": "torch.distributed has no deep gradient compression",
    "l1_decay": "torch.optim has no L1 decay",
    "model_average": "torch.optim.swa_utils averages all updates alike, without windows",
}
