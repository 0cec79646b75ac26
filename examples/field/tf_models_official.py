"""TensorFlow's Model Garden: optimizers over the older ones of Keras, without what they do unless they are told."""

from __future__ import annotations

from examples.field.helpers import Average, lars_numbers, without_init
from examples.field.keras_legacy import EpsilonAboveZero, Given, Run
from examples.field.tf_keras_optimizers import betas, epsilon

# The packages import models.
without_init("official.modeling", "official.modeling.optimization", "official.projects.yolo.optimization")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from official.modeling.optimization.ema_optimizer import ExponentialMovingAverage  # noqa: E402
from official.modeling.optimization.lamb import LAMB  # noqa: E402
from official.modeling.optimization.lars import LARS  # noqa: E402
from official.modeling.optimization.legacy_adamw import AdamWeightDecay  # noqa: E402
from official.projects.yolo.optimization.sgd_torch import SGDTorch  # noqa: E402


def lamb(hyper, parameters):
    decay = hyper["lamb_weight_decay"] if "lamb_weight_decay" in hyper else hyper["weight_decay"]
    return Run(parameters, LAMB(**betas(hyper), **epsilon(hyper), weight_decay_rate=decay))


def lars(hyper, parameters, **kind):
    numbers = lars_numbers(hyper)
    renamed = {"eeta": numbers["eta"], "weight_decay_rate": numbers["weight_decay"]}
    return Run(parameters, LARS(momentum=numbers["momentum"], **renamed, **kind))


def adam(hyper, parameters, gradient_clip_norm=0.0):
    return Run(parameters, AdamWeightDecay(**betas(hyper), **epsilon(hyper), gradient_clip_norm=gradient_clip_norm))


def adamw(hyper, parameters):
    numbers = {"weight_decay_rate": hyper["weight_decay"], "gradient_clip_norm": 0.0}
    return Run(
        parameters,
        AdamWeightDecay(**betas(hyper), **epsilon(hyper), **numbers, amsgrad=hyper.get("amsgrad", False)),
    )


class Rated(Run):
    """An optimizer with two more learning rates, of biases and of all that is no weight."""

    def step(self, grads, learning_rate):
        self.optimizer.set_bias_lr(learning_rate)
        self.optimizer.set_other_lr(learning_rate)
        return super().step(grads, learning_rate)


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "nesterov", "weight_decay")}
    return Rated(parameters, SGDTorch(**numbers, momentum_start=hyper["momentum"]))


def momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "momentum_start": hyper["momentum"]}
    return Rated(parameters, SGDTorch(**numbers, nesterov=hyper["use_nesterov"]))


def exponential_moving_average(hyper, parameters):
    variables = [tf.Variable(parameter.copy()) for parameter in parameters]
    numbers = {"average_decay": hyper["decay"], "dynamic_decay": hyper["scheduled"]}
    average = ExponentialMovingAverage(Given("Given"), **numbers)
    model = tf.Module()
    model.kept = variables
    average.shadow_copy(model)

    def update(fed):
        average.apply_gradients([(tf.constant(value), v) for value, v in zip(fed, variables, strict=True)])

    return Average(update, lambda: [np.array(average.get_slot(v, "average").numpy()) for v in variables])


class Target(EpsilonAboveZero):
    distribution = "tf-models-official"
    rules = {
        "lamb": lamb,
        "papers.lamb": lamb,
        "lars_momentum": lars,
        "papers.lars": lars,
        "adam": adam,
        "torch.adamw": adamw,
        "papers.adamw": adamw,
        "torch.sgd": torch_sgd,
        "momentum": momentum,
    }
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {
        "torch.adamw": {"maximize": False},
        "torch.sgd": {"dampening": 0.0, "maximize": False},
    }

    def unsupported(self, subject, hyper, dtype):
        if subject.endswith("adamw") and dtype == "float64":
            return "a decay is a tensor in float32, which fails beside float64"
        return super().unsupported(subject, hyper, dtype)

    def refusal(self, subject, hyper):
        if subject in ("torch.sgd", "momentum") and hyper["momentum"] == 0:
            return "without momentum SGDTorch raises a KeyError"
        return super().refusal(subject, hyper)
