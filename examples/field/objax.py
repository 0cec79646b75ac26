"""Objax: modules on JAX that hold what they optimize; JAX' default configuration has no float64."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from examples.field.helpers import Average, Library, OnePerParameter

jax.sharding.PmapSharding = type("PmapSharding", (), {})  # Objax 1.8 asks for it; JAX 0.10 has none

import objax  # noqa: E402


class Variable:
    """One parameter and its optimizer."""

    def __init__(self, parameter, make):
        self.variable = objax.TrainVar(jnp.array(parameter))
        self.optimizer = make(objax.VarCollection({"w": self.variable}))

    def step(self, grad, learning_rate):
        self.optimizer(learning_rate, [jnp.array(grad)])
        return np.array(self.variable.value)


def sgd(hyper, parameters):
    return OnePerParameter(lambda w: Variable(w, objax.optimizer.SGD), parameters)


def momentum(hyper, parameters):
    def make(variables):
        return objax.optimizer.Momentum(variables, hyper["momentum"], hyper["use_nesterov"])

    return OnePerParameter(lambda w: Variable(w, make), parameters)


def adam(hyper, parameters):
    def make(variables):
        return objax.optimizer.Adam(variables, hyper["beta1"], hyper["beta2"], hyper["epsilon"])

    return OnePerParameter(lambda w: Variable(w, make), parameters)


def lars_momentum(hyper, parameters):
    def make(variables):
        decay, coeff = hyper["lars_weight_decay"], hyper["lars_coeff"]
        return objax.optimizer.LARS(variables, hyper["momentum"], decay, coeff)  # its epsilon as it comes

    return OnePerParameter(lambda w: Variable(w, make), parameters)


def exponential_moving_average(hyper, parameters):
    variables = [objax.TrainVar(jnp.array(parameter)) for parameter in parameters]
    collection = objax.VarCollection({str(i): variable for i, variable in enumerate(variables)})
    average = objax.optimizer.ExponentialMovingAverage(collection, hyper["decay"], debias=True)

    def update(fed):
        for variable, value in zip(variables, fed, strict=True):
            objax.TrainRef(variable).value = jnp.array(value)
        average()

    return Average(update, lambda: [np.array(value) for value in average.refs_and_values()[1]])


class Target(Library):
    distribution = "objax"
    dtypes = ("float32",)
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam, "lars_momentum": lars_momentum}
    wrappers = {"exponential_moving_average": exponential_moving_average}

    def refusal(self, subject, hyper):
        return "the decay is constant" if hyper.get("scheduled") else None
