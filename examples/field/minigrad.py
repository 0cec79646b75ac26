"""miniGrad: a library in NumPy with tensors of its own, each of which has a gradient."""

from __future__ import annotations

from minigrad.nn.utils import clip_grad_norm_, clip_grad_value_
from minigrad.optim import SGD, Adam, RMSprop
from minigrad.tensor import Tensor

from examples.field.helpers import Gradients, Library


class Run:
    """Tensors, and one optimizer."""

    def __init__(self, parameters, cls, **numbers):
        self.tensors = [Tensor(x.copy(), requires_grad=True) for x in parameters]
        self.optimizer = cls(self.tensors, lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for tensor, grad in zip(self.tensors, grads, strict=True):
            tensor.grad = grad.copy()
        self.optimizer.step()
        return [tensor.data.copy() for tensor in self.tensors]


def sgd(hyper, parameters):
    return Run(parameters, SGD)


def momentum(hyper, parameters):
    # it refuses Nesterov's without momentum, where both are plain
    nesterov = hyper["use_nesterov"] and hyper["momentum"] > 0
    return Run(parameters, SGD, momentum=hyper["momentum"], nesterov=nesterov)


def decayed_adagrad(hyper, parameters):
    return Run(parameters, RMSprop, alpha=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    numbers = {"alpha": hyper["rho"], "eps": hyper["epsilon"]}
    return Run(parameters, RMSprop, **numbers, momentum=hyper["momentum"], centered=hyper["centered"])


def adam(hyper, parameters):
    return Run(parameters, Adam, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


def clipped(clip, limit):
    def function(grads):
        tensors = [Tensor(grad, requires_grad=True) for grad in grads]
        for tensor, grad in zip(tensors, grads, strict=True):
            tensor.grad = grad.copy()
        clip(tensors, limit)
        return [tensor.grad for tensor in tensors]

    return Gradients(function)


def clip_by_value(hyper, parameters):
    return clipped(clip_grad_value_, hyper["max"])


def clip_by_global_norm(hyper, parameters):
    return clipped(clip_grad_norm_, hyper["clip_norm"])


class Target(Library):
    distribution = "minigrad-framework"
    cannot = ("missing gradients",)
    rules = {"sgd": sgd, "momentum": momentum, "decayed_adagrad": decayed_adagrad, "rmsprop": rmsprop, "adam": adam}
    wrappers = {"clip_by_value": clip_by_value, "clip_by_global_norm": clip_by_global_norm}

    def refusal(self, subject, hyper):
        if subject == "clip_by_value" and hyper["min"] != -hyper["max"]:
            return "clip_grad_value_ has one limit for both signs"
        return None
