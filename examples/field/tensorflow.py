"""TensorFlow: the optimizers of `tf.compat.v1.train`, the clips and the moving average."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from examples.field.helpers import Average, Gradients, Library

train = tf.compat.v1.train


class Run:
    """Variables, and an optimizer that reads its learning rate from one more."""

    def __init__(self, parameters, cls, *numbers, **keywords):
        self.learning_rate = tf.Variable(1.0)
        self.variables = [tf.Variable(parameter.copy()) for parameter in parameters]
        self.optimizer = cls(self.learning_rate, *numbers, **keywords)

    def step(self, grads, learning_rate):
        self.learning_rate.assign(learning_rate)
        pairs = [(tf.constant(g), v) for g, v in zip(grads, self.variables, strict=True) if g is not None]
        if pairs:
            self.optimizer.apply_gradients(pairs)
        return [np.array(variable.numpy()) for variable in self.variables]


def sgd(hyper, parameters):
    return Run(parameters, train.GradientDescentOptimizer)


def momentum(hyper, parameters):
    return Run(parameters, train.MomentumOptimizer, hyper["momentum"], use_nesterov=hyper["use_nesterov"])


def adagrad(hyper, parameters):
    return Run(parameters, train.AdagradOptimizer, hyper["initial_accumulator_value"])  # it has no epsilon


def adadelta(hyper, parameters):
    return Run(parameters, train.AdadeltaOptimizer, hyper["rho"], hyper["epsilon"])


def adam(hyper, parameters):
    return Run(parameters, train.AdamOptimizer, hyper["beta1"], hyper["beta2"], hyper["epsilon"])


def rmsprop(hyper, parameters):
    numbers = hyper["rho"], hyper["momentum"], hyper["epsilon"]
    return Run(parameters, train.RMSPropOptimizer, *numbers, centered=hyper["centered"])


def ftrl(hyper, parameters):
    keywords = {
        "learning_rate_power": hyper["lr_power"],
        "initial_accumulator_value": 0.0,
        "l1_regularization_strength": hyper["l1"],
        "l2_regularization_strength": hyper["l2"],
    }
    return Run(parameters, train.FtrlOptimizer, **keywords)


def clip_by_value(hyper, parameters):
    return Gradients(lambda grads: [tf.clip_by_value(grad, hyper["min"], hyper["max"]).numpy() for grad in grads])


def clip_by_norm(hyper, parameters):
    return Gradients(lambda grads: [tf.clip_by_norm(grad, hyper["clip_norm"]).numpy() for grad in grads])


def clip_by_global_norm(hyper, parameters):
    return Gradients(lambda grads: [g.numpy() for g in tf.clip_by_global_norm(grads, hyper["clip_norm"])[0]])


def exponential_moving_average(hyper, parameters):
    variables = [tf.Variable(parameter.copy()) for parameter in parameters]
    average = tf.train.ExponentialMovingAverage(hyper["decay"])

    def update(fed):
        for variable, value in zip(variables, fed, strict=True):
            variable.assign(value)
        average.apply(variables)

    return Average(update, lambda: [np.array(average.average(variable).numpy()) for variable in variables])


class Target(Library):
    distribution = "tensorflow-cpu"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "adadelta": adadelta,
        "adam": adam,
        "rmsprop": rmsprop,
        "ftrl": ftrl,
    }
    wrappers = {
        "clip_by_value": clip_by_value,
        "clip_by_norm": clip_by_norm,
        "clip_by_global_norm": clip_by_global_norm,
        "exponential_moving_average": exponential_moving_average,
    }

    def refusal(self, subject, hyper):
        if subject == "adagrad" and not hyper["initial_accumulator_value"]:
            return "AdagradOptimizer needs an initial value above 0"
        if hyper.get("scheduled"):
            return "num_updates stands for another schedule"
        return None
