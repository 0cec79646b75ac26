"""Jittor: a framework whose kernels are compiled when they are first used, and its optimizers."""

from __future__ import annotations

import os

import numpy as np

# What it would download, and the compiler for a GPU; and one process at a time compiles.
os.environ.setdefault("use_mkl", "0")
os.environ.setdefault("nvcc_path", "")
os.environ.setdefault("use_parallel_op_compiler", "0")
os.environ.setdefault("log_silent", "1")

import jittor

from examples.field.helpers import Gradients, Library, adan_numbers

# With -Ofast, loading a kernel makes the whole process flush subnormals to zero.
jittor.flags.cc_flags = jittor.flags.cc_flags.replace("-Ofast", "-O2")


def variable(array):
    return jittor.array(np.ascontiguousarray(array))


def array(variable):
    # The method of the name numpy copies nothing with NumPy 2; this attribute is a view.
    return np.array(variable.data)


class Run:
    """A model and its optimizer: the loss has the gradients that are given, and what has none is frozen."""

    def __init__(self, kind, parameters, **numbers):
        self.shapes = [parameter.shape for parameter in parameters]
        self.variables = [variable(parameter) for parameter in parameters]
        self.optimizer = kind(self.variables, lr=1.0, **numbers)

    def loss(self, grads):
        """Return the inner product of parameters and gradients."""
        loss = jittor.array(0.0)
        for held, grad in zip(self.variables, grads, strict=True):
            held.requires_grad = grad is not None
            if grad is not None:
                loss = loss + (held * variable(grad)).sum()
        return loss

    def step(self, grads, learning_rate):
        self.optimizer.lr = float(learning_rate)
        self.optimizer.step(self.loss(grads))
        return [array(held).reshape(shape) for held, shape in zip(self.variables, self.shapes, strict=True)]


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def sgd(hyper, parameters):
    return Run(jittor.optim.SGD, parameters)


def momentum(hyper, parameters):
    return Run(jittor.optim.SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "weight_decay", "dampening", "nesterov")}
    return Run(jittor.optim.SGD, parameters, **numbers)


def decayed_adagrad(hyper, parameters):
    return Run(jittor.optim.RMSprop, parameters, alpha=hyper["decay"], eps=hyper["epsilon"])


def torch_rmsprop(hyper, parameters):
    return Run(jittor.optim.RMSprop, parameters, alpha=hyper["alpha"], eps=hyper["eps"])


def adam(hyper, parameters):
    return Run(jittor.optim.Adam, parameters, betas=betas(hyper), eps=hyper["epsilon"])


def torch_adam(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return Run(jittor.optim.Adam, parameters, **numbers)


def torch_adamw(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return Run(jittor.optim.AdamW, parameters, **numbers)


def adan(hyper, parameters):
    return Run(jittor.optim.Adan, parameters, **adan_numbers(hyper))


def clip_by_global_norm(hyper, parameters):
    def clipped(grads):
        if not grads:
            return []
        run = Run(jittor.optim.SGD, [np.zeros_like(grad) for grad in grads])
        run.optimizer.backward(run.loss(grads))
        run.optimizer.clip_grad_norm(hyper["clip_norm"])
        results = run.optimizer.param_groups[0]["grads"]
        return [array(held).reshape(shape) for held, shape in zip(results, run.shapes, strict=True)]

    return Gradients(clipped)


class Target(Library):
    distribution = "jittor"
    dtypes = ("float32",)  # it turns float64 into float32 unless it is told not to, and vectors of one even then
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "decayed_adagrad": decayed_adagrad,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "torch.adam": torch_adam,
        "torch.adamw": torch_adamw,
        "papers.adan": adan,
    }
    wrappers = {"clip_by_global_norm": clip_by_global_norm}
    pinned = {
        "torch.sgd": {"maximize": False},
        "torch.rmsprop": {"weight_decay": 0.0, "momentum": 0.0, "centered": False, "maximize": False},
        "torch.adam": {"amsgrad": False, "decoupled_weight_decay": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
