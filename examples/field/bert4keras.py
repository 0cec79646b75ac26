"""bert4keras: its own Adam, Adafactor and Lion over the older optimizers of Keras, and what it extends them with."""

from __future__ import annotations

import os

os.environ["TF_KERAS"] = "1"

import numpy as np

from examples.field.helpers import Average
from examples.field.keras_legacy import EpsilonAboveZero, Given, Run
from examples.field.tf_keras_optimizers import betas, epsilon

# isort: split
from bert4keras.optimizers import (
    AdaFactor,
    Adam,
    Lion,
    extend_with_exponential_moving_average,
    extend_with_layer_adaptation,
    extend_with_weight_decay,
)

Decayed = extend_with_weight_decay(Adam)
Adapted = extend_with_layer_adaptation(Decayed)
Averaged = extend_with_exponential_moving_average(Given)


class OfBert4keras(EpsilonAboveZero):
    """What each of its adapters is."""

    for_zero = "for an epsilon of 0 a function is called that is not there"


def adam(hyper, parameters):
    return Run(parameters, Adam(**betas(hyper), **epsilon(hyper)))


def adamw(hyper, parameters):
    return Run(parameters, Decayed(**betas(hyper), **epsilon(hyper), weight_decay_rate=hyper["weight_decay"]))


def lamb(hyper, parameters):
    return Run(parameters, Adapted(**betas(hyper), **epsilon(hyper), weight_decay_rate=hyper["weight_decay"]))


def lion(hyper, parameters):
    return Run(parameters, Lion(**betas(hyper)))


def adafactor(hyper, parameters):
    numbers = {"epsilon1": hyper["eps1"], "epsilon2": hyper["eps2"], "clipping_threshold": hyper["d"]}
    return Run(parameters, Factored(**numbers, min_dim_size_to_factor=0))


class Factored(AdaFactor):
    """Whose learning rate can be set."""

    learning_rate = 1.0


def exponential_moving_average(hyper, parameters):
    average = Averaged(name="Averaged", ema_momentum=hyper["decay"])
    run = Run(parameters, average)

    def update(fed):
        run.step(fed, 1.0)
        average.old_weights = []

    def averages():
        average.apply_ema_weights()
        kept = [np.array(variable.numpy()) for variable in run.variables]
        average.reset_old_weights()
        return kept

    return Average(update, averages)


class Target(OfBert4keras):
    distribution = "bert4keras"
    rules = {
        "adam": adam,
        "papers.adam": adam,
        "papers.adamw": adamw,
        "torch.adamw": adamw,
        "papers.lamb": lamb,
        "papers.lion": lion,
        "papers.adafactor": adafactor,
    }
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "papers.lion": {"weight_decay": 0.0},
        "papers.adafactor": {"c": 0.8},
        "exponential_moving_average": {"scheduled": False},
    }
