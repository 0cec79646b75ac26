"""Maps each documented rule or wrapper to what Keras offers for it, with its arguments.

Documented hyperparameters are passed as they are; where a class computes another rule under the same name, the suite
finds it.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.keras.book import BOOK
from optimetry.conformance.targets.keras.papers import BETAS, EPSILON, PAPERS
from optimetry.conformance.targets.keras.rules import KerasClass
from optimetry.conformance.targets.keras.wrappers import KerasArgument
from optimetry.conformance.targets.offers import Offer

MOMENTS = {"moment1": "momentum", "moment2": "velocity"}

OFFERS: Mapping[str, Offer] = {
    **BOOK,
    **PAPERS,
    "sgd": KerasClass("SGD"),
    # Keras keeps the learning rate inside its momentum, so that is not the documented velocity.
    "momentum": KerasClass("SGD", {"momentum": "momentum", "nesterov": "use_nesterov"}),
    "adagrad": KerasClass(
        "Adagrad",
        {**EPSILON, "initial_accumulator_value": "initial_accumulator_value"},
        slots={"moment": "accumulator"},
    ),
    # RMSprop without momentum comes nearest to the decayed Adagrad of the documents; no other class decays the sum.
    "decayed_adagrad": KerasClass("RMSprop", {"rho": "decay", **EPSILON}, slots={"moment": "velocity"}),
    "adadelta": KerasClass(
        "Adadelta",
        {"rho": "rho", **EPSILON},
        slots={"avg_squared_grad": "accumulated_grad", "avg_squared_update": "accumulated_delta_var"},
    ),
    "adam": KerasClass("Adam", {**BETAS, **EPSILON}, slots=MOMENTS),
    "adamax": KerasClass("Adamax", {**BETAS, **EPSILON}, slots={"moment": "momentum", "inf_norm": "norm"}),
    "rmsprop": KerasClass(
        "RMSprop",
        {"rho": "rho", **EPSILON, "momentum": "momentum", "centered": "centered"},
        slots={"mean_square": "velocity", "mean_grad": "average_gradient", "velocity": "momentum"},
    ),
    "ftrl": KerasClass(
        "Ftrl",
        {
            "l1_regularization_strength": "l1",
            "l2_regularization_strength": "l2",
            "learning_rate_power": "lr_power",
        },
        constants={"initial_accumulator_value": 0.0},
        slots={"squared_accum": "accumulator", "linear_accum": "linear"},
    ),
    "lamb": KerasClass("Lamb", {"weight_decay": "lamb_weight_decay", **BETAS, **EPSILON}, slots=MOMENTS),
    "clip_by_value": KerasArgument("clipvalue", "max"),
    "clip_by_norm": KerasArgument("clipnorm", "clip_norm"),
    "clip_by_global_norm": KerasArgument("global_clipnorm", "clip_norm"),
    "exponential_moving_average": KerasArgument("ema_momentum", "decay", {"use_ema": True}),
}

ABSENT: Mapping[str, str] = {
    "lars_momentum": "keras.optimizers has no LARS class",
    "asgd": "keras.optimizers has no class that averages the last gradients",
    "dgc_compress": "keras has no deep gradient compression",
    "l1_decay": "keras.regularizers are terms of the loss: an optimizer's weight_decay is decoupled",
    "l2_decay": "keras.regularizers are terms of the loss: an optimizer's weight_decay is decoupled",
    "clip_then_decay": "keras.regularizers are terms of the loss, so clips come behind them",
    "model_average": "keras.optimizers have no average over windows",
}
