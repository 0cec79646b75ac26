"""Keras 2, as tf_keras: the optimizers that it has had since 2.11, in TensorFlow's operations."""

from __future__ import annotations

from functools import partial

import numpy as np
import tensorflow as tf
from tf_keras import optimizers

from examples.field.helpers import Gradients, Library


class Run:
    """Variables, and one optimizer of those that have gradients."""

    def __init__(self, parameters, optimizer):
        self.optimizer, self.variables = optimizer, [tf.Variable(parameter.copy()) for parameter in parameters]
        if hasattr(optimizer, "build"):  # the older ones make slots as they need them
            optimizer.build(self.variables)

    def step(self, grads, learning_rate):
        self.optimizer.learning_rate = learning_rate
        pairs = [(tf.constant(g), v) for g, v in zip(grads, self.variables, strict=True) if g is not None]
        if pairs:  # without any, Keras raises an error
            self.optimizer.apply_gradients(pairs)
        return [np.array(variable.numpy()) for variable in self.variables]


def betas(hyper):
    return {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"]}


def epsilon(hyper):
    return {"epsilon": hyper["epsilon"] if "epsilon" in hyper else hyper["eps"]}


# Both generations of Keras 2 name their classes alike: `kinds` is the module of one.
def sgd(kinds, hyper, parameters):
    return Run(parameters, kinds.SGD())


def momentum(kinds, hyper, parameters):
    return Run(parameters, kinds.SGD(momentum=hyper["momentum"], nesterov=hyper["use_nesterov"]))


def adagrad(kinds, hyper, parameters):
    first = {"initial_accumulator_value": hyper["initial_accumulator_value"]}
    return Run(parameters, kinds.Adagrad(**first, **epsilon(hyper)))


def adadelta(kinds, hyper, parameters):
    return Run(parameters, kinds.Adadelta(rho=hyper["rho"], **epsilon(hyper)))


def decayed_adagrad(kinds, hyper, parameters):
    return Run(parameters, kinds.RMSprop(rho=hyper["decay"], **epsilon(hyper)))


def rmsprop(kinds, hyper, parameters):
    numbers = {name: hyper[name] for name in ("rho", "momentum", "centered")}
    return Run(parameters, kinds.RMSprop(**numbers, **epsilon(hyper)))


def adam(kinds, hyper, parameters):
    return Run(parameters, kinds.Adam(**betas(hyper), **epsilon(hyper)))


def torch_adam(kinds, hyper, parameters):
    return Run(parameters, kinds.Adam(**betas(hyper), **epsilon(hyper), amsgrad=hyper["amsgrad"]))


def adamax(kinds, hyper, parameters):
    return Run(parameters, kinds.Adamax(**betas(hyper), **epsilon(hyper)))


def nadam(kinds, hyper, parameters):
    return Run(parameters, kinds.Nadam(**betas(hyper), **epsilon(hyper)))


def ftrl(kinds, hyper, parameters):
    numbers = {"learning_rate_power": hyper["lr_power"], "initial_accumulator_value": 0.0}
    strengths = {"l1_regularization_strength": hyper["l1"], "l2_regularization_strength": hyper["l2"]}
    return Run(parameters, kinds.Ftrl(**numbers, **strengths))


def adamw(hyper, parameters):
    made = optimizers.AdamW(
        **betas(hyper), **epsilon(hyper), weight_decay=hyper["weight_decay"], amsgrad=hyper["amsgrad"]
    )
    return Run(parameters, made)


def lion(hyper, parameters):
    return Run(parameters, optimizers.Lion(**betas(hyper), weight_decay=hyper["weight_decay"]))


def clipped(**limit):
    """The clip that an optimizer does before its step, which is a subtraction of 1 times the gradient here."""

    def transformed(grads):
        made = optimizers.SGD(1.0, **limit)
        return [np.array(grad) for grad in made._clip_gradients([tf.constant(grad) for grad in grads])]

    return Gradients(transformed)


def clip_by_norm(hyper, parameters):
    return clipped(clipnorm=hyper["clip_norm"])


def clip_by_global_norm(hyper, parameters):
    return clipped(global_clipnorm=hyper["clip_norm"])


class Target(Library):
    distribution = "tf-keras"
    rules = {
        "sgd": partial(sgd, optimizers),
        "momentum": partial(momentum, optimizers),
        "adagrad": partial(adagrad, optimizers),
        "adadelta": partial(adadelta, optimizers),
        "decayed_adagrad": partial(decayed_adagrad, optimizers),
        "rmsprop": partial(rmsprop, optimizers),
        "adam": partial(adam, optimizers),
        "papers.adam": partial(adam, optimizers),
        "torch.adam": partial(torch_adam, optimizers),
        "torch.adamw": adamw,
        "adamax": partial(adamax, optimizers),
        "torch.nadam": partial(nadam, optimizers),
        "ftrl": partial(ftrl, optimizers),
        "papers.lion": lion,
    }
    wrappers = {"clip_by_norm": clip_by_norm, "clip_by_global_norm": clip_by_global_norm}
    pinned = {
        "torch.adam": {"weight_decay": 0.0, "maximize": False, "decoupled_weight_decay": False},
        "torch.adamw": {"maximize": False},
        "torch.nadam": {
            "weight_decay": 0.0,
            "momentum_decay": 1.0,
            "decoupled_weight_decay": False,
            "maximize": False,
        },
    }

    def refusal(self, subject, hyper):
        if subject == "papers.lion" and not hyper["beta1"]:
            return "Lion refuses a beta1 of 0"
        return None
