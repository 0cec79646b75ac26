"""torch-optimizer: classes with the interface of `torch.optim`."""

from __future__ import annotations

import torch_optimizer

from examples.field.helpers import Library, TorchRun


def sgd(hyper, parameters):
    return TorchRun(lambda tensors: torch_optimizer.SGDW(tensors, lr=1.0), parameters)


def momentum(hyper, parameters):
    return TorchRun(lambda tensors: torch_optimizer.SGDW(tensors, lr=1.0, momentum=hyper["momentum"]), parameters)


def lars_momentum(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "trust_coefficient": hyper["lars_coeff"],
        "weight_decay": hyper["lars_weight_decay"],
    }
    return TorchRun(lambda tensors: torch_optimizer.LARS(tensors, lr=1.0, **numbers), parameters)


def lamb(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "eps": hyper["epsilon"],
        "weight_decay": hyper["lamb_weight_decay"],
    }
    return TorchRun(lambda tensors: torch_optimizer.Lamb(tensors, lr=1.0, **numbers), parameters)


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def adamod(hyper, parameters):
    numbers = {"betas": betas(hyper), "beta3": hyper["beta3"], "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: torch_optimizer.AdaMod(tensors, lr=1.0, **numbers), parameters)


def bounded_adam(hyper, parameters):
    # Its beta3 is 0.999 unless it is given.
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: torch_optimizer.AdaMod(tensors, lr=1.0, **numbers), parameters)


def madgrad(hyper, parameters):
    numbers = {"momentum": 1 - hyper["c"], "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: torch_optimizer.MADGRAD(tensors, lr=1.0, **numbers), parameters)


def qhadam(hyper, parameters):
    numbers = {"betas": betas(hyper), "nus": (hyper["nu1"], hyper["nu2"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: torch_optimizer.QHAdam(tensors, lr=1.0, **numbers), parameters)


def adamw(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    make = torch_optimizer.QHAdam
    return TorchRun(lambda tensors: make(tensors, lr=1.0, decouple_weight_decay=True, **numbers), parameters)


def qhm(hyper, parameters):
    numbers = {"momentum": hyper["beta"], "nu": hyper["nu"]}
    return TorchRun(lambda tensors: torch_optimizer.QHM(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "torch-optimizer"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "lars_momentum": lars_momentum,
        "lamb": lamb,
        "papers.adamod": adamod,
        "papers.adam": bounded_adam,
        "papers.madgrad": madgrad,
        "papers.qhadam": qhadam,
        "torch.adamw": adamw,
        "papers.qhm": qhm,
    }
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov"):
            return "SGDW with nesterov calls Tensor.add as torch no longer takes it"
        return None
