"""TensorFlow Federated: its own optimizers, functions of a state and of all weights, over TensorFlow."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from examples.field.helpers import Library, without_init

# The packages import a runtime of C++, and more, that the optimizers are not part of.
without_init(
    "tensorflow_federated",
    "tensorflow_federated.python",
    "tensorflow_federated.python.common_libs",
    "tensorflow_federated.python.learning",
    "tensorflow_federated.python.learning.optimizers",
)

from tensorflow_federated.python.learning.optimizers import adafactor, adagrad, adam, adamw, rmsprop, yogi  # noqa: E402


class Run:
    """An optimizer of all weights; where its learning rate lies in the state is up to the optimizer."""

    def __init__(self, parameters, optimizer):
        self.optimizer, self.weights = optimizer, [tf.constant(parameter) for parameter in parameters]
        self.state = optimizer.initialize([tf.TensorSpec(w.shape, w.dtype) for w in self.weights])

    def step(self, grads, learning_rate):
        holder = self.state.get("hparams", self.state)
        holder["learning_rate"] = learning_rate
        gradients = [None if grad is None else tf.constant(grad) for grad in grads]
        self.state, self.weights = self.optimizer.next(self.state, self.weights, gradients)
        return [np.array(weight.numpy()) for weight in self.weights]


def betas(hyper):
    return {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"]}


def start_adagrad(hyper, parameters):
    return Run(parameters, adagrad.build_adagrad(0.0, hyper["initial_accumulator_value"], hyper["epsilon"]))


def decayed_adagrad(hyper, parameters):
    return Run(parameters, rmsprop.build_rmsprop(0.0, hyper["decay"], hyper["epsilon"]))


def start_adam(hyper, parameters):
    return Run(parameters, adam.build_adam(0.0, **betas(hyper), epsilon=hyper["epsilon"]))


def start_adamw(hyper, parameters):
    numbers = {"epsilon": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return Run(parameters, adamw.build_adamw(0.0, **betas(hyper), **numbers))


def start_yogi(hyper, parameters):
    return Run(parameters, yogi.build_yogi(0.0, **betas(hyper), epsilon=hyper["epsilon"]))


def start_adafactor(hyper, parameters):
    numbers = {"epsilon_1": hyper["eps1"], "epsilon_2": hyper["eps2"], "clip_threshold": hyper["d"]}
    return Run(parameters, adafactor.build_adafactor(0.0, beta_2_decay=hyper["beta2_decay"], **numbers))


class Target(Library):
    distribution = "tensorflow-federated"
    rules = {
        "adagrad": start_adagrad,
        "decayed_adagrad": decayed_adagrad,
        "adam": start_adam,
        "torch.adamw": start_adamw,
        "papers.yogi": start_yogi,
        "torch.adafactor": start_adafactor,
    }
    pinned = {
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.adafactor": {"weight_decay": 0.0, "maximize": False},
    }

    def unsupported(self, subject, hyper, dtype):
        if subject == "torch.adafactor" and dtype != "float32":
            return "Adafactor's decay is float32, and fails with other weights"
        return super().unsupported(subject, hyper, dtype)
