"""Chainer, the last release: optimizers with update rules in NumPy, and hooks that clip, decay or scale before them."""

from __future__ import annotations

import numpy as np

from examples.field.helpers import Gradients, Library

# Chainer 7.8.1 was written for NumPy before 2. What it asks for at import, it never calls here.
vars(np)["sctypes"] = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "float": [np.float16, np.float32, np.float64],
}

from chainer import Link, Parameter, optimizers  # noqa: E402
from chainer.optimizer_hooks import (  # noqa: E402
    GradientClipping,
    GradientHardClipping,
    GradientLARS,
    Lasso,
    WeightDecay,
)


class Run:
    """An optimizer of Chainer, set up with a link that has all parameters, and its hooks in their order."""

    def __init__(self, optimizer, parameters, *hooks, learning_rate="lr"):
        link = Link()
        with link.init_scope():
            for i, parameter in enumerate(parameters):
                setattr(link, f"parameter{i}", Parameter(parameter.copy()))
        self.parameters = [getattr(link, f"parameter{i}") for i in range(len(parameters))]
        self.optimizer = optimizer.setup(link)
        self.learning_rate = learning_rate
        for hook in hooks:
            self.optimizer.add_hook(hook)

    def step(self, grads, learning_rate):
        for parameter, grad in zip(self.parameters, grads, strict=True):
            parameter.grad = None if grad is None else grad.copy()
            # Without a gradient it would be updated with zeros.
            parameter.update_rule.enabled = grad is not None
        if self.learning_rate:
            setattr(self.optimizer, self.learning_rate, learning_rate)
        self.optimizer.update()
        return [parameter.array.copy() for parameter in self.parameters]

    def hooked(self, grads):
        """Return what hooks make of the gradients."""
        for parameter, grad in zip(self.parameters, grads, strict=True):
            parameter.grad = grad.copy()
        self.optimizer.call_hooks("pre")
        return [parameter.grad.copy() for parameter in self.parameters]


class ScaledRun(Run):
    """A run whose learning rate contains a coefficient, as GradientLARS asks for."""

    def __init__(self, coefficient, *arguments):
        super().__init__(*arguments)
        self.coefficient = coefficient

    def step(self, grads, learning_rate):
        return super().step(grads, learning_rate * self.coefficient)


def betas(hyper):
    return {"beta1": hyper["beta1"], "beta2": hyper["beta2"]}


def sgd(hyper, parameters):
    return Run(optimizers.SGD(), parameters)


def momentum(hyper, parameters):
    kind = optimizers.NesterovAG if hyper["use_nesterov"] else optimizers.MomentumSGD
    return Run(kind(momentum=hyper["momentum"]), parameters)


def torch_sgd(hyper, parameters):
    optimizer = optimizers.CorrectedMomentumSGD(momentum=hyper["momentum"])
    return Run(optimizer, parameters, WeightDecay(hyper["weight_decay"]))


def adagrad(hyper, parameters):
    return Run(optimizers.AdaGrad(eps=hyper["epsilon"]), parameters)


def decayed_adagrad(hyper, parameters):
    return Run(optimizers.RMSprop(alpha=hyper["decay"], eps=hyper["epsilon"]), parameters)


def rmsprop(hyper, parameters):
    if hyper["centered"]:
        numbers = {"alpha": hyper["rho"], "momentum": hyper["momentum"], "eps": hyper["epsilon"]}
        return Run(optimizers.RMSpropGraves(**numbers), parameters)
    return Run(optimizers.RMSprop(alpha=hyper["rho"], eps=hyper["epsilon"], eps_inside_sqrt=True), parameters)


def adadelta(hyper, parameters):
    # It has no learning rate.
    return Run(optimizers.AdaDelta(rho=hyper["rho"], eps=hyper["epsilon"]), parameters, learning_rate=None)


def adam(hyper, parameters):
    return Run(optimizers.Adam(**betas(hyper), eps=hyper["epsilon"]), parameters, learning_rate="alpha")


def torch_adam(hyper, parameters):
    optimizer = optimizers.Adam(**betas(hyper), eps=hyper["eps"], amsgrad=hyper["amsgrad"])
    return Run(optimizer, parameters, WeightDecay(hyper["weight_decay"]), learning_rate="alpha")


def adamw(hyper, parameters):
    numbers = {"eps": hyper["epsilon"], "weight_decay_rate": hyper["weight_decay"]}
    return Run(optimizers.AdamW(**betas(hyper), **numbers), parameters, learning_rate="alpha")


def torch_adamw(hyper, parameters):
    numbers = {"eps": hyper["eps"], "weight_decay_rate": hyper["weight_decay"], "amsgrad": hyper["amsgrad"]}
    return Run(optimizers.Adam(**betas(hyper), **numbers), parameters, learning_rate="alpha")


def amsgrad(hyper, parameters):
    return Run(optimizers.AMSGrad(**betas(hyper), eps=0.0), parameters, learning_rate="alpha")


def lars_momentum(hyper, parameters):
    # Its threshold and its epsilon keep their defaults.
    hook = GradientLARS(weight_decay=hyper["lars_weight_decay"])
    return ScaledRun(hyper["lars_coeff"], optimizers.MomentumSGD(momentum=hyper["momentum"]), parameters, hook)


def lars(hyper, parameters):
    # A threshold and an epsilon are of another publication.
    hook = GradientLARS(threshold=0.0, weight_decay=hyper["weight_decay"], eps=0.0)
    return ScaledRun(hyper["eta"], optimizers.MomentumSGD(momentum=hyper["momentum"]), parameters, hook)


def hooked(parameters, *hooks):
    return Gradients(Run(optimizers.SGD(), parameters, *hooks).hooked)


def clip_by_value(hyper, parameters):
    return hooked(parameters, GradientHardClipping(hyper["min"], hyper["max"]))


def clip_by_global_norm(hyper, parameters):
    return hooked(parameters, GradientClipping(hyper["clip_norm"]))


def l1_decay(hyper, parameters):
    return hooked(parameters, Lasso(hyper["regularization_coeff"]))


def l2_decay(hyper, parameters):
    return hooked(parameters, WeightDecay(hyper["regularization_coeff"]))


CHECKED = ("decayed_adagrad", "rmsprop", "adam", "papers.adam", "torch.adam", "papers.adamw", "torch.adamw")
"""Whose optimizer looks whether its epsilon is 0 after rounding."""


class Target(Library):
    distribution = "chainer"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "papers.adamw": adamw,
        "torch.adamw": torch_adamw,
        "papers.amsgrad": amsgrad,
        "lars_momentum": lars_momentum,
        "papers.lars": lars,
    }
    wrappers = {
        "clip_by_value": clip_by_value,
        "clip_by_global_norm": clip_by_global_norm,
        "l1_decay": l1_decay,
        "l2_decay": l2_decay,
    }
    pinned = {
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adam": {"decoupled_weight_decay": False, "maximize": False},
        "torch.adamw": {"maximize": False},
    }

    def unsupported(self, subject, hyper, dtype):
        missing = super().unsupported(subject, hyper, dtype)
        if missing is None and subject in CHECKED:
            epsilon = hyper.get("epsilon", hyper.get("eps"))
            if epsilon and not np.dtype(dtype).type(epsilon):
                return f"{subject} takes no epsilon that is 0 in {dtype}"
        return missing

    def refusal(self, subject, hyper):
        if subject == "rmsprop" and hyper["momentum"] and not hyper["centered"]:
            return "RMSpropGraves, which has a momentum, is centered"
        return None
