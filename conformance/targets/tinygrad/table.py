"""Maps each documented rule to what ``tinygrad.nn.optim`` offers for it, with its arguments.

Documented hyperparameters are passed as they are; where an optimizer computes another rule under the same name, the
suite finds it.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.offers import Offer
from optimetry.conformance.targets.tinygrad.rules import TinygradOptimizer

BETAS = {"b1": "beta1", "b2": "beta2"}
MOMENTUM = {"momentum": "momentum"}
DECAY = {"weight_decay": "weight_decay"}

OFFERS: Mapping[str, Offer] = {
    "sgd": TinygradOptimizer("SGD"),
    "momentum": TinygradOptimizer("SGD", {**MOMENTUM, "nesterov": "use_nesterov"}, slots={"velocity": "b"}),
    "lars_momentum": TinygradOptimizer(
        "LARS", {**MOMENTUM, "weight_decay": "lars_weight_decay", "tcoef": "lars_coeff"}, slots={"velocity": "b"}
    ),
    "adam": TinygradOptimizer("Adam", {**BETAS, "eps": "epsilon"}, slots={"moment1": "m", "moment2": "v"}),
    "lamb": TinygradOptimizer(
        "LAMB",
        {**BETAS, "eps": "epsilon", "weight_decay": "lamb_weight_decay"},
        slots={"moment1": "m", "moment2": "v"},
    ),
    "torch.sgd": TinygradOptimizer(
        "SGD",
        {**MOMENTUM, **DECAY, "nesterov": "nesterov"},
        slots={"momentum_buffer": "b"},
        pinned={"dampening": 0.0, "maximize": False},
    ),
    "torch.adam": TinygradOptimizer(
        "Adam",
        {**BETAS, "eps": "eps"},
        slots={"exp_avg": "m", "exp_avg_sq": "v"},
        pinned={"weight_decay": 0.0, "maximize": False, "amsgrad": False, "decoupled_weight_decay": False},
    ),
    "torch.adamw": TinygradOptimizer(
        "AdamW",
        {**BETAS, **DECAY, "eps": "eps"},
        slots={"exp_avg": "m", "exp_avg_sq": "v"},
        pinned={"maximize": False, "amsgrad": False},
    ),
    "torch.muon": TinygradOptimizer(
        "Muon",
        {**MOMENTUM, **DECAY, "nesterov": "nesterov", "ns_steps": "ns_steps", "ns_coefficients": ("a", "b", "c")},
        slots={"momentum_buffer": "b"},
        pinned={"eps": 1e-7, "match_rms_adamw": False},
    ),
    "papers.adam": TinygradOptimizer("Adam", {**BETAS, "eps": "epsilon"}, slots={"m": "m", "v": "v"}),
    "papers.adamw": TinygradOptimizer("AdamW", {**BETAS, **DECAY, "eps": "epsilon"}, slots={"m": "m", "v": "v"}),
    "papers.lars": TinygradOptimizer("LARS", {**MOMENTUM, **DECAY, "tcoef": "eta"}, slots={"v": "b"}),
    "papers.lamb": TinygradOptimizer("LAMB", {**BETAS, **DECAY, "eps": "epsilon"}, slots={"m": "m", "v": "v"}),
}
