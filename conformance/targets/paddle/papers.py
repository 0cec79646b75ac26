"""Maps rules of the book ``papers`` to what PaddlePaddle offers for them.

An epsilon that a publication does not have keeps Paddle's default: there is no number to pass.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.paddle.rules import PaddleClass

BETAS = {"beta1": "beta1", "beta2": "beta2"}
EPSILON = {"epsilon": "epsilon"}
MOMENTUM = {"momentum": "momentum"}
MOMENTS = {"m": "moment1", "v": "moment2"}

PAPERS: Mapping[str, PaddleClass] = {
    "papers.adam": PaddleClass("optimizer.Adam", {**BETAS, **EPSILON}, slots=MOMENTS),
    "papers.adamax": PaddleClass("optimizer.Adamax", BETAS, slots={"m": "moment", "u": "inf_norm"}),
    "papers.adamw": PaddleClass("optimizer.AdamW", {**BETAS, **EPSILON, "weight_decay": "weight_decay"}, slots=MOMENTS),
    "papers.nadam": PaddleClass(
        "optimizer.NAdam", {"beta1": "mu", "beta2": "nu", **EPSILON, "momentum_decay": "momentum_decay"}
    ),
    "papers.radam": PaddleClass("optimizer.RAdam", BETAS),
    "papers.adagrad": PaddleClass("optimizer.Adagrad", {"epsilon": "delta"}, slots={"s": "moment"}),
    "papers.adadelta": PaddleClass(
        "optimizer.Adadelta",
        {**EPSILON, "rho": "rho"},
        slots={"mean_square_grad": "_avg_squared_grad", "mean_square_step": "_avg_squared_update"},
    ),
    # paddle._C_ops.lars_momentum_ takes static-graph values only; this class is the dygraph way to the same kernel.
    "papers.lars": PaddleClass(
        "incubate.optimizer.LarsMomentumOptimizer",
        {**MOMENTUM, "lars_coeff": "eta", "lars_weight_decay": "weight_decay"},
        slots={"v": "velocity"},
        parameters="parameter_list",
    ),
    "papers.lamb": PaddleClass(
        "optimizer.Lamb",
        {"lamb_weight_decay": "weight_decay", **BETAS, **EPSILON},
        slots=MOMENTS,
    ),
}
"""Rules by name."""
