"""Maps each documented rule or wrapper to what PaddlePaddle offers for it, with its arguments.

Paddle names its hyperparameters as the documents do, so they are passed by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optimetry.conformance.targets.offers import Offer
from optimetry.conformance.targets.paddle.book import BOOK
from optimetry.conformance.targets.paddle.library import paddle
from optimetry.conformance.targets.paddle.papers import PAPERS
from optimetry.conformance.targets.paddle.rules import FLOATS, PaddleClass, PaddleOperator
from optimetry.conformance.targets.paddle.wrappers import Average, Clip, Decay
from optimetry.conformance.targets.protocol import Hyper


def _decayed_adagrad(parameter: Any, grad: Any, slots: list[Any], lr: Any, hyper: Hyper) -> Any:
    return paddle._C_ops.decayed_adagrad(parameter, grad, *slots, lr, hyper["decay"], hyper["epsilon"])


def _ftrl(parameter: Any, grad: Any, slots: list[Any], lr: Any, hyper: Hyper) -> Any:
    return paddle._C_ops.ftrl(parameter, *slots, grad, lr, hyper["l1"], hyper["l2"], hyper["lr_power"])


OFFERS: Mapping[str, Offer] = {
    **BOOK,
    **PAPERS,
    "sgd": PaddleClass(paddle.optimizer.SGD, dtypes=("bfloat16", *FLOATS)),
    "momentum": PaddleClass(paddle.optimizer.Momentum, ("momentum", "use_nesterov"), slots={"velocity": "velocity"}),
    # paddle._C_ops.lars_momentum_ takes static-graph values only; this class is the dygraph way to the same kernel.
    "lars_momentum": PaddleClass(
        paddle.incubate.optimizer.LarsMomentumOptimizer,
        ("momentum", "lars_coeff", "lars_weight_decay"),
        slots={"velocity": "velocity"},
        parameters="parameter_list",
    ),
    "adagrad": PaddleClass(
        paddle.optimizer.Adagrad, ("epsilon", "initial_accumulator_value"), slots={"moment": "moment"}
    ),
    "decayed_adagrad": PaddleOperator(_decayed_adagrad, slots=("moment",), dtypes=("float32",)),
    "adadelta": PaddleClass(
        paddle.optimizer.Adadelta,
        ("epsilon", "rho"),
        slots={"avg_squared_grad": "_avg_squared_grad", "avg_squared_update": "_avg_squared_update"},
    ),
    "adam": PaddleClass(
        paddle.optimizer.Adam,
        ("beta1", "beta2", "epsilon"),
        slots={"moment1": "moment1", "moment2": "moment2"},
    ),
    "adamax": PaddleClass(
        paddle.optimizer.Adamax, ("beta1", "beta2", "epsilon"), slots={"moment": "moment", "inf_norm": "inf_norm"}
    ),
    "rmsprop": PaddleClass(
        paddle.optimizer.RMSProp,
        ("rho", "epsilon", "momentum", "centered"),
        slots={"mean_square": "mean_square", "mean_grad": "mean_grad", "velocity": "momentum"},
    ),
    "ftrl": PaddleOperator(_ftrl, slots=("squared_accum", "linear_accum"), dtypes=("float32",)),
    "lamb": PaddleClass(
        paddle.optimizer.Lamb,
        ("lamb_weight_decay", "beta1", "beta2", "epsilon"),
        slots={"moment1": "moment1", "moment2": "moment2"},
    ),
    "asgd": PaddleClass(
        paddle.optimizer.ASGD,
        ("batch_num", "weight_decay"),
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
