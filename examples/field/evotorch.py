"""EvoTorch: evolutionary computation on PyTorch, whose optimizers ascend along an estimated gradient."""

from __future__ import annotations

import torch

from examples.field.helpers import Library, OnePerParameter, without_init

# The packages import Ray.
without_init("evotorch", "evotorch.algorithms", "evotorch.algorithms.functional")

from evotorch.algorithms.functional.funcadam import adam as begin_adam  # noqa: E402
from evotorch.algorithms.functional.funcadam import adam_ask, adam_tell  # noqa: E402
from evotorch.algorithms.functional.funcsgd import sgd as begin_sgd  # noqa: E402
from evotorch.algorithms.functional.funcsgd import sgd_ask, sgd_tell  # noqa: E402
from evotorch.optimizers import SGD, Adam  # noqa: E402


class Functional:
    """One parameter in the state of a functional optimizer."""

    def __init__(self, begin, ask, tell, parameter, **numbers):
        center = torch.tensor(parameter).ravel()
        self.state, self.ask, self.tell = begin(center_init=center, center_learning_rate=1.0, **numbers), ask, tell

    def step(self, grad, learning_rate):
        rate = torch.tensor(learning_rate, dtype=self.state.center.dtype)
        state = self.state._replace(center_learning_rate=rate)
        self.state = self.tell(state, follow_grad=torch.tensor(-grad).ravel())
        return self.ask(self.state).numpy().reshape(grad.shape).copy()


class Object:
    """One parameter, and an optimizer that returns what is to be added to it."""

    def __init__(self, cls, parameter, **numbers):
        self.center = torch.tensor(parameter).ravel()
        length, dtype = len(self.center), self.center.dtype
        self.optimizer = cls(solution_length=length, dtype=dtype, stepsize=1.0, **numbers)

    def step(self, grad, learning_rate):
        self.optimizer.contained_optimizer.param_groups[0]["lr"] = learning_rate
        self.center = self.center + self.optimizer.ascent(torch.tensor(-grad).ravel())
        return self.center.numpy().reshape(grad.shape).copy()


def functional(begin, ask, tell, parameters, **numbers):
    return OnePerParameter(lambda parameter: Functional(begin, ask, tell, parameter, **numbers), parameters)


def objects(cls, parameters, **numbers):
    return OnePerParameter(lambda parameter: Object(cls, parameter, **numbers), parameters)


def sgd(hyper, parameters):
    return functional(begin_sgd, sgd_ask, sgd_tell, parameters)


def momentum(hyper, parameters):
    return functional(begin_sgd, sgd_ask, sgd_tell, parameters, momentum=hyper["momentum"])


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "dampening", "nesterov")}
    return objects(SGD, parameters, **numbers)


def adam(hyper, parameters):
    numbers = {name: hyper[name] for name in ("beta1", "beta2", "epsilon")}
    return functional(begin_adam, adam_ask, adam_tell, parameters, **numbers)


def torch_adam(hyper, parameters):
    numbers = {name: hyper[name] for name in ("beta1", "beta2", "amsgrad")}
    return objects(Adam, parameters, epsilon=hyper["eps"], **numbers)


class Target(Library):
    distribution = "evotorch"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"weight_decay": 0.0, "maximize": False},
        "torch.adam": {"weight_decay": 0.0, "decoupled_weight_decay": False, "maximize": False},
    }

    def refusal(self, subject, hyper):
        ahead = subject == "torch.sgd" and hyper["nesterov"]
        refused = ahead and (hyper["dampening"] or not hyper["momentum"])
        return "Nesterov's needs a momentum without dampening" if refused else None
