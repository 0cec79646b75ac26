"""neuralflow: a library in NumPy whose optimizers go through the layers of a model; the layers here hold one array."""

from __future__ import annotations

from types import SimpleNamespace

from neuralflow import optimizer

from examples.field.helpers import Library


class Layer:
    """A layer with nothing but a weight and its gradient."""

    differentiable, tied = True, False

    def __init__(self, parameter):
        self.parameter = {"weight": parameter.copy()}

    def get_gradient(self):
        return {"dw": self.grad}


class Run:
    """A model of such layers, and one optimizer."""

    def __init__(self, parameters, cls, **numbers):
        network = {f"layer {i}": Layer(x) for i, x in enumerate(parameters)}
        self.model = SimpleNamespace(sequence=list(network), network=network)
        self.optimizer = cls(lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for layer, grad in zip(self.model.network.values(), grads, strict=True):
            layer.grad = grad.copy()
        self.optimizer.update(self.model)
        return [layer.parameter["weight"].copy() for layer in self.model.network.values()]


def sgd(hyper, parameters):
    return Run(parameters, optimizer.SGDOptimizer)


def momentum(hyper, parameters):
    return Run(parameters, optimizer.MomentumOptimizer, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return Run(parameters, optimizer.AdaGrad)


def adam(hyper, parameters):
    return Run(parameters, optimizer.Adam, b1=hyper["beta1"], b2=hyper["beta2"], epsilon=hyper["epsilon"])


class Target(Library):
    distribution = "neuralflow-cpu"
    cannot = ("missing gradients",)
    rules = {"sgd": sgd, "momentum": momentum, "adagrad": adagrad, "adam": adam}
    pinned = {
        "momentum": {"use_nesterov": False},
        "adagrad": {"epsilon": 1e-7, "initial_accumulator_value": 0.0},
    }
