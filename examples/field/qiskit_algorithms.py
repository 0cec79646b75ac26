"""Qiskit Algorithms: optimizers for the parameters of quantum circuits, in float64."""

from __future__ import annotations

import numpy as np

from examples.field.helpers import Library, OnePerParameter, without_init

# The package imports Qiskit's simulators.
without_init("qiskit_algorithms", "qiskit_algorithms.optimizers")

from qiskit_algorithms.optimizers.adam_amsgrad import ADAM  # noqa: E402
from qiskit_algorithms.optimizers.aqgd import AQGD  # noqa: E402
from qiskit_algorithms.optimizers.gradient_descent import GradientDescent  # noqa: E402
from qiskit_algorithms.optimizers.steppable_optimizer import TellData  # noqa: E402


class Minimization:
    """One parameter, which ADAM minimizes anew in every step, with all gradients and learning rates so far."""

    def __init__(self, parameter, **numbers):
        self.initial, self.numbers = parameter, numbers
        self.grads, self.rates = [], []

    def step(self, grad, learning_rate):
        self.grads.append(grad.ravel())
        self.rates.append(learning_rate)
        optimizer = ADAM(maxiter=len(self.grads), tol=0.0, **self.numbers)
        given = iter(zip(self.grads, self.rates, strict=True))

        def derivative(parameter):
            grad, optimizer._lr = next(given)
            return grad

        result = optimizer.minimize(lambda parameter: 0.0, self.initial.ravel(), derivative)
        return result.x.reshape(grad.shape)


class Descent:
    """One parameter and its gradient descent, which is told each gradient."""

    def __init__(self, parameter):
        self.rate = 1.0
        self.optimizer = GradientDescent(learning_rate=self.rates)
        self.optimizer.start(lambda parameter: 0.0, parameter)

    def rates(self):
        while True:
            yield self.rate

    def step(self, grad, learning_rate):
        self.rate = learning_rate
        self.optimizer.tell(self.optimizer.ask(), TellData(eval_jac=grad))
        return self.optimizer.state.x


class Analytic:
    """One parameter and the update of AQGD, whose loop makes gradients of differences of an objective."""

    def __init__(self, parameter, momentum):
        self.parameter, self.velocity, self.momentum = parameter, np.zeros_like(parameter), momentum
        self.optimizer = AQGD(momentum=momentum)

    def step(self, grad, learning_rate):
        given = (self.parameter, grad, self.velocity, learning_rate, self.momentum)
        self.parameter, self.velocity = self.optimizer._update(*given)
        return self.parameter.copy()


def minimized(parameters, hyper, noise_factor, **numbers):
    numbers |= {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"], "noise_factor": noise_factor}
    return OnePerParameter(lambda parameter: Minimization(parameter, **numbers), parameters)


def sgd(hyper, parameters):
    return OnePerParameter(Descent, parameters)


def momentum(hyper, parameters):
    return OnePerParameter(lambda parameter: Analytic(parameter, hyper["momentum"]), parameters)


def adam(hyper, parameters):
    return minimized(parameters, hyper, hyper["epsilon"])


def torch_adam(hyper, parameters):
    return minimized(parameters, hyper, hyper["eps"], amsgrad=hyper["amsgrad"])


def amsgrad(hyper, parameters):
    return minimized(parameters, hyper, 0.0, amsgrad=True)


class Target(Library):
    distribution = "qiskit-algorithms"
    dtypes = ("float64",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "papers.amsgrad": amsgrad,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.adam": {"weight_decay": 0.0, "decoupled_weight_decay": False, "maximize": False},
    }
