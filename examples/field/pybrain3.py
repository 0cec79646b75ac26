"""PyBrain3: neural networks on NumPy, and an ascent of gradients with momentum or resilient steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from examples.field.helpers import Library, OnePerParameter, without_init

# The package imports all of its networks.
without_init("pybrain3", "pybrain3.auxiliary")

from pybrain3.auxiliary.gradientdescent import GradientDescent  # noqa: E402


class Ascent:
    """An ascent, which begins with the first learning rate, of the negated gradient."""

    def __init__(self, parameter: np.ndarray, options: Mapping[str, Any]) -> None:
        self.shape, self.values = parameter.shape, parameter.ravel()
        self.options, self.ascent = options, None

    def step(self, grad: np.ndarray, learning_rate: float) -> np.ndarray:
        """Ascend the negated gradient."""
        if self.ascent is None:
            self.ascent = GradientDescent()
            for name, value in {**self.options, "deltanull": learning_rate}.items():
                setattr(self.ascent, name, value)
            self.ascent.init(self.values)
        self.ascent.alpha = learning_rate
        return np.array(self.ascent(-grad.ravel())).reshape(self.shape)


def ascending(options, parameters):
    return OnePerParameter(lambda parameter: Ascent(parameter, options), parameters)


def sgd(hyper, parameters):
    return ascending({}, parameters)


def momentum(hyper, parameters):
    return ascending({"momentum": hyper["momentum"]}, parameters)


def rprop(hyper, parameters):
    options = {
        "rprop": True,
        "deltamax": hyper["step_size_max"],
        "deltamin": hyper["step_size_min"],
        "etaplus": hyper["etaplus"],
        "etaminus": hyper["etaminus"],
    }
    return ascending(options, parameters)


class Target(Library):
    distribution = "PyBrain3"
    dtypes = ("float64",)
    rules = {"sgd": sgd, "momentum": momentum, "torch.rprop": rprop}
    pinned = {"momentum": {"use_nesterov": False}, "torch.rprop": {"maximize": False}}
