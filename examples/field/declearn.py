"""declearn: federated learning; an optimizer is a learning rate and modules that change a vector of gradients."""

from __future__ import annotations

from declearn.model.sklearn import NumpyVector
from declearn.optimizer import Optimizer, modules, regularizers

from examples.field.helpers import Gradients, Library, OnePerParameter


class Parameter:
    """One parameter as a vector, and the modules of its optimizer."""

    def __init__(self, parameter, chosen):
        self.vector, self.modules = NumpyVector({"0": parameter}), chosen

    def step(self, grad, learning_rate):
        optimizer = Optimizer(lrate=learning_rate, modules=self.modules)
        self.vector = self.vector + optimizer.compute_updates_from_gradients(None, NumpyVector({"0": grad}))
        return self.vector.coefs["0"]


def each(parameters, *makers):
    return OnePerParameter(lambda parameter: Parameter(parameter, [make() for make in makers]), parameters)


def sgd(hyper, parameters):
    return each(parameters)


def momentum(hyper, parameters):
    return each(parameters, lambda: modules.MomentumModule(hyper["momentum"], nesterov=hyper["use_nesterov"]))


def adagrad(hyper, parameters):
    return each(parameters, lambda: modules.AdaGradModule(hyper["epsilon"]))


def decayed_adagrad(hyper, parameters):
    return each(parameters, lambda: modules.RMSPropModule(hyper["decay"], hyper["epsilon"]))


def adam(hyper, parameters):
    return each(parameters, lambda: modules.AdamModule(hyper["beta1"], hyper["beta2"], eps=hyper["epsilon"]))


def vector(arrays):
    return NumpyVector({str(i): array for i, array in enumerate(arrays)})


def clipping(cls):
    def start(hyper, parameters):
        return Gradients(lambda grads: list(cls(hyper["clip_norm"]).run(vector(grads)).coefs.values()))

    return start


def decay(cls):
    def start(hyper, parameters):
        term = cls(hyper["regularization_coeff"])
        return Gradients(lambda grads: list(term.run(vector(grads), vector(parameters)).coefs.values()))

    return start


class Target(Library):
    distribution = "declearn"
    rules = {"sgd": sgd, "momentum": momentum, "adagrad": adagrad, "decayed_adagrad": decayed_adagrad, "adam": adam}
    wrappers = {
        "clip_by_norm": clipping(modules.L2Clipping),
        "clip_by_global_norm": clipping(modules.L2GlobalClipping),
        "l1_decay": decay(regularizers.LassoRegularizer),
        "l2_decay": decay(regularizers.RidgeRegularizer),
    }
    pinned = {"adagrad": {"initial_accumulator_value": 0.0}}
