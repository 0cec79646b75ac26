"""PureML: a framework in NumPy for teaching."""

from __future__ import annotations

from pureml.machinery import Tensor
from pureml.optimizers import SGD, AdaGrad, Adam, RMSProp

from examples.field.helpers import Library, TensorRun


def run(cls, parameters, **numbers):
    tensors = [Tensor(parameter, requires_grad=True, copy=True) for parameter in parameters]
    return TensorRun(cls(tensors, lr=1.0, **numbers), tensors)


def sgd(hyper, parameters):
    return run(SGD, parameters)


def momentum(hyper, parameters):
    return run(SGD, parameters, beta=hyper["momentum"])


def adagrad(hyper, parameters):
    return run(AdaGrad, parameters, delta=hyper["epsilon"])


def papers_adagrad(hyper, parameters):
    return run(AdaGrad, parameters, delta=hyper["delta"])


def torch_adagrad(hyper, parameters):
    numbers = {"delta": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return run(AdaGrad, parameters, decoupled_wd=False, **numbers)


def decayed_adagrad(hyper, parameters):
    return run(RMSProp, parameters, beta=hyper["decay"], delta=hyper["epsilon"])


def torch_rmsprop(hyper, parameters):
    numbers = {"beta": hyper["alpha"], "delta": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return run(RMSProp, parameters, decoupled_wd=False, **numbers)


def adam(hyper, parameters):
    return run(Adam, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], delta=hyper["epsilon"])


def torch_adam(hyper, parameters):
    numbers = {"delta": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    decoupled = hyper["decoupled_weight_decay"]
    return run(Adam, parameters, beta1=hyper["beta1"], beta2=hyper["beta2"], decoupled_wd=decoupled, **numbers)


class Target(Library):
    distribution = "ym-pure-ml"
    cannot = ("0-d parameters",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "papers.adagrad": papers_adagrad,
        "torch.adagrad": torch_adagrad,
        "decayed_adagrad": decayed_adagrad,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adagrad": {"lr_decay": 0.0, "initial_accumulator_value": 0.0, "maximize": False},
        "torch.rmsprop": {"momentum": 0.0, "centered": False, "maximize": False},
        "torch.adam": {"amsgrad": False, "maximize": False},
    }
