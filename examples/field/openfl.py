"""OpenFL: optimizers in NumPy with which a server of federated learning takes in the changes of its clients."""

from __future__ import annotations

from openfl.utilities.optimizers.numpy import NumPyAdagrad, NumPyAdam

from examples.field.helpers import Library


class Run:
    """One optimizer of a table of parameters."""

    def __init__(self, cls, parameters, **numbers):
        params = {str(i): parameter.copy() for i, parameter in enumerate(parameters)}
        self.optimizer = cls(params=params, learning_rate=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.learning_rate = learning_rate
        self.optimizer.step({str(i): grad.copy() for i, grad in enumerate(grads) if grad is not None})
        return [parameter.copy() for parameter in self.optimizer.params.values()]


def adagrad(hyper, parameters):
    start = hyper["initial_accumulator_value"]
    return Run(NumPyAdagrad, parameters, initial_accumulator_value=start, epsilon=hyper["epsilon"])


def adam(hyper, parameters):
    return Run(NumPyAdam, parameters, betas=(hyper["beta1"], hyper["beta2"]), epsilon=hyper["epsilon"])


class Target(Library):
    distribution = "openfl"
    rules = {"adagrad": adagrad, "adam": adam}

    def refusal(self, subject, hyper):
        return None if hyper["epsilon"] > 0 else "epsilon must be greater than 0"
