"""DyNet, as its fork dynet38 distributes it: trainers in C++ over a collection of parameters."""

from __future__ import annotations

import dynet
import numpy as np

from examples.field.helpers import Gradients, Library


class Run:
    """A trainer of DyNet and its collection.

    Parameters are vectors in it, which changes nothing: a trainer works on elements, a clip on all of them together.
    """

    def __init__(self, kind, parameters, clip_threshold=0.0, **numbers):
        self.shapes = [parameter.shape for parameter in parameters]
        self.model = dynet.ParameterCollection()
        self.parameters = [self.model.parameters_from_numpy(parameter.ravel()) for parameter in parameters]
        self.trainer = kind(self.model, **numbers)
        self.trainer.set_clip_threshold(clip_threshold)  # 0, for no clip, in place of 5

    def step(self, grads, learning_rate):
        # Gradients come from a graph alone. That of a sum of products with constants is the constants.
        dynet.renew_cg()
        losses = []
        for parameter, grad in zip(self.parameters, grads, strict=True):
            # Without a gradient it would be updated with zeros.
            parameter.set_updated(grad is not None)
            if grad is not None:
                losses.append(dynet.dot_product(parameter, dynet.inputTensor(grad.ravel())))
        if losses:
            loss = dynet.esum(losses)
            loss.forward()
            loss.backward()
        self.trainer.learning_rate = learning_rate
        self.trainer.update()
        pairs = zip(self.parameters, self.shapes, strict=True)
        return [parameter.as_array().astype(np.float32).reshape(shape) for parameter, shape in pairs]


def betas(hyper):
    return {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"]}


def sgd(hyper, parameters):
    return Run(dynet.SimpleSGDTrainer, parameters)


def momentum(hyper, parameters):
    return Run(dynet.MomentumSGDTrainer, parameters, mom=hyper["momentum"])


def adagrad(hyper, parameters):
    return Run(dynet.AdagradTrainer, parameters, eps=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return Run(dynet.RMSPropTrainer, parameters, rho=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return Run(dynet.RMSPropTrainer, parameters, rho=hyper["rho"], eps=hyper["epsilon"])


def adadelta(hyper, parameters):
    # It does not use its learning rate.
    return Run(dynet.AdadeltaTrainer, parameters, rho=hyper["rho"], eps=hyper["epsilon"])


def adam(hyper, parameters):
    return Run(dynet.AdamTrainer, parameters, **betas(hyper), eps=hyper["epsilon"])


def torch_adam(hyper, parameters):
    kind = dynet.AmsgradTrainer if hyper["amsgrad"] else dynet.AdamTrainer
    return Run(kind, parameters, **betas(hyper), eps=hyper["eps"])


def amsgrad(hyper, parameters):
    return Run(dynet.AmsgradTrainer, parameters, **betas(hyper), eps=0.0)


def clip_by_global_norm(hyper, parameters):
    # Trainers clip within their update. From zeros, SGD goes as far as the clipped gradients are.
    def clipped(grads):
        run = Run(dynet.SimpleSGDTrainer, [np.zeros_like(grad) for grad in grads], clip_threshold=hyper["clip_norm"])
        return [0 - after for after in run.step(grads, 1.0)]

    return Gradients(clipped)


class Target(Library):
    distribution = "dynet38"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "papers.amsgrad": amsgrad,
    }
    wrappers = {"clip_by_global_norm": clip_by_global_norm}
    cannot = ("NaN and infinities",)  # it raises where a gradient's norm is one
    pinned = {
        "momentum": {"use_nesterov": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"momentum": 0.0, "centered": False},
        "torch.adam": {"weight_decay": 0.0, "decoupled_weight_decay": False, "maximize": False},
    }
