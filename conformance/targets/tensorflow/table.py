"""Maps each documented rule or wrapper to a kernel of TensorFlow, with its arguments.

Documented hyperparameters are passed as they are; where a kernel computes another rule, the suite finds it. ``v1`` are
the kernels of TensorFlow 1, ``v2`` those that Keras 2 took in the place of three of them, and AMSGrad.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optimetry.conformance.targets.offers import Offer
from optimetry.conformance.targets.tensorflow.rules import Kernel
from optimetry.conformance.targets.tensorflow.wrappers import Average, Clip

BETAS = {"beta1": "beta1", "beta2": "beta2"}
POWERS = {"beta1_power": "beta1", "beta2_power": "beta2"}
UNDECAYED = {"weight_decay": 0.0, "maximize": False}
ADAM = Kernel(
    "Adam",
    {**BETAS, "epsilon": "epsilon"},
    variables=("m", "v"),
    slots={"moment1": "m", "moment2": "v"},
    powers=POWERS,
    constants={"use_nesterov": False},
)
ADADELTA = Kernel("Adadelta", {"rho": "rho", "epsilon": "epsilon"}, variables=("accum", "accum_update"))
LEAST = 1e-8
"""The epsilon of `tf.compat.v1.train.AdamOptimizer`, where a document has none."""

V1: Mapping[str, Offer] = {
    "sgd": Kernel("GradientDescent", rate="alpha", gradient="delta"),
    "momentum": Kernel(
        "Momentum",
        {"momentum": "momentum", "use_nesterov": "use_nesterov"},
        variables=("accum",),
        slots={"velocity": "accum"},
    ),
    "adagrad": Kernel(
        "Adagrad",
        {"accum": "initial_accumulator_value"},
        variables=("accum",),
        slots={"moment": "accum"},
        pinned={"epsilon": 0.0},
    ),
    # RMSProp without momentum comes nearest to the decayed Adagrad of the documents; no other kernel decays the sum.
    "decayed_adagrad": Kernel(
        "RMSProp",
        {"rho": "decay", "epsilon": "epsilon"},
        variables=("ms", "mom"),
        slots={"moment": "ms"},
        constants={"momentum": 0.0},
    ),
    "adadelta": replace(ADADELTA, slots={"avg_squared_grad": "accum", "avg_squared_update": "accum_update"}),
    "adam": ADAM,
    "adamax": Kernel(
        "AdaMax",
        {**BETAS, "epsilon": "epsilon"},
        variables=("m", "v"),
        slots={"moment": "m", "inf_norm": "v"},
        powers={"beta1_power": "beta1"},
    ),
    "rmsprop": Kernel(
        "RMSProp",
        {"rho": "rho", "momentum": "momentum", "epsilon": "epsilon", "centered": "centered"},
        variables=("ms", "mom"),
        slots={"mean_square": "ms", "velocity": "mom", "mean_grad": "mg"},
        centered="CenteredRMSProp",
    ),
    "ftrl": Kernel(
        "Ftrl",
        {"l1": "l1", "l2": "l2", "lr_power": "lr_power"},
        variables=("accum", "linear"),
        slots={"squared_accum": "accum", "linear_accum": "linear"},
    ),
    "torch.sgd": Kernel(
        "Momentum",
        {"momentum": "momentum", "use_nesterov": "nesterov"},
        variables=("accum",),
        slots={"momentum_buffer": "accum"},
        pinned={**UNDECAYED, "dampening": 0.0},
    ),
    "torch.adam": replace(
        ADAM,
        arguments={**BETAS, "epsilon": "eps"},
        slots={"exp_avg": "m", "exp_avg_sq": "v"},
        pinned={**UNDECAYED, "amsgrad": False, "decoupled_weight_decay": False},
    ),
    "torch.adamax": Kernel(
        "AdaMax",
        {**BETAS, "epsilon": "eps"},
        variables=("m", "v"),
        slots={"exp_avg": "m", "exp_inf": "v"},
        powers={"beta1_power": "beta1"},
        pinned=UNDECAYED,
    ),
    "torch.adadelta": replace(
        ADADELTA,
        arguments={"rho": "rho", "epsilon": "eps"},
        slots={"square_avg": "accum", "acc_delta": "accum_update"},
        pinned=UNDECAYED,
    ),
    "torch.rmsprop": Kernel(
        "RMSProp",
        {"rho": "alpha", "momentum": "momentum", "epsilon": "eps", "centered": "centered"},
        variables=("ms", "mom"),
        slots={"square_avg": "ms", "momentum_buffer": "mom", "grad_avg": "mg"},
        centered="CenteredRMSProp",
        pinned=UNDECAYED,
    ),
    "papers.adam": replace(ADAM, slots={"m": "m", "v": "v"}),
    "papers.adamax": Kernel(
        "AdaMax",
        BETAS,
        variables=("m", "v"),
        slots={"m": "m", "u": "v"},
        powers={"beta1_power": "beta1"},
        constants={"epsilon": LEAST},
    ),
    "papers.adadelta": replace(ADADELTA, slots={"mean_square_grad": "accum", "mean_square_step": "accum_update"}),
    "papers.ftrl": Kernel(
        "Ftrl",
        {"l1": "lambda1", "l2": "lambda2"},
        variables=("accum", "linear"),
        slots={"n": "accum", "z": "linear"},
        constants={"lr_power": -0.5},
        pinned={"beta": 0.0},
    ),
    "clip_by_value": Clip("clip_by_value", ("min", "max")),
    "clip_by_norm": Clip("clip_by_norm", ("clip_norm",)),
    "clip_by_global_norm": Clip("clip_by_global_norm", ("clip_norm",), together=True),
    "exponential_moving_average": Average("decay"),
}
"""What the kernels of TensorFlow 1 are offered for."""

V2: Mapping[str, Offer] = {
    # The kernel keeps the learning rate inside its momentum, so that is not the documented velocity.
    "momentum": Kernel("KerasMomentum", {"momentum": "momentum", "use_nesterov": "use_nesterov"}, variables=("accum",)),
    "adagrad": Kernel(
        "AdagradV2",
        {"epsilon": "epsilon", "accum": "initial_accumulator_value"},
        variables=("accum",),
        slots={"moment": "accum"},
    ),
    "ftrl": Kernel(
        "FtrlV2",
        {"l1": "l1", "l2": "l2", "lr_power": "lr_power"},
        variables=("accum", "linear"),
        slots={"squared_accum": "accum", "linear_accum": "linear"},
        constants={"l2_shrinkage": 0.0},
    ),
    "torch.adagrad": Kernel(
        "AdagradV2",
        {"epsilon": "eps", "accum": "initial_accumulator_value"},
        variables=("accum",),
        slots={"sum": "accum"},
        pinned={**UNDECAYED, "lr_decay": 0.0},
    ),
    "papers.adagrad": Kernel("AdagradV2", {"epsilon": "delta"}, variables=("accum",), slots={"s": "accum"}),
    "papers.amsgrad": Kernel(
        "AdamWithAmsgrad",
        BETAS,
        variables=("m", "v", "vhat"),
        slots={"m": "m", "v": "v", "v_max": "vhat"},
        powers=POWERS,
        constants={"epsilon": LEAST},
    ),
}
"""What the later kernels are offered for."""

ENGINES: Mapping[str, Mapping[str, Offer]] = {"v1": V1, "v2": V2}
"""The table of each engine."""

OFFERS: Mapping[str, Offer] = {**V2, **V1}
"""What some engine offers."""

ABSENT: Mapping[str, str] = {
    "lars_momentum": "tensorflow has no kernel of LARS",
    "lamb": "tensorflow has no kernel of LAMB",
    "asgd": "tensorflow has no kernel that averages the last gradients",
    "dgc_compress": "tensorflow has no deep gradient compression",
    "l1_decay": "tensorflow has no L1 decay but in the loss",
    "l2_decay": "tensorflow has no L2 decay but in the loss",
    "clip_then_decay": "tensorflow has no L2 decay but in the loss",
    "model_average": "tensorflow has no average over windows",
}
