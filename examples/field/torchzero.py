"""torchzero: optimizers of PyTorch that are chains of modules."""

from __future__ import annotations

import numpy as np
import torch
import torchzero
from torchzero.modules import (
    LR,
    NAG,
    Adagrad,
    Adam,
    Adan,
    ClipNorm,
    ClipValue,
    HeavyBall,
    Lion,
    RMSprop,
    Rprop,
    WeightDecay,
)

from examples.field.helpers import Gradients, Library, OnePerParameter


def fed(tensors, grads):
    for tensor, grad in zip(tensors, grads, strict=True):
        tensor.grad = torch.tensor(grad)


class Parameter:
    """One parameter and its chain, to which the learning rate is passed as a scheduler does it."""

    def __init__(self, parameter, *modules):
        self.weights = torch.nn.Parameter(torch.tensor(parameter))
        self.optimizer = torchzero.Optimizer([self.weights], *modules)

    def step(self, grad, learning_rate):
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        fed([self.weights], [grad])
        self.optimizer.step()
        return self.weights.detach().numpy().copy()


class Resilient:
    """One parameter and its Rprop, whose first step size is the learning rate of the first step."""

    def __init__(self, hyper, parameter):
        self.hyper, self.parameter, self.run = hyper, parameter, None

    def step(self, grad, learning_rate):
        if self.run is None:
            factors = {"nplus": self.hyper["etaplus"], "nminus": self.hyper["etaminus"]}
            limits = {"lb": self.hyper["step_size_min"], "ub": self.hyper["step_size_max"]}
            rprop = Rprop(**factors, **limits, alpha=learning_rate, backtrack=False)
            self.run = Parameter(self.parameter, rprop, LR(1.0))
        return self.run.step(grad, 1.0)


def chain(parameters, *makes):
    """Chain what the functions make, for each parameter anew."""
    return OnePerParameter(lambda parameter: Parameter(parameter, *(make() for make in makes), lr()), parameters)


def lr():
    return LR(1.0)


def decay(hyper):
    return [lambda: WeightDecay(hyper["weight_decay"])] if hyper["weight_decay"] else []


def sgd(hyper, parameters):
    return chain(parameters)


def momentum(hyper, parameters):
    cls = NAG if hyper["use_nesterov"] else HeavyBall
    return chain(parameters, lambda: cls(hyper["momentum"]))


def torch_sgd(hyper, parameters):
    cls = NAG if hyper["nesterov"] else HeavyBall
    buffer = [lambda: cls(hyper["momentum"], dampening=hyper["dampening"])] if hyper["momentum"] else []
    return chain(parameters, *decay(hyper), *buffer)


def adagrad(hyper, parameters):
    numbers = {"eps": hyper["epsilon"], "initial_accumulator_value": hyper["initial_accumulator_value"]}
    return chain(parameters, lambda: Adagrad(**numbers))


def papers_adagrad(hyper, parameters):
    return chain(parameters, lambda: Adagrad(eps=hyper["delta"]))


def torch_adagrad(hyper, parameters):
    numbers = {name: hyper[name] for name in ("lr_decay", "initial_accumulator_value", "eps")}
    return chain(parameters, *decay(hyper), lambda: Adagrad(**numbers))


def decayed_adagrad(hyper, parameters):
    return chain(parameters, lambda: RMSprop(hyper["decay"], eps=hyper["epsilon"]))


def torch_rmsprop(hyper, parameters):
    buffer = [lambda: HeavyBall(hyper["momentum"])] if hyper["momentum"] else []
    scaled = [lambda: RMSprop(hyper["alpha"], eps=hyper["eps"], centered=hyper["centered"])]
    return chain(parameters, *decay(hyper), *scaled, *buffer)


def adam_of(hyper, eps, amsgrad=False):
    return lambda: Adam(hyper["beta1"], hyper["beta2"], eps=eps, amsgrad=amsgrad)


def adam(hyper, parameters):
    return chain(parameters, adam_of(hyper, hyper["epsilon"]))


def torch_adam(hyper, parameters):
    made = adam_of(hyper, hyper["eps"], hyper["amsgrad"])
    apart = hyper["decoupled_weight_decay"]
    return chain(parameters, *([made, *decay(hyper)] if apart else [*decay(hyper), made]))


def torch_adamw(hyper, parameters):
    return chain(parameters, adam_of(hyper, hyper["eps"], hyper["amsgrad"]), *decay(hyper))


def amsgrad(hyper, parameters):
    return chain(parameters, adam_of(hyper, 0.0, amsgrad=True))


def lion(hyper, parameters):
    return chain(parameters, lambda: Lion(hyper["beta1"], hyper["beta2"]), *decay(hyper))


def adan(hyper, parameters):
    betas = [1 - hyper[name] for name in ("beta1", "beta2", "beta3")]
    return chain(parameters, lambda: Adan(*betas, eps=hyper["epsilon"]))


def rprop(hyper, parameters):
    return OnePerParameter(lambda parameter: Resilient(hyper, parameter), parameters)


def transformed(parameters, *modules):
    """Return the updates of a chain, which it takes off parameters that are 0 before a step."""
    weights = [torch.nn.Parameter(torch.zeros(p.shape, dtype=torch.tensor(p).dtype)) for p in parameters]
    optimizer = torchzero.Optimizer(weights, *modules)

    def updates(grads):
        fed(weights, grads)
        with torch.no_grad():
            for parameter in weights:
                parameter.zero_()
        optimizer.step()
        return [-parameter.detach().numpy() for parameter in weights]

    return Gradients(updates)


def clip_by_value(hyper, parameters):
    return transformed(parameters, ClipValue(hyper["max"]))


def clip_by_norm(hyper, parameters):
    return transformed(parameters, ClipNorm(hyper["clip_norm"]))


def clip_by_global_norm(hyper, parameters):
    return transformed(parameters, ClipNorm(hyper["clip_norm"], dim="global"))


def penalty(hyper, parameters, power):
    tensors = [torch.tensor(parameter) for parameter in parameters]

    def decayed(grads):
        weights = [torch.nn.Parameter(tensor.clone()) for tensor in tensors]
        kept = []
        module = WeightDecay(hyper["regularization_coeff"], ord=power)
        optimizer = torchzero.Optimizer(weights, module, Kept(kept))
        fed(weights, grads)
        optimizer.step()
        return kept

    return Gradients(decayed)


class Kept(torchzero.core.TensorTransform):
    """Keeps what it is fed, which a difference of parameters would round."""

    def __init__(self, kept):
        super().__init__()
        self.kept = kept

    @torch.no_grad()
    def multi_tensor_apply(self, tensors, params, grads, loss, states, settings):
        self.kept[:] = [np.array(tensor.numpy()) for tensor in tensors]
        return tensors


def l1_decay(hyper, parameters):
    return penalty(hyper, parameters, 1)


def l2_decay(hyper, parameters):
    return penalty(hyper, parameters, 2)


class Target(Library):
    distribution = "torchzero"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adagrad": adagrad,
        "papers.adagrad": papers_adagrad,
        "torch.adagrad": torch_adagrad,
        "decayed_adagrad": decayed_adagrad,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "torch.adamw": torch_adamw,
        "papers.amsgrad": amsgrad,
        "papers.lion": lion,
        "papers.adan": adan,
        "torch.rprop": rprop,
    }
    wrappers = {
        "clip_by_value": clip_by_value,
        "clip_by_norm": clip_by_norm,
        "clip_by_global_norm": clip_by_global_norm,
        "l1_decay": l1_decay,
        "l2_decay": l2_decay,
    }
    pinned = {
        "torch.sgd": {"maximize": False},
        "torch.adagrad": {"maximize": False},
        "torch.rmsprop": {"maximize": False},
        "torch.adam": {"maximize": False},
        "torch.adamw": {"maximize": False},
        "papers.adan": {"weight_decay": 0.0},
        "torch.rprop": {"maximize": False},
    }

    def refusal(self, subject, hyper):
        if subject == "clip_by_value" and hyper["min"] != -hyper["max"]:
            return "the limits are opposite"
        return None
