"""adv_optm: optimizers of PyTorch for the training of diffusion models."""

from __future__ import annotations

from adv_optm import AdamW_adv, Adopt_adv, Lion_adv, SignSGD_adv

from examples.field.helpers import Library, TorchRun


def with_epsilon(hyper, parameters, eps, weight_decay=0.0, **options):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": eps, "weight_decay": weight_decay, **options}
    return TorchRun(lambda tensors: AdamW_adv(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["epsilon"])


def torch_adamw(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["eps"], hyper["weight_decay"])


def torch_nadam(hyper, parameters):
    return with_epsilon(hyper, parameters, hyper["eps"], hyper["weight_decay"], nesterov=True)


def lion(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Lion_adv(tensors, lr=1.0, **numbers), parameters)


def signum(hyper, parameters):
    return TorchRun(lambda tensors: SignSGD_adv(tensors, lr=1.0, momentum=hyper["beta"]), parameters)


def adopt(hyper, parameters):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: Adopt_adv(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "adv-optm"
    rules = {
        "adam": adam,
        "papers.adam": adam,
        "torch.adamw": torch_adamw,
        "torch.nadam": torch_nadam,
        "papers.lion": lion,
        "papers.signum": signum,
        "papers.adopt": adopt,
    }
    pinned = {
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.nadam": {"momentum_decay": 0.004, "decoupled_weight_decay": True, "maximize": False},
    }
