"""pytensor-ml: optimizers that make expressions of PyTensor, which are compiled over the number of dimensions."""

from __future__ import annotations

from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor_ml import optimizers as kinds

from examples.field.helpers import Library, one_each


@cache
def compiled(kind, names, ndim, dtype):
    """Make an optimizer of a parameter whose loss is the sum of the parameter times its gradient."""
    with pytensor.config.change_flags(floatX=dtype):
        weight = pt.tensor("weight", dtype=dtype, shape=(None,) * ndim)
        grad, rate = weight.type("grad"), pt.scalar("rate", dtype=dtype)
        numbers = {name: pt.scalar(name, dtype=dtype) for name in names}

        class Compiled(kind):
            def _initialize_weights(self):
                return []  # each parameter holds its own

            def build_update_fn(self, compile_kwargs):
                own = [weight, *self.optimizer_weights]
                after = self.update_parameters(own, (weight * grad).sum())
                return pytensor.function([grad, rate, *numbers.values(), *own], after)

        return Compiled(SimpleNamespace(weights=[weight]), None, learning_rate=rate, **numbers)


class Parameter:
    """One parameter and its state."""

    def __init__(self, kind, numbers, parameter):
        self.dtype = parameter.dtype
        self.numbers = [np.asarray(number, self.dtype) for number in numbers.values()]
        self.optimizer = compiled(kind, tuple(numbers), parameter.ndim, self.dtype.name)
        counts = [x.name == "t" for x in self.optimizer.optimizer_weights]
        state = [np.zeros((1,) if count else parameter.shape, self.dtype) for count in counts]
        self.values = [parameter, *state]

    def step(self, grad, learning_rate):
        after = self.optimizer.update_fn(grad, np.asarray(learning_rate, self.dtype), *self.numbers, *self.values)
        self.values = [np.array(value) for value in after]
        return self.values[0]


MOMENTS = {"beta1": "beta1", "beta2": "beta2"}


class Target(Library):
    distribution = "pytensor-ml"
    cannot = ("0-d parameters",)
    rules = {
        "sgd": one_each(partial(Parameter, kinds.SGD)),
        "adagrad": one_each(partial(Parameter, kinds.ADAGrad), epsilon="epsilon"),
        "torch.adadelta": one_each(partial(Parameter, kinds.Adadelta), rho="rho", epsilon="eps"),
        "torch.adagrad": one_each(partial(Parameter, kinds.ADAGrad), epsilon="eps"),
        "papers.adam": one_each(partial(Parameter, kinds.Adam), epsilon="epsilon", **MOMENTS),
        "adam": one_each(partial(Parameter, kinds.Adam), epsilon="epsilon", **MOMENTS),
        "torch.adamw": one_each(partial(Parameter, kinds.AdamW), epsilon="eps", weight_decay="weight_decay", **MOMENTS),
    }
    pinned = {
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adagrad": {
            "lr_decay": 0.0,
            "weight_decay": 0.0,
            "initial_accumulator_value": 0.0,
            "maximize": False,
        },
        "torch.adadelta": {"weight_decay": 0.0, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }
