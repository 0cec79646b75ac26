"""labml.ai: papers, explained beside their implementation in PyTorch; among them optimizers."""

from __future__ import annotations

from labml_nn.optimizers import WeightDecay
from labml_nn.optimizers.ada_belief import AdaBelief
from labml_nn.optimizers.adam import Adam
from labml_nn.optimizers.amsgrad import AMSGrad
from labml_nn.optimizers.radam import RAdam

from examples.field.helpers import Library, TorchRun


def run(kind, hyper, parameters, eps, **options):
    betas = hyper["beta1"], hyper["beta2"]
    return TorchRun(lambda tensors: kind(tensors, lr=1.0, betas=betas, eps=eps, **options), parameters)


def adam(hyper, parameters):
    return run(Adam, hyper, parameters, hyper["epsilon"])


def papers_adam(hyper, parameters):
    return run(Adam, hyper, parameters, hyper["epsilon"], optimized_update=False)


def torch_adam(hyper, parameters):
    decay = WeightDecay(hyper["weight_decay"], weight_decouple=hyper["decoupled_weight_decay"])
    options = {"weight_decay": decay, "optimized_update": False, "amsgrad": hyper["amsgrad"]}
    return run(AMSGrad, hyper, parameters, hyper["eps"], **options)


def torch_adamw(hyper, parameters):
    decay = WeightDecay(hyper["weight_decay"])
    options = {"weight_decay": decay, "optimized_update": False, "amsgrad": hyper["amsgrad"]}
    return run(AMSGrad, hyper, parameters, hyper["eps"], **options)


def papers_adamw(hyper, parameters):
    decay = WeightDecay(hyper["weight_decay"], absolute=True)
    return run(Adam, hyper, parameters, hyper["epsilon"], weight_decay=decay, optimized_update=False)


def amsgrad(hyper, parameters):
    return run(AMSGrad, hyper, parameters, 0.0)


def papers_radam(hyper, parameters):
    return run(RAdam, hyper, parameters, 0.0)


def torch_radam(hyper, parameters):
    decay = WeightDecay(hyper["weight_decay"], weight_decouple=hyper["decoupled_weight_decay"])
    return run(RAdam, hyper, parameters, hyper["eps"], weight_decay=decay)


def adabelief(hyper, parameters):
    return run(AdaBelief, hyper, parameters, hyper["epsilon"], rectify=False)


class Target(Library):
    distribution = "labml-nn"
    rules = {
        "adam": adam,
        "papers.adam": papers_adam,
        "torch.adam": torch_adam,
        "torch.adamw": torch_adamw,
        "papers.adamw": papers_adamw,
        "papers.amsgrad": amsgrad,
        "papers.radam": papers_radam,
        "torch.radam": torch_radam,
        "papers.adabelief": adabelief,
    }
    pinned = {
        "torch.adam": {"maximize": False},
        "torch.adamw": {"maximize": False},
        "torch.radam": {"maximize": False},
    }
