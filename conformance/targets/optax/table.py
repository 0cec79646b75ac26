"""Maps each documented rule or wrapper to what Optax offers for it; hyperparameters are passed as they are."""

from __future__ import annotations

from collections.abc import Mapping

import optax

from optimetry.conformance.targets.offers import Offer
from optimetry.conformance.targets.optax.book import BOOK
from optimetry.conformance.targets.optax.papers import BETAS, EPSILON, PAPERS
from optimetry.conformance.targets.optax.rules import OptaxRule
from optimetry.conformance.targets.optax.wrappers import OptaxWrapper

MOMENTS = {"moment1": "mu", "moment2": "nu", "step": "count"}

OFFERS: Mapping[str, Offer] = {
    **BOOK,
    **PAPERS,
    "sgd": OptaxRule(optax.sgd),
    "momentum": OptaxRule(optax.sgd, {"momentum": "momentum", "nesterov": "use_nesterov"}, slots={"velocity": "trace"}),
    "lars_momentum": OptaxRule(
        optax.lars,
        {"momentum": "momentum", "trust_coefficient": "lars_coeff", "weight_decay": "lars_weight_decay"},
        constants={"eps": 0.0, "nesterov": False},
        slots={"velocity": "trace"},
    ),
    "adagrad": OptaxRule(
        optax.adagrad,
        {**EPSILON, "initial_accumulator_value": "initial_accumulator_value"},
        slots={"moment": "sum_of_squares"},
    ),
    # RMSProp without momentum is the decayed Adagrad of the documents: epsilon outside the root.
    "decayed_adagrad": OptaxRule(
        optax.rmsprop,
        {"decay": "decay", **EPSILON},
        constants={"eps_in_sqrt": False, "initial_scale": 0.0, "bias_correction": False},
        slots={"moment": "nu"},
    ),
    "adadelta": OptaxRule(
        optax.adadelta, {"rho": "rho", **EPSILON}, slots={"avg_squared_grad": "e_g", "avg_squared_update": "e_x"}
    ),
    "adam": OptaxRule(optax.adam, {**BETAS, **EPSILON}, slots=MOMENTS),
    "adamax": OptaxRule(optax.adamax, {**BETAS, **EPSILON}, slots={"moment": "mu", "inf_norm": "nu", "step": "count"}),
    "rmsprop": OptaxRule(
        optax.rmsprop,
        {"decay": "rho", **EPSILON, "momentum": "momentum", "centered": "centered"},
        constants={"eps_in_sqrt": True, "initial_scale": 0.0, "bias_correction": False, "nesterov": False},
        slots={"mean_square": "nu", "mean_grad": "mu", "velocity": "trace"},
    ),
    "lamb": OptaxRule(optax.lamb, {**BETAS, **EPSILON, "weight_decay": "lamb_weight_decay"}, slots=MOMENTS),
    "clip_by_value": OptaxWrapper(lambda hyper: optax.clip(hyper["max"])),
    "clip_by_norm": OptaxWrapper(lambda hyper: optax.clip_by_global_norm(hyper["clip_norm"]), apart=True),
    "clip_by_global_norm": OptaxWrapper(lambda hyper: optax.clip_by_global_norm(hyper["clip_norm"])),
    "l2_decay": OptaxWrapper(lambda hyper: optax.add_decayed_weights(hyper["regularization_coeff"])),
    "clip_then_decay": OptaxWrapper(
        lambda hyper: optax.chain(
            optax.clip_by_global_norm(hyper["clip_norm"]), optax.add_decayed_weights(hyper["regularization_coeff"])
        )
    ),
    "exponential_moving_average": OptaxWrapper(lambda hyper: optax.ema(hyper["decay"], debias=True), averages=True),
}

ABSENT: Mapping[str, str] = {
    "ftrl": "optax has no FTRL transformation",
    "asgd": "optax has no transformation that averages the last gradients",
    "dgc_compress": "optax has no deep gradient compression",
    "l1_decay": "optax has no L1 decay",
    "model_average": "optax has no average over windows",
}
