"""TensorFlow Addons: optimizers over the older ones of Keras, with one count of steps for all variables."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import numpy as np
import tensorflow as tf
import tf_keras.src.engine.keras_tensor

from examples.field.helpers import Average, Library, without_init
from examples.field.tf_keras_optimizers import Run, betas

# Addons 0.23 takes the name of a type from Keras 2, which is tf_keras now; the package itself imports layers and more.
sys.modules["keras.src.engine"] = tf_keras.src.engine
without_init("tensorflow_addons")

from tensorflow_addons import optimizers  # noqa: E402


class Given(optimizers.KerasLegacyOptimizer):
    """What an average wraps here: it puts what it is given for a gradient in place of the variable."""

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return var.assign(grad)


def momentum(hyper, parameters):
    return Run(parameters, optimizers.SGDW(0.0, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"]))


def torch_sgd(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nesterov": hyper["nesterov"]}
    return Run(parameters, optimizers.SGDW(hyper["weight_decay"], **numbers))


def adagrad(hyper, parameters):
    # It has no epsilon.
    return Run(parameters, optimizers.ProximalAdagrad(initial_accumulator_value=hyper["initial_accumulator_value"]))


def adam(hyper, parameters):
    return Run(parameters, optimizers.LazyAdam(**betas(hyper), epsilon=hyper["epsilon"]))


def torch_adamw(hyper, parameters):
    numbers = {"epsilon": hyper["eps"], "amsgrad": hyper["amsgrad"]}
    return Run(parameters, optimizers.AdamW(hyper["weight_decay"], **betas(hyper), **numbers))


def adamw(hyper, parameters):
    return Run(parameters, optimizers.AdamW(hyper["weight_decay"], **betas(hyper), epsilon=hyper["epsilon"]))


def lamb(hyper, parameters):
    numbers = {"epsilon": hyper["epsilon"], "weight_decay": hyper["weight_decay"]}
    return Run(parameters, optimizers.LAMB(**betas(hyper), **numbers))


def radam(hyper, parameters):
    return Run(parameters, optimizers.RectifiedAdam(**betas(hyper)))  # with its threshold and its epsilon


def torch_radam(hyper, parameters):
    numbers = {"epsilon": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return Run(parameters, optimizers.RectifiedAdam(**betas(hyper), **numbers))


def yogi(hyper, parameters):
    numbers = {name: hyper[name] for name in ("beta1", "beta2", "epsilon")}
    return Run(parameters, optimizers.Yogi(**numbers))  # with its initial value


def novograd(hyper, parameters):
    numbers = {"epsilon": hyper["epsilon"], "weight_decay": hyper["weight_decay"]}
    return Run(parameters, optimizers.NovoGrad(**betas(hyper), **numbers))


def adabelief(hyper, parameters):
    return Run(parameters, optimizers.AdaBelief(**betas(hyper), epsilon=hyper["epsilon"], rectify=False))


def exponential_moving_average(hyper, parameters):
    variables = [tf.Variable(parameter.copy()) for parameter in parameters]
    numbers = {"average_decay": hyper["decay"], "dynamic_decay": hyper["scheduled"]}
    average = optimizers.MovingAverage(Given("Given"), **numbers)

    def update(fed):
        average.apply_gradients([(tf.constant(value), v) for value, v in zip(fed, variables, strict=True)])

    return Average(update, lambda: [np.array(average.get_slot(v, "average").numpy()) for v in variables])


class Target(Library):
    distribution = "tensorflow-addons"
    rules = {
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adagrad": adagrad,
        "adam": adam,
        "torch.adamw": torch_adamw,
        "papers.adamw": adamw,
        "papers.lamb": lamb,
        "papers.radam": radam,
        "torch.radam": torch_radam,
        "papers.yogi": yogi,
        "papers.novograd": novograd,
        "papers.adabelief": adabelief,
    }
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {
        "torch.sgd": {"dampening": 0.0, "maximize": False},
        "torch.adamw": {"maximize": False},
        "torch.radam": {"decoupled_weight_decay": True, "maximize": False},
    }

    def refusal(self, subject, hyper):
        epsilon = hyper.get("epsilon", hyper.get("eps"))
        if epsilon == 0 and subject not in ("adagrad", "papers.yogi"):
            return "an epsilon of 0 stands for 1e-7"
        return None
