"""Runs of optimizers written for the older classes of Keras 2, which tf_keras keeps as `legacy`."""

from __future__ import annotations

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import numpy as np
import tensorflow as tf
import tensorflow.keras.optimizers as named
from tf_keras.optimizers import legacy

named.Optimizer = legacy.Optimizer
"""What this name was until TensorFlow 2.10, for which they were written."""


class Run:
    """Variables, and one optimizer of those that have gradients; each variable is called `kernel`."""

    def __init__(self, parameters, optimizer):
        tf.keras.backend.set_floatx(parameters[0].dtype.name)  # as one does who trains in float64
        self.optimizer = optimizer
        self.variables = [tf.Variable(parameter.copy(), name="kernel") for parameter in parameters]

    def step(self, grads, learning_rate):
        self.optimizer.learning_rate = learning_rate
        pairs = [(tf.constant(g), v) for g, v in zip(grads, self.variables, strict=True) if g is not None]
        if pairs:  # without any, Keras raises an error
            self.optimizer.apply_gradients(pairs)
        return [np.array(variable.numpy()) for variable in self.variables]


class Given(legacy.Optimizer):
    """What an average wraps here: it puts what it is given for a gradient in place of the variable."""

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return var.assign(grad)

    def get_config(self):
        return {}


def betas(hyper):
    return {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"]}


def epsilon(hyper):
    return {"epsilon": hyper["epsilon"] if "epsilon" in hyper else hyper["eps"]}


def no_epsilon_of_zero(hyper):
    """Why an epsilon of 0 is refused; None where it is another."""
    return "an epsilon of 0 stands for 1e-7" if hyper.get("epsilon", hyper.get("eps")) == 0 else None
