"""Runs of optimizers written for the older classes of Keras 2, which tf_keras keeps as `legacy`."""

from __future__ import annotations

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import tensorflow as tf
import tensorflow.keras.optimizers as named
from tf_keras.optimizers import legacy

from examples.field import tf_keras_optimizers
from examples.field.helpers import Library

named.Optimizer = legacy.Optimizer
"""What this name was until TensorFlow 2.10, for which they were written."""


class Run(tf_keras_optimizers.Run):
    """Variables, each of which is called `kernel`, and one optimizer of those that have gradients."""

    def __init__(self, parameters, optimizer):
        tf.keras.backend.set_floatx(parameters[0].dtype.name)  # as one does who trains in float64
        self.optimizer = optimizer
        self.variables = [tf.Variable(parameter.copy(), name="kernel") for parameter in parameters]


class Given(legacy.Optimizer):
    """What an average wraps here: it puts what it is given for a gradient in place of the variable."""

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return var.assign(grad)

    def get_config(self):
        return {}


class EpsilonAboveZero(Library):
    """A library that takes no epsilon of 0.

    Attributes:
        for_zero: what it does for one.
    """

    for_zero = "an epsilon of 0 stands for 1e-7"

    def refusal(self, subject, hyper):
        return self.for_zero if 0 in (hyper.get("epsilon"), hyper.get("eps")) else None
