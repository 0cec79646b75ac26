"""pytorch-lamb: LAMB after a version of the publication that corrects no bias."""

from __future__ import annotations

import warnings

from pytorch_lamb import Lamb

from examples.field.helpers import Library, TorchRun

warnings.filterwarnings("ignore", "This overload of", UserWarning)


def started(hyper, parameters, weight_decay):
    numbers = {"betas": (hyper["beta1"], hyper["beta2"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: Lamb(tensors, lr=1.0, weight_decay=weight_decay, **numbers), parameters)


def lamb(hyper, parameters):
    return started(hyper, parameters, hyper["lamb_weight_decay"])


def published(hyper, parameters):
    return started(hyper, parameters, hyper["weight_decay"])


class Target(Library):
    distribution = "pytorch-lamb"
    rules = {"lamb": lamb, "papers.lamb": published}
