"""MXNet, the last release: optimizers of its Python interface over kernels in C++, and the clips of Gluon."""

from __future__ import annotations

import numpy as np

from examples.field.helpers import Gradients, Library

# MXNet 1.9.1 was written for NumPy before 1.24. What it asks for at import, it never calls here.
OLDER = {"PZERO": 0.0, "NZERO": -0.0, "NINF": -np.inf, "PINF": np.inf, "Inf": np.inf, "NAN": np.nan, "NaN": np.nan}
OTHERS = {"alltrue": np.all, "sometrue": np.any, "product": np.prod, "cumproduct": np.cumprod, "round_": np.round}
REMOVED = ("in1d", "mirr", "msort", "npv", "pmt", "ppmt", "pv", "rate", "row_stack", "trapz")
vars(np).update(OLDER | OTHERS | dict.fromkeys(REMOVED))

from mxnet import nd, optimizer  # noqa: E402
from mxnet.gluon.utils import clip_global_norm as gluon_clip  # noqa: E402


class Run:
    """An optimizer of MXNet and the states of all parameters."""

    def __init__(self, parameters, made):
        self.arrays = [array(parameter) for parameter in parameters]
        self.optimizer = made
        self.states = [made.create_state(i, weight) for i, weight in enumerate(self.arrays)]

    def step(self, grads, learning_rate):
        self.optimizer.set_learning_rate(learning_rate)
        for i, grad in enumerate(grads):
            if grad is not None:
                self.optimizer.update(i, self.arrays[i], array(grad), self.states[i])
        return [weight.asnumpy() for weight in self.arrays]


def array(values):
    return nd.array(values, dtype=values.dtype)


def sgd(hyper, parameters):
    return Run(parameters, optimizer.SGD())


def momentum(hyper, parameters):
    kind = optimizer.NAG if hyper["use_nesterov"] else optimizer.SGD
    return Run(parameters, kind(momentum=hyper["momentum"]))


def adagrad(hyper, parameters):
    return Run(parameters, optimizer.AdaGrad(eps=hyper["epsilon"]))


def decayed_adagrad(hyper, parameters):
    return Run(parameters, optimizer.RMSProp(gamma1=hyper["decay"], epsilon=hyper["epsilon"]))


def rmsprop(hyper, parameters):
    numbers = {"gamma1": hyper["rho"], "gamma2": hyper["momentum"], "epsilon": hyper["epsilon"]}
    return Run(parameters, optimizer.RMSProp(centered=hyper["centered"], **numbers))


def adadelta(hyper, parameters):
    return Run(parameters, optimizer.AdaDelta(rho=hyper["rho"], epsilon=hyper["epsilon"]))


def adam(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return Run(parameters, optimizer.Adam(**numbers))


def adamax(hyper, parameters):
    # It has no epsilon.
    return Run(parameters, optimizer.Adamax(beta1=hyper["beta1"], beta2=hyper["beta2"]))


def ftml(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return Run(parameters, optimizer.FTML(**numbers))


def ftrl(hyper, parameters):
    return Run(parameters, optimizer.Ftrl(lamda1=hyper["l1"], beta=0.0, wd=hyper["l2"]))


def lamb(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return Run(parameters, optimizer.LAMB(**numbers, wd=hyper["lamb_weight_decay"], bias_correction=False))


def published_lamb(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return Run(parameters, optimizer.LAMB(**numbers, wd=hyper["weight_decay"]))


def lars_momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "eta": hyper["lars_coeff"], "wd": hyper["lars_weight_decay"]}
    return Run(parameters, optimizer.LARS(**numbers, momentum_correction=False))


def signum(hyper, parameters):
    return Run(parameters, optimizer.Signum(momentum=hyper["beta"]))


def nadam(hyper, parameters):
    numbers = {"beta1": hyper["beta1"], "beta2": hyper["beta2"], "epsilon": hyper["eps"], "wd": hyper["weight_decay"]}
    return Run(parameters, optimizer.Nadam(**numbers, schedule_decay=hyper["momentum_decay"]))


def clip_by_value(hyper, parameters):
    def clipped(grads):
        return [nd.clip(array(grad), hyper["min"], hyper["max"]).asnumpy() for grad in grads]

    return Gradients(clipped)


def clip_by_global_norm(hyper, parameters):
    def clipped(grads):
        arrays = [array(grad) for grad in grads]
        gluon_clip(arrays, hyper["clip_norm"], check_isfinite=False)
        return [each.asnumpy() for each in arrays]

    return Gradients(clipped)


IN_FLOAT32 = ("adagrad", "decayed_adagrad", "rmsprop", "adadelta", "ftrl", "clip_by_global_norm")
"""What makes arrays of its own in float32, whatever the parameters are, with which others cannot be combined."""


class Target(Library):
    distribution = "mxnet"
    cannot = ("0-d parameters", "empty parameters")  # but with `mxnet.util.set_np_shape`
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adadelta": adadelta,
        "adam": adam,
        "adamax": adamax,
        "ftrl": ftrl,
        "lamb": lamb,
        "papers.lamb": published_lamb,
        "lars_momentum": lars_momentum,
        "papers.signum": signum,
        "papers.ftml": ftml,
        "papers.adam": ftml,
        "torch.nadam": nadam,
    }
    wrappers = {"clip_by_value": clip_by_value, "clip_by_global_norm": clip_by_global_norm}
    pinned = {
        "ftrl": {"lr_power": -0.5},
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.nadam": {"decoupled_weight_decay": False, "maximize": False},
    }

    def unsupported(self, subject, hyper, dtype):
        if subject in IN_FLOAT32 and dtype != "float32":
            return f"{subject} is made for float32"
        return super().unsupported(subject, hyper, dtype)

    def refusal(self, subject, hyper):
        if subject == "rmsprop" and hyper["momentum"] and not hyper["centered"]:
            return "RMSProp has a momentum with centered=True alone"
        return None
