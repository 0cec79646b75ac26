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


class Target(Library):
    distribution = "torch-optimizer"
    rules = {"sgd": sgd, "momentum": momentum, "lars_momentum": lars_momentum, "lamb": lamb}

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov"):
            return "SGDW with nesterov calls Tensor.add as torch no longer takes it"
        return None
