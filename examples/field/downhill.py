"""downhill: optimizers over Theano's graphs, in which the loss here is the sum of parameters times their gradients."""

from __future__ import annotations

import os

os.environ["THEANO_FLAGS"] = "linker=py,optimizer=fast_compile"

import numpy as np
import theano
from downhill import adaptive, first_order, util
from theano import tensor

from examples.field.helpers import Library


class Training:
    """The function that updates shared variables; what has no gradient is left out of it, and all have one here."""

    def __init__(self, kind, parameters, constant_rate, numbers):
        theano.config.floatX = str(parameters[0].dtype)
        self.parameters = [theano.shared(parameter.copy(), f"p{i}") for i, parameter in enumerate(parameters)]
        self.kind, self.constant_rate, self.numbers, self.stepped = kind, constant_rate, numbers, None

    def compiled(self, learning_rate):
        grads = [tensor.TensorType(x.dtype, x.broadcastable)() for x in self.parameters]
        rate = tensor.TensorType(theano.config.floatX, ())()
        loss = sum(map(lambda x, grad: tensor.sum(x * grad), self.parameters, grads))
        optimizer = self.kind(loss, params=self.parameters, inputs=grads)
        given = util.as_float(learning_rate) if self.constant_rate else rate
        updates = list(optimizer.get_updates(learning_rate=given, **self.numbers))
        return theano.function([*grads, rate], [], updates=updates, on_unused_input="ignore")

    def step(self, grads, learning_rate):
        self.stepped = self.stepped or self.compiled(learning_rate)
        self.stepped(*grads, np.asarray(learning_rate, grads[0].dtype))
        return [parameter.get_value() for parameter in self.parameters]


def run(kind, parameters, constant_rate=False, **numbers):
    return Training(kind, parameters, constant_rate, numbers)


def with_decays(kind):
    """A class that is given decays in place of their half-lives, which would round them."""

    class Given(kind):
        def _prepare(self, decays, **kwargs):
            super()._prepare(**kwargs)
            vars(self).update({name: util.as_float(decay) for name, decay in decays.items()})

    return Given


def sgd(hyper, parameters):
    return run(first_order.SGD, parameters)


def momentum(hyper, parameters):
    return run(first_order.SGD, parameters, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return run(adaptive.ADAGRAD, parameters, rms_regularizer=hyper["epsilon"])


def adadelta(hyper, parameters):
    decays = {"ewma": hyper["rho"]}
    return run(with_decays(adaptive.ADADELTA), parameters, decays=decays, rms_regularizer=hyper["epsilon"])


def rmsprop(hyper, parameters):
    numbers = {"rms_regularizer": hyper["epsilon"], "momentum": hyper["momentum"]}
    return run(with_decays(adaptive.RMSProp), parameters, decays={"ewma": hyper["rho"]}, **numbers)


def adam(hyper, parameters):
    decays = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "beta1_decay": 1.0}
    return run(with_decays(adaptive.Adam), parameters, decays=decays, rms_regularizer=hyper["epsilon"])


def rprop(hyper, parameters):
    numbers = {
        "rprop_increase": hyper["etaplus"],
        "rprop_decrease": hyper["etaminus"],
        "rprop_min_step": hyper["step_size_min"],
        "rprop_max_step": hyper["step_size_max"],
    }
    return run(adaptive.RProp, parameters, constant_rate=True, **numbers)


class Target(Library):
    distribution = "downhill"
    cannot = ("missing gradients", "0-d parameters")
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "adadelta": adadelta,
        "rmsprop": rmsprop,
        "adam": adam,
        "papers.adadelta": adadelta,
        "papers.adam": adam,
        "torch.rprop": rprop,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"centered": True},
        "torch.rprop": {"maximize": False},
    }
