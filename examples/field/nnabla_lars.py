"""The LARS of Neural Network Libraries, which raises an error where the norm of a gradient is NaN."""

from __future__ import annotations

from nnabla import solvers

from examples.field.helpers import Library
from examples.field.nnabla import run


def lars_momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "coefficient": hyper["lars_coeff"]}
    return run(solvers.Lars, parameters, hyper["lars_weight_decay"], **numbers)


def lars(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "coefficient": hyper["eta"]}
    return run(solvers.Lars, parameters, hyper["weight_decay"], **numbers)


class Target(Library):
    distribution = "nnabla"
    dtypes = ("float32",)
    rules = {"lars_momentum": lars_momentum, "papers.lars": lars}
    cannot = ("NaN and infinities",)
