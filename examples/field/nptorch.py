"""nptorch: torch's names over NumPy; its optimizers have numbers of their own, and take every gradient."""

from __future__ import annotations

from nptorch import core, optim

from examples.field.helpers import Library, OnePerParameter


class Parameter:
    def __init__(self, parameter):
        self.tensor = core.Tensor(parameter, requires_grad=True)

    def step(self, grad, learning_rate):
        self.optimizer.lr, self.tensor.grad = learning_rate, core.Tensor(grad)
        self.update()
        return self.tensor._data.copy()


class Called(Parameter):
    """Of a class whose `step` takes parameters and a learning rate, and which updates where it is called."""

    def __init__(self, kind, parameter):
        super().__init__(parameter)
        self.optimizer = kind()
        self.optimizer.step([self.tensor], 1.0)

    def update(self):
        self.optimizer()


class Stepped(Parameter):
    def __init__(self, kind, parameter):
        super().__init__(parameter)
        self.optimizer = kind([self.tensor], 1.0)

    def update(self):
        self.optimizer.step()


def sgd(hyper, parameters):
    return OnePerParameter(lambda parameter: Called(optim.SGD, parameter), parameters)


def momentum(hyper, parameters):
    return OnePerParameter(lambda parameter: Called(optim.Momentum, parameter), parameters)


def adam(hyper, parameters):
    return OnePerParameter(lambda parameter: Stepped(optim.Adam, parameter), parameters)


class Target(Library):
    distribution = "nptorch"
    cannot = ("0-d parameters",)
    rules = {"sgd": sgd, "torch.sgd": momentum, "papers.adam": adam}
    pinned = {
        "torch.sgd": {"momentum": 0.9, "dampening": 0.0, "weight_decay": 5e-4, "nesterov": False, "maximize": False},
        "papers.adam": {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
    }
