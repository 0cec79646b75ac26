"""Maps rules of the book ``torch`` to what Keras offers for them; what it has no argument for is pinned.

Keras' ``weight_decay`` is decoupled, so it is passed where torch's is, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.keras.rules import KerasClass

PLAIN = {"weight_decay": 0.0, "maximize": False}
COUPLED = {**PLAIN, "decoupled_weight_decay": False}
BETAS = {"beta_1": "beta1", "beta_2": "beta2", "epsilon": "eps"}
MOMENTS = {"exp_avg": "momentum", "exp_avg_sq": "velocity"}

BOOK: Mapping[str, KerasClass] = {
    "torch.sgd": KerasClass(
        "SGD", {"momentum": "momentum", "nesterov": "nesterov"}, pinned={**PLAIN, "dampening": 0.0}
    ),
    "torch.adam": KerasClass("Adam", {**BETAS, "amsgrad": "amsgrad"}, slots=MOMENTS, pinned=COUPLED),
    "torch.adamw": KerasClass(
        "AdamW",
        {**BETAS, "amsgrad": "amsgrad", "weight_decay": "weight_decay"},
        slots=MOMENTS,
        pinned={"maximize": False},
    ),
    "torch.nadam": KerasClass("Nadam", BETAS, slots=MOMENTS, pinned={**COUPLED, "momentum_decay": 0.004}),
    "torch.adamax": KerasClass("Adamax", BETAS, slots={"exp_avg": "momentum", "exp_inf": "norm"}, pinned=PLAIN),
    "torch.adadelta": KerasClass(
        "Adadelta",
        {"rho": "rho", "epsilon": "eps"},
        slots={"square_avg": "accumulated_grad", "acc_delta": "accumulated_delta_var"},
        pinned=PLAIN,
    ),
    "torch.adagrad": KerasClass(
        "Adagrad",
        {"epsilon": "eps", "initial_accumulator_value": "initial_accumulator_value"},
        slots={"sum": "accumulator"},
        pinned={**PLAIN, "lr_decay": 0.0},
    ),
    "torch.adafactor": KerasClass(
        "Adafactor",
        {
            "beta_2_decay": "beta2_decay",
            "epsilon_1": "eps1",
            "epsilon_2": "eps2",
            "clip_threshold": "d",
            "weight_decay": "weight_decay",
        },
        pinned={"maximize": False},
    ),
    # Its epsilon is that of its Adam; the norm gets 1e-7. Without `rms_rate` it scales no step by the shape.
    "torch.muon": KerasClass(
        "Muon",
        {
            "weight_decay": "weight_decay",
            "momentum": "momentum",
            "nesterov": "nesterov",
            "muon_a": "a",
            "muon_b": "b",
            "muon_c": "c",
            "ns_steps": "ns_steps",
        },
        constants={"rms_rate": 0.2},
        slots={"momentum_buffer": "momentum"},
        pinned={"eps": 1e-7, "match_rms_adamw": True},
    ),
    "torch.rmsprop": KerasClass(
        "RMSprop",
        {"rho": "alpha", "epsilon": "eps", "momentum": "momentum", "centered": "centered"},
        slots={"square_avg": "velocity", "grad_avg": "average_gradient", "momentum_buffer": "momentum"},
        pinned=PLAIN,
    ),
}
"""Rules by name."""
