"""River: optimizers of online learning, over a dictionary of weights in which a step names those that it updates."""

from __future__ import annotations

import numpy as np
from river import optim

from examples.field.helpers import Library


class Weights:
    """All parameters under one optimizer; a weight is a whole array, as in River's models with latent factors."""

    def __init__(self, optimizer, parameters):
        self.optimizer = optimizer
        self.weights = {i: parameter.copy() for i, parameter in enumerate(parameters)}

    def step(self, grads, learning_rate):
        self.optimizer.lr = optim.schedulers.Constant(learning_rate)
        self.optimizer.step(self.weights, {i: grad.copy() for i, grad in enumerate(grads) if grad is not None})
        return [weight.copy() for weight in self.weights.values()]


class Scalars:
    """The same for what takes numbers alone: each element is a weight."""

    def __init__(self, optimizer, parameters, learning_rate="lr"):
        self.optimizer, self.learning_rate, self.like = optimizer, learning_rate, parameters
        self.weights = {(i, j): x for i, parameter in enumerate(parameters) for j, x in enumerate(parameter.ravel())}

    def step(self, grads, learning_rate):
        held = learning_rate if self.learning_rate == "alpha" else optim.schedulers.Constant(learning_rate)
        setattr(self.optimizer, self.learning_rate, held)
        present = [(i, grad) for i, grad in enumerate(grads) if grad is not None]
        self.optimizer.step(self.weights, {(i, j): x for i, grad in present for j, x in enumerate(grad.ravel())})
        flat = [[self.weights[i, j] for j in range(like.size)] for i, like in enumerate(self.like)]
        return [np.array(x, like.dtype).reshape(like.shape) for x, like in zip(flat, self.like, strict=True)]


def sgd(hyper, parameters):
    return Weights(optim.SGD(), parameters)


def momentum(hyper, parameters):
    return Weights(optim.Momentum(rho=hyper["momentum"]), parameters)


def adagrad(hyper, parameters):
    return Weights(optim.AdaGrad(eps=hyper["epsilon"]), parameters)


def decayed_adagrad(hyper, parameters):
    return Weights(optim.RMSProp(rho=hyper["decay"], eps=hyper["epsilon"]), parameters)


def rmsprop(hyper, parameters):
    return Weights(optim.RMSProp(rho=hyper["rho"], eps=hyper["epsilon"]), parameters)


def adadelta(hyper, parameters):
    return Weights(optim.AdaDelta(rho=hyper["rho"], eps=hyper["epsilon"]), parameters)


def adam(hyper, parameters):
    return Weights(optim.Adam(beta_1=hyper["beta1"], beta_2=hyper["beta2"], eps=hyper["epsilon"]), parameters)


def adamax(hyper, parameters):
    return Scalars(optim.AdaMax(beta_1=hyper["beta1"], beta_2=hyper["beta2"], eps=hyper["epsilon"]), parameters)


def ftrl(hyper, parameters):
    # beta is a part of its learning rate that the documented rule does not have.
    return Scalars(optim.FTRLProximal(beta=0.0, l1=hyper["l1"], l2=hyper["l2"]), parameters, learning_rate="alpha")


class Target(Library):
    distribution = "river"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "adamax": adamax,
        "ftrl": ftrl,
    }
    pinned = {
        "momentum": {"use_nesterov": False},  # NesterovMomentum takes the gradient at another point
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"momentum": 0.0, "centered": False},
        "ftrl": {"lr_power": -0.5},
    }
