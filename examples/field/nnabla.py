"""Neural Network Libraries (nnabla) of Sony: solvers whose loops are compiled C++, in float32."""

from __future__ import annotations

import nnabla
import numpy as np
from nnabla import solvers

from examples.field.helpers import Gradients, Library, OnePerParameter

LARGEST = float(np.finfo(np.float32).max)


class Solved:
    """One parameter and its solver, which would update all it has: one without a gradient has to wait."""

    def __init__(self, parameter, made, weight_decay):
        self.variable = nnabla.Variable.from_numpy_array(parameter)
        self.variable.need_grad = True
        self.solver, self.weight_decay = made, weight_decay
        self.solver.set_parameters({"parameter": self.variable})

    def step(self, grad, learning_rate):
        self.variable.g = grad
        self.solver.set_learning_rate(learning_rate)
        if self.weight_decay:
            self.solver.weight_decay(self.weight_decay)
        self.solver.update()
        return self.variable.d.copy()


def run(kind, parameters, weight_decay=0.0, **numbers):
    """Begin a run of a solver; its first positional argument is the learning rate, whatever it is called."""
    return OnePerParameter(lambda parameter: Solved(parameter, kind(1.0, **numbers), weight_decay), parameters)


def betas(hyper):
    return {"beta1": hyper["beta1"], "beta2": hyper["beta2"]}


def sgd(hyper, parameters):
    return run(solvers.Sgd, parameters)


def momentum(hyper, parameters):
    kind = solvers.Nesterov if hyper["use_nesterov"] else solvers.Momentum
    return run(kind, parameters, momentum=hyper["momentum"])


def adagrad(hyper, parameters):
    return run(solvers.Adagrad, parameters, eps=hyper["epsilon"])


def adadelta(hyper, parameters):
    return run(solvers.Adadelta, parameters, decay=hyper["rho"], eps=hyper["epsilon"])


def decayed_adagrad(hyper, parameters):
    return run(solvers.RMSprop, parameters, decay=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    numbers = {"decay": hyper["rho"], "momentum": hyper["momentum"], "eps": hyper["epsilon"]}
    return run(solvers.RMSpropGraves, parameters, **numbers)


def adam(hyper, parameters):
    return run(solvers.Adam, parameters, **betas(hyper), eps=hyper["epsilon"])


def adamax(hyper, parameters):
    return run(solvers.Adamax, parameters, **betas(hyper), eps=hyper["epsilon"])


def adamw(hyper, parameters):
    """Begin a run of AdamW. Its decay is multiplied by the rate over the first one, which is 1 here."""
    return run(solvers.AdamW, parameters, **betas(hyper), eps=hyper["eps"], wd=hyper["weight_decay"])


def amsgrad(hyper, parameters):
    return run(solvers.AMSGRAD, parameters, **betas(hyper), eps=0.0, bias_correction=False)


def lamb(hyper, parameters, bias_correction=False):
    decay = hyper.get("lamb_weight_decay", hyper.get("weight_decay"))
    numbers = {"eps": hyper["epsilon"], "gamma_l": 0.0, "gamma_u": LARGEST, "bias_correction": bias_correction}
    return run(solvers.Lamb, parameters, decay, **betas(hyper), **numbers)


def papers_lamb(hyper, parameters):
    return lamb(hyper, parameters, bias_correction=True)


def lion(hyper, parameters):
    return run(solvers.Lion, parameters, hyper["weight_decay"], **betas(hyper))


def adabelief(hyper, parameters):
    return run(solvers.AdaBelief, parameters, **betas(hyper), eps=hyper["epsilon"])


def treated(treat):
    """A clip or a regularizer: what a method of a solver leaves of the gradient of each parameter."""

    def gradient_of(grad, parameter):
        solved = Solved(parameter, solvers.Sgd(1.0), 0.0)
        solved.variable.g = grad
        treat(solved.solver)
        return solved.variable.g.copy()

    return gradient_of


def clip_by_norm(hyper, parameters):
    clipped = treated(lambda solver: solver.clip_grad_by_norm(hyper["clip_norm"]))
    return Gradients(lambda grads: [clipped(grad, np.zeros_like(grad)) for grad in grads])


def l2_decay(hyper, parameters):
    decayed = treated(lambda solver: solver.weight_decay(hyper["regularization_coeff"]))
    return Gradients(lambda grads: list(map(decayed, grads, parameters)))


class Target(Library):
    distribution = "nnabla"
    dtypes = ("float32",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "adagrad": adagrad,
        "adadelta": adadelta,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adam": adam,
        "papers.adam": adam,
        "adamax": adamax,
        "torch.adamw": adamw,
        "papers.amsgrad": amsgrad,
        "lamb": lamb,
        "papers.lamb": papers_lamb,
        "papers.lion": lion,
        "papers.adabelief": adabelief,
    }
    wrappers = {"clip_by_norm": clip_by_norm, "l2_decay": l2_decay}
    pinned = {
        "adagrad": {"initial_accumulator_value": 0.0},
        "rmsprop": {"centered": True},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
