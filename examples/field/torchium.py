"""Torchium: optimizers and losses for PyTorch; judged are those that are not PyTorch's own classes."""

from __future__ import annotations

from torchium.optimizers.adaptive.adagrad_variants import AdaMod
from torchium.optimizers.adaptive.adam_variants import AdaBelief, RAdam
from torchium.optimizers.adaptive.rmsprop_variants import Yogi
from torchium.optimizers.momentum.momentum_methods import NAG, HeavyBall
from torchium.optimizers.momentum.sgd_variants import QHM, SignSGD
from torchium.optimizers.specialized.distributed import LARS
from torchium.optimizers.specialized.general import MADGRAD, SGDW, Lion
from torchium.optimizers.specialized.nlp import LAMB
from torchium.optimizers.specialized.sparse import FTRL

from examples.field.helpers import Library, TorchRun


def run(kind, parameters, **numbers):
    return TorchRun(lambda tensors: kind(tensors, lr=1.0, **numbers), parameters)


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def momentum(hyper, parameters):
    return run(NAG if hyper["use_nesterov"] else HeavyBall, parameters, momentum=hyper["momentum"])


def torch_sgd(hyper, parameters):
    return run(SGDW, parameters, momentum=hyper["momentum"], weight_decay=hyper["weight_decay"])


def signum(hyper, parameters):
    return run(SignSGD, parameters, momentum=hyper["beta"])


def radam(hyper, parameters):
    return run(RAdam, parameters, betas=betas(hyper), eps=0.0)


def adabelief(hyper, parameters):
    return run(AdaBelief, parameters, betas=betas(hyper), eps=hyper["epsilon"])


def yogi(hyper, parameters):
    # It begins with 1e-6 unless it is told what the publication begins with.
    return run(Yogi, parameters, betas=betas(hyper), eps=hyper["epsilon"], initial_accumulator=0.0)


def lion(hyper, parameters):
    return run(Lion, parameters, betas=betas(hyper), weight_decay=hyper["weight_decay"])


def lamb(hyper, parameters):
    return run(LAMB, parameters, betas=betas(hyper), eps=hyper["epsilon"], weight_decay=hyper["weight_decay"])


def lars_momentum(hyper, parameters):
    numbers = {"weight_decay": hyper["lars_weight_decay"], "trust_coefficient": hyper["lars_coeff"]}
    return run(LARS, parameters, momentum=hyper["momentum"], **numbers)


def ftrl(hyper, parameters):
    # It begins with 0.1 unless it is told what the document begins with.
    numbers = {
        "lr_power": hyper["lr_power"],
        "l1_regularization_strength": hyper["l1"],
        "l2_regularization_strength": hyper["l2"],
        "initial_accumulator_value": 0.0,
    }
    return run(FTRL, parameters, **numbers)


def adamod(hyper, parameters):
    # It has no beta3.
    return run(AdaMod, parameters, betas=betas(hyper), eps=hyper["epsilon"])


def madgrad(hyper, parameters):
    return run(MADGRAD, parameters, momentum=1 - hyper["c"], eps=hyper["epsilon"])


def qhm(hyper, parameters):
    return run(QHM, parameters, momentum=hyper["beta"], nu=hyper["nu"])


class Target(Library):
    distribution = "torchium"
    rules = {
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "papers.signum": signum,
        "papers.radam": radam,
        "papers.adabelief": adabelief,
        "papers.yogi": yogi,
        "papers.lion": lion,
        "papers.lamb": lamb,
        "lars_momentum": lars_momentum,
        "ftrl": ftrl,
        "papers.adamod": adamod,
        "papers.madgrad": madgrad,
        "papers.qhm": qhm,
    }
    pinned = {"torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False}}
