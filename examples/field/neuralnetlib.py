"""neuralnetlib: a library in NumPy; an optimizer is given the weights of one layer after the other."""

from __future__ import annotations

from neuralnetlib import optimizers

from examples.field.helpers import Library


class Run:
    """All parameters, each the weights of a layer, and one optimizer."""

    def __init__(self, parameters, cls, **numbers):
        self.parameters = [parameter.copy() for parameter in parameters]
        self.optimizer = cls(learning_rate=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.learning_rate = learning_rate
        for i, grad in enumerate(grads):
            if grad is not None:
                self.optimizer.update(i, self.parameters[i], grad.copy(), None, None)
        return [parameter.copy() for parameter in self.parameters]


def sgd(hyper, parameters):
    return Run(parameters, optimizers.SGD)


def momentum(hyper, parameters):
    return Run(parameters, optimizers.Momentum, momentum=hyper["momentum"])


def decayed_adagrad(hyper, parameters):
    return Run(parameters, optimizers.RMSprop, rho=hyper["decay"], epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    numbers = {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return Run(parameters, optimizers.Adam, **numbers)


class Target(Library):
    distribution = "neuralnetlib"
    rules = {"sgd": sgd, "momentum": momentum, "decayed_adagrad": decayed_adagrad, "adam": adam}
    pinned = {"momentum": {"use_nesterov": False}}
