"""Maps each documented rule or wrapper to what PaddlePaddle offers for it, with its arguments.

Paddle names its hyperparameters as the documents do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optimetry.conformance.targets.offers import FLOATS, Offer
from optimetry.conformance.targets.paddle.book import BOOK
from optimetry.conformance.targets.paddle.library import paddle
from optimetry.conformance.targets.paddle.papers import BETAS, EPSILON, MOMENTUM, PAPERS
from optimetry.conformance.targets.paddle.rules import PaddleClass, PaddleOperator
from optimetry.conformance.targets.paddle.wrappers import Average, Clip, Decay

if TYPE_CHECKING:
    from optimetry.conformance.targets.protocol import Hyper


def _decayed_adagrad(parameter: Any, grad: Any, slots: list[Any], lr: Any, hyper: Hyper) -> Any:
    call = paddle._legacy_C_ops.decayed_adagrad  # those in _C_ops are of Paddle 3 alone
    attributes = ("decay", hyper["decay"], "epsilon", hyper["epsilon"])
    return call(parameter, grad, *slots, lr, parameter, *slots, *attributes)


def _ftrl(parameter: Any, grad: Any, slots: list[Any], lr: Any, hyper: Hyper) -> Any:
    attributes = ("l1", hyper["l1"], "l2", hyper["l2"], "lr_power", hyper["lr_power"])
    return paddle._legacy_C_ops.ftrl(parameter, *slots, grad, lr, parameter, *slots, *attributes)


OFFERS: Mapping[str, Offer] = {
    **BOOK,
    **PAPERS,
    "sgd": PaddleClass("optimizer.SGD", dtypes=("bfloat16", *FLOATS)),
    "momentum": PaddleClass(
        "optimizer.Momentum", {**MOMENTUM, "use_nesterov": "use_nesterov"}, slots={"velocity": "velocity"}
    ),
    # paddle._C_ops.lars_momentum_ takes static-graph values only; this class is the dygraph way to the same kernel.
    "lars_momentum": PaddleClass(
        "incubate.optimizer.LarsMomentumOptimizer",
        {**MOMENTUM, "lars_coeff": "lars_coeff", "lars_weight_decay": "lars_weight_decay"},
        slots={"velocity": "velocity"},
        parameters="parameter_list",
    ),
    "adagrad": PaddleClass(
        "optimizer.Adagrad",
        {**EPSILON, "initial_accumulator_value": "initial_accumulator_value"},
        slots={"moment": "moment"},
    ),
    "decayed_adagrad": PaddleOperator(_decayed_adagrad, slots=("moment",), dtypes=("float32",)),
    "adadelta": PaddleClass(
        "optimizer.Adadelta",
        {**EPSILON, "rho": "rho"},
        slots={"avg_squared_grad": "_avg_squared_grad", "avg_squared_update": "_avg_squared_update"},
    ),
    "adam": PaddleClass(
        "optimizer.Adam",
        {**BETAS, **EPSILON},
        slots={"moment1": "moment1", "moment2": "moment2"},
    ),
    "adamax": PaddleClass("optimizer.Adamax", {**BETAS, **EPSILON}, slots={"moment": "moment", "inf_norm": "inf_norm"}),
    "rmsprop": PaddleClass(
        "optimizer.RMSProp",
        {"rho": "rho", **EPSILON, **MOMENTUM, "centered": "centered"},
        slots={"mean_square": "mean_square", "mean_grad": "mean_grad", "velocity": "momentum"},
    ),
    "ftrl": PaddleOperator(_ftrl, slots=("squared_accum", "linear_accum"), dtypes=("float32",)),
    "lamb": PaddleClass(
        "optimizer.Lamb",
        {"lamb_weight_decay": "lamb_weight_decay", **BETAS, **EPSILON},
        slots={"moment1": "moment1", "moment2": "moment2"},
    ),
    "asgd": PaddleClass(
        "optimizer.ASGD",
        {"batch_num": "batch_num", "weight_decay": "weight_decay"},
        slots={"d": "d", "history": "y"},
        none_if_zero=("weight_decay",),
    ),
    "clip_by_value": Clip(paddle.nn.ClipGradByValue, ("max", "min")),
    "clip_by_norm": Clip(paddle.nn.ClipGradByNorm, ("clip_norm",), dtypes=("float32",)),
    "clip_by_global_norm": Clip(paddle.nn.ClipGradByGlobalNorm, ("clip_norm",)),
    "l1_decay": Decay(paddle.regularizer.L1Decay, "regularization_coeff"),
    "l2_decay": Decay(paddle.regularizer.L2Decay, "regularization_coeff"),
    "clip_then_decay": Decay(
        paddle.regularizer.L2Decay,
        "regularization_coeff",
        behind=Clip(paddle.nn.ClipGradByGlobalNorm, ("clip_norm",)),
    ),
    "model_average": Average(
        paddle.incubate.ModelAverage, ("average_window_rate",), named=("min_average_window", "max_average_window")
    ),
}

ABSENT: Mapping[str, str] = {
    "dgc_compress": "paddle has no CPU kernel for dgc_compress",
    "exponential_moving_average": "paddle.static.ExponentialMovingAverage cannot be built: it raises TypeError in the "
    "graphs of Paddle 3, and refuses to work outside graphs",
}
