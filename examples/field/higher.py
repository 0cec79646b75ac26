"""higher: optimizers of PyTorch written again so that gradients flow through their steps."""

from __future__ import annotations

import warnings

import higher
import torch

from examples.field.helpers import Library

warnings.filterwarnings("ignore", "Differentiable RMSprop", UserWarning)  # of second gradients, which are not taken


class Run:
    """A differentiable optimizer, made from one of PyTorch; the loss is linear, so its gradient is the one given."""

    def __init__(self, cls, parameters, **numbers):
        self.parameters = [torch.nn.Parameter(torch.tensor(parameter)) for parameter in parameters]
        optimizer = cls(self.parameters, lr=1.0, **numbers)
        self.optimizer = higher.get_diff_optim(optimizer, self.parameters, track_higher_grads=False)

    def step(self, grads, learning_rate):
        pairs = [(p, grad) for p, grad in zip(self.parameters, grads, strict=True) if grad is not None]
        loss = sum(((p * torch.tensor(grad)).sum() for p, grad in pairs), torch.zeros((), requires_grad=True))
        self.parameters = self.optimizer.step(loss, params=self.parameters, override={"lr": [learning_rate]})
        return [parameter.detach().numpy().copy() for parameter in self.parameters]


def sgd(hyper, parameters):
    return Run(torch.optim.SGD, parameters)


def momentum(hyper, parameters):
    return Run(torch.optim.SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def adagrad(hyper, parameters):
    numbers = {"initial_accumulator_value": hyper["initial_accumulator_value"], "eps": hyper["epsilon"]}
    return Run(torch.optim.Adagrad, parameters, **numbers)


def decayed_adagrad(hyper, parameters):
    return Run(torch.optim.RMSprop, parameters, alpha=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    numbers = {"alpha": hyper["rho"], "eps": hyper["epsilon"]}
    return Run(torch.optim.RMSprop, parameters, momentum=hyper["momentum"], centered=hyper["centered"], **numbers)


def adadelta(hyper, parameters):
    return Run(torch.optim.Adadelta, parameters, rho=hyper["rho"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    return Run(torch.optim.Adam, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


def adamax(hyper, parameters):
    return Run(torch.optim.Adamax, parameters, betas=(hyper["beta1"], hyper["beta2"]), eps=hyper["epsilon"])


class Target(Library):
    distribution = "higher"
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

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov") and not hyper["momentum"]:
            return "SGD refuses nesterov with momentum 0"
        return None
