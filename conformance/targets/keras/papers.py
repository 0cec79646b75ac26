"""Maps rules of the book ``papers`` to what Keras offers for them; what it has no argument for is pinned.

An epsilon that a publication does not have keeps Keras' default: there is no number to pass.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.keras.rules import KerasClass

BETAS = {"beta_1": "beta1", "beta_2": "beta2"}
EPSILON = {"epsilon": "epsilon"}
DECAY = {"weight_decay": "weight_decay"}
MOMENTS = {"m": "momentum", "v": "velocity"}

PAPERS: Mapping[str, KerasClass] = {
    "papers.adam": KerasClass("Adam", {**BETAS, **EPSILON}, slots=MOMENTS),
    "papers.adamax": KerasClass("Adamax", BETAS, slots={"m": "momentum", "u": "norm"}),
    "papers.amsgrad": KerasClass("Adam", BETAS, constants={"amsgrad": True}, slots=MOMENTS),
    "papers.adamw": KerasClass("AdamW", {**BETAS, **EPSILON, **DECAY}, slots=MOMENTS),
    "papers.nadam": KerasClass(
        "Nadam",
        {"beta_1": "mu", "beta_2": "nu", **EPSILON},
        slots={"m": "momentum", "n": "velocity"},
        pinned={"momentum_decay": 0.004},
    ),
    "papers.adagrad": KerasClass(
        "Adagrad", {"epsilon": "delta"}, constants={"initial_accumulator_value": 0.0}, slots={"s": "accumulator"}
    ),
    "papers.adadelta": KerasClass(
        "Adadelta",
        {"rho": "rho", **EPSILON},
        slots={"mean_square_grad": "accumulated_grad", "mean_square_step": "accumulated_delta_var"},
    ),
    "papers.ftrl": KerasClass(
        "Ftrl",
        {"beta": "beta", "l1_regularization_strength": "lambda1", "l2_regularization_strength": "lambda2"},
        constants={"initial_accumulator_value": 0.0},
        slots={"n": "accumulator", "z": "linear"},
    ),
    "papers.lamb": KerasClass("Lamb", {**BETAS, **EPSILON, **DECAY}, slots=MOMENTS),
    "papers.lion": KerasClass("Lion", {**BETAS, **DECAY}, slots={"m": "momentum"}, positive=("beta1",)),
}
"""Rules by name."""
