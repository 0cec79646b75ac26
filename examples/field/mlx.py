"""MLX on the CPU; what comes from NumPy is float32."""

from __future__ import annotations

import mlx.core as mx
import mlx.optimizers as optim
import numpy as np

from examples.field.helpers import Gradients, Library, OnePerParameter

mx.set_default_device(mx.cpu)


class Parameter:
    """One parameter and its optimizer."""

    def __init__(self, parameter, optimizer):
        self.parameter, self.optimizer = mx.array(parameter), optimizer

    def step(self, grad, learning_rate):
        self.optimizer.learning_rate = learning_rate
        after = self.optimizer.apply_gradients({"w": mx.array(grad)}, {"w": self.parameter})
        self.parameter = after["w"]
        return np.array(self.parameter)


def each(parameters, cls, **numbers):
    return OnePerParameter(lambda parameter: Parameter(parameter, cls(1.0, **numbers)), parameters)


def sgd(hyper, parameters):
    return each(parameters, optim.SGD)


def momentum(hyper, parameters):
    return each(parameters, optim.SGD, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def adagrad(hyper, parameters):
    return each(parameters, optim.Adagrad, eps=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return each(parameters, optim.RMSprop, alpha=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return each(parameters, optim.RMSprop, alpha=hyper["rho"], eps=hyper["epsilon"])


def adadelta(hyper, parameters):
    return each(parameters, optim.AdaDelta, rho=hyper["rho"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    betas = [hyper["beta1"], hyper["beta2"]]
    return each(parameters, optim.Adam, betas=betas, eps=hyper["epsilon"], bias_correction=True)


def adamax(hyper, parameters):
    return each(parameters, optim.Adamax, betas=[hyper["beta1"], hyper["beta2"]], eps=hyper["epsilon"])


def clip_by_global_norm(hyper, parameters):
    def clipped(grads):
        scaled, _ = optim.clip_grad_norm([mx.array(grad) for grad in grads], hyper["clip_norm"])
        return [np.array(grad) for grad in scaled]

    return Gradients(clipped)


class Target(Library):
    distribution = "mlx"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "adamax": adamax,
    }
    wrappers = {"clip_by_global_norm": clip_by_global_norm}

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov") and not hyper["momentum"]:
            return "SGD refuses nesterov with momentum 0"
        if hyper.get("initial_accumulator_value"):
            return "Adagrad starts at 0"
        if subject in ("adagrad", "decayed_adagrad", "rmsprop") and not hyper["epsilon"]:
            return "epsilon must be above 0"
        if subject == "rmsprop" and (hyper["momentum"] or hyper["centered"]):
            return "RMSprop has no momentum and is not centered"
        return None
