"""Nadir: optimizers for PyTorch that are made of parts, and set up by a configuration."""

from __future__ import annotations

from nadir.adabelief import Adabelief, AdabeliefConfig
from nadir.adadelta import Adadelta, AdadeltaConfig
from nadir.adagrad import Adagrad, AdagradConfig
from nadir.adam import Adam, AdamConfig
from nadir.adamax import Adamax, AdamaxConfig
from nadir.adamw import AdamW, AdamWConfig
from nadir.amsgrad import AMSGrad, AMSGradConfig
from nadir.lion import Lion, LionConfig
from nadir.radam import Radam, RadamConfig
from nadir.rmsprop import RMSProp, RMSPropConfig
from nadir.sgd import SGD, SGDConfig

from examples.field.helpers import Library, TorchRun


def run(kind, config, parameters, **numbers):
    return TorchRun(lambda tensors: kind(tensors, config(lr=1.0, **numbers)), parameters)


def betas(hyper):
    return {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"]}


def sgd(hyper, parameters):
    return run(SGD, SGDConfig, parameters)


def momentum(hyper, parameters):
    return run(SGD, SGDConfig, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "dampening", "weight_decay", "nesterov")}
    return run(SGD, SGDConfig, parameters, **numbers)


def adagrad(hyper, parameters):
    return run(Adagrad, AdagradConfig, parameters, eps=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return run(RMSProp, RMSPropConfig, parameters, beta_2=hyper["decay"], eps=hyper["epsilon"])


def adadelta(hyper, parameters):
    return run(Adadelta, AdadeltaConfig, parameters, rho=hyper["rho"], eps=hyper["epsilon"])


def torch_adadelta(hyper, parameters):
    numbers = {"rho": hyper["rho"], "eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return run(Adadelta, AdadeltaConfig, parameters, **numbers)


def adam(hyper, parameters):
    return run(Adam, AdamConfig, parameters, **betas(hyper), eps=hyper["epsilon"])


def adamw(hyper, parameters):
    numbers = {"eps": hyper["eps"], "weight_decay": hyper["weight_decay"], "amsgrad": hyper["amsgrad"]}
    return run(AdamW, AdamWConfig, parameters, **betas(hyper), **numbers)


def amsgrad(hyper, parameters):
    return run(AMSGrad, AMSGradConfig, parameters, **betas(hyper), eps=0.0)


def adamax(hyper, parameters):
    return run(Adamax, AdamaxConfig, parameters, **betas(hyper), eps=hyper["epsilon"])


def torch_adamax(hyper, parameters):
    numbers = {"eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return run(Adamax, AdamaxConfig, parameters, **betas(hyper), **numbers)


def radam(hyper, parameters):
    return run(Radam, RadamConfig, parameters, **betas(hyper), eps=0.0)


def lion(hyper, parameters):
    return run(Lion, LionConfig, parameters, **betas(hyper), weight_decay=hyper["weight_decay"])


def adabelief(hyper, parameters):
    return run(Adabelief, AdabeliefConfig, parameters, **betas(hyper), eps=hyper["epsilon"])


class Target(Library):
    distribution = "nadir"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "adadelta": adadelta,
        "torch.adadelta": torch_adadelta,
        "adam": adam,
        "papers.adam": adam,
        "torch.adamw": adamw,
        "papers.amsgrad": amsgrad,
        "adamax": adamax,
        "torch.adamax": torch_adamax,
        "papers.radam": radam,
        "papers.lion": lion,
        "papers.adabelief": adabelief,
    }
    pinned = {
        "torch.sgd": {"maximize": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adadelta": {"maximize": False},
        "torch.adamw": {"maximize": False},
        "torch.adamax": {"maximize": False},
    }

    def refusal(self, subject, hyper):
        decay = hyper.get("weight_decay", 0.0)
        if decay >= 1 or (subject == "torch.adamw" and not decay):
            return "weight_decay must be below 1, and AdamW's above 0"
        averages = ("papers.radam", "papers.lion", "papers.adabelief")
        if subject in averages and not (hyper["beta1"] and hyper["beta2"]):
            return f"{subject} has no average with a beta of 0, and fails"
        return None
