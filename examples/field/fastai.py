"""fastai: optimizers made of steps that follow each other, over tensors of torch."""

from __future__ import annotations

from fastai import optimizer

from examples.field.helpers import Library, TorchRun


class Run(TorchRun):
    """Keeps hyperparameters outside the parameter groups."""

    def set_learning_rate(self, learning_rate):
        self._optimizer.set_hyper("lr", learning_rate)


def sgd(hyper, parameters):
    return Run(lambda tensors: optimizer.SGD(tensors, lr=1.0), parameters)


def momentum(hyper, parameters):
    return Run(lambda tensors: optimizer.SGD(tensors, lr=1.0, mom=hyper["momentum"]), parameters)


def decayed_adagrad(hyper, parameters):
    numbers = {"sqr_mom": hyper["decay"], "eps": hyper["epsilon"]}
    return Run(lambda tensors: optimizer.RMSProp(tensors, lr=1.0, **numbers), parameters)


def rmsprop(hyper, parameters):
    numbers = {"mom": hyper["momentum"], "sqr_mom": hyper["rho"], "eps": hyper["epsilon"]}
    return Run(lambda tensors: optimizer.RMSProp(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    numbers = {"mom": hyper["beta1"], "sqr_mom": hyper["beta2"], "eps": hyper["epsilon"]}
    return Run(lambda tensors: optimizer.Adam(tensors, lr=1.0, **numbers, wd=0.0), parameters)


def lamb(hyper, parameters):
    numbers = {"mom": hyper["beta1"], "sqr_mom": hyper["beta2"], "eps": hyper["epsilon"]}
    return Run(lambda tensors: optimizer.Lamb(tensors, lr=1.0, **numbers, wd=hyper["lamb_weight_decay"]), parameters)


def lars_momentum(hyper, parameters):
    numbers = {"mom": hyper["momentum"], "trust_coeff": hyper["lars_coeff"], "wd": hyper["lars_weight_decay"]}
    lars = {"clip": False, "decouple_wd": False}  # "LARC if clip=True, LARS if clip=False"
    return Run(lambda tensors: optimizer.Larc(tensors, lr=1.0, **numbers, **lars), parameters)


def qhadam(hyper, parameters):
    numbers = {"mom": hyper["beta1"], "sqr_mom": hyper["beta2"], "eps": hyper["epsilon"]}
    shares = {"nu_1": hyper["nu1"], "nu_2": hyper["nu2"]}
    return Run(lambda tensors: optimizer.QHAdam(tensors, lr=1.0, **numbers, **shares), parameters)


def default_qhadam(hyper, parameters):
    numbers = {"mom": hyper["beta1"], "sqr_mom": hyper["beta2"], "eps": hyper["epsilon"]}
    return Run(lambda tensors: optimizer.QHAdam(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "fastai"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "adam": adam,
        "lamb": lamb,
        "lars_momentum": lars_momentum,
        "papers.qhadam": qhadam,
        "papers.adam": default_qhadam,
    }

    def refusal(self, subject, hyper):
        if hyper.get("use_nesterov"):
            return "SGD has no Nesterov momentum"
        if hyper.get("centered"):
            return "RMSProp is not centered"
        return None
