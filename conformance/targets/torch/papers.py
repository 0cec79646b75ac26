"""Maps rules of the book ``papers`` to the classes of ``torch.optim`` that cite them.

An epsilon that a publication does not have keeps torch's default: there is no number to pass.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from optimetry.conformance.targets.torch.rules import TorchClass

BETAS = {"betas": ("beta1", "beta2")}
EPSILON = {"eps": "epsilon"}
MOMENTS = {"m": "exp_avg", "v": "exp_avg_sq", "step": "step"}

PAPERS: Mapping[str, TorchClass] = {
    "papers.adam": TorchClass(torch.optim.Adam, {**BETAS, **EPSILON}, slots=MOMENTS, fused=True),
    "papers.adamax": TorchClass(torch.optim.Adamax, BETAS, slots={"m": "exp_avg", "u": "exp_inf", "step": "step"}),
    "papers.amsgrad": TorchClass(
        torch.optim.Adam,
        BETAS,
        constants={"amsgrad": True},
        slots={**MOMENTS, "v_max": "max_exp_avg_sq"},
        fused=True,
    ),
    "papers.adamw": TorchClass(
        torch.optim.AdamW, {**BETAS, **EPSILON, "weight_decay": "weight_decay"}, slots=MOMENTS, fused=True
    ),
    "papers.nadam": TorchClass(
        torch.optim.NAdam,
        {"betas": ("mu", "nu"), **EPSILON, "momentum_decay": "momentum_decay"},
        slots={"m": "exp_avg", "n": "exp_avg_sq", "mu_product": "mu_product", "step": "step"},
    ),
    "papers.radam": TorchClass(torch.optim.RAdam, BETAS, slots=MOMENTS),
    "papers.adagrad": TorchClass(torch.optim.Adagrad, {"eps": "delta"}, slots={"s": "sum", "step": "step"}, fused=True),
    "papers.adadelta": TorchClass(
        torch.optim.Adadelta,
        {"rho": "rho", **EPSILON},
        slots={"mean_square_grad": "square_avg", "mean_square_step": "acc_delta", "step": "step"},
    ),
}
"""Rules by name."""
