"""TorchOpt: optimizers of PyTorch made of functions, each with a class as in `torch.optim`; rates are schedules."""

from __future__ import annotations

import torch
import torchopt
from torchopt.clip import clip_grad_norm

from examples.field.helpers import Gradients, Library, TorchRun


class Run(TorchRun):
    """The learning rate is a schedule, which is asked in each step."""

    def __init__(self, cls, parameters, **numbers):
        super().__init__(lambda tensors: cls(tensors, lr=lambda count: self.learning_rate, **numbers), parameters)

    def set_learning_rate(self, learning_rate):
        self.learning_rate = learning_rate


def sgd(hyper, parameters):
    return Run(torchopt.SGD, parameters)


def momentum(hyper, parameters):
    return Run(torchopt.SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def adagrad(hyper, parameters):
    numbers = {"initial_accumulator_value": hyper["initial_accumulator_value"], "eps": hyper["epsilon"]}
    return Run(torchopt.AdaGrad, parameters, **numbers)


def decayed_adagrad(hyper, parameters):
    return Run(torchopt.RMSProp, parameters, alpha=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    numbers = {"alpha": hyper["rho"], "eps": hyper["epsilon"]}
    return Run(torchopt.RMSProp, parameters, momentum=hyper["momentum"], centered=hyper["centered"], **numbers)


def adadelta(hyper, parameters):
    return Run(torchopt.AdaDelta, parameters, rho=hyper["rho"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    return Run(torchopt.Adam, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


def adamax(hyper, parameters):
    return Run(torchopt.AdaMax, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


def clip_by_global_norm(hyper, parameters):
    clip = clip_grad_norm(hyper["clip_norm"])

    def clipped(grads):
        tensors = [torch.tensor(grad) for grad in grads]
        scaled, _ = clip.update(tensors, clip.init(tensors))
        return [tensor.numpy() for tensor in scaled]

    return Gradients(clipped)


class Target(Library):
    distribution = "torchopt"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "adamax": adamax,
    }
    wrappers = {"clip_by_global_norm": clip_by_global_norm}

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov") and not hyper["momentum"]:
            return "SGD refuses nesterov with momentum 0"
        return None
