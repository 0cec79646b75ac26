"""What the adapters of this folder share: a table from subject to class, and runs of libraries of one kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata
from importlib.util import find_spec, module_from_spec
from typing import Any

import numpy as np


class Library:
    """A target that offers what its tables hold, from the name of a rule or wrapper to a function that begins a run.

    Attributes:
        distribution: what pip calls it.
        rules: the name of a rule -> ``start(hyper, parameters)``.
        wrappers: the name of a wrapper -> ``start(hyper, parameters)``.
        dtypes: what the library computes in.
    """

    distribution: str
    rules: Mapping[str, Callable[..., Any]]
    wrappers: Mapping[str, Callable[..., Any]] = {}
    dtypes: tuple[str, ...] = ("float32", "float64")

    def __init__(self) -> None:
        self.name, self.version = self.distribution, metadata.version(self.distribution)

    def unsupported(self, subject: str, hyper: Mapping[str, Any], dtype: str) -> str | None:
        """Return why the library does not offer this; None where it does."""
        if subject not in self.rules and subject not in self.wrappers:
            return f"{self.name} has no {subject}"
        if dtype not in self.dtypes:
            return f"{self.name} computes in {' and '.join(self.dtypes)} only"
        return self.refusal(subject, hyper)

    def refusal(self, subject: str, hyper: Mapping[str, Any]) -> str | None:
        """Return which values of hyperparameters the library lacks; None where it has these."""
        return None

    def start(self, rule: str, hyper: Mapping[str, Any], parameters: Sequence[np.ndarray]) -> Any:
        """Begin a run of a rule."""
        return self.rules[rule](hyper, parameters)

    def start_wrapper(self, wrapper: str, hyper: Mapping[str, Any], parameters: Sequence[np.ndarray]) -> Any:
        """Begin a run of a clip, a regularizer or an average."""
        return self.wrappers[wrapper](hyper, parameters)


def without_init(*packages: str) -> None:
    """Let the modules of packages be imported without what the packages themselves import, which may be heavy."""
    for package in packages:
        spec = find_spec(package)
        assert spec is not None
        sys.modules[package] = module_from_spec(spec)


class OnePerParameter:
    """Gives each parameter an optimizer of its own, where a library cannot skip one that has no gradient.

    ``make(parameter)`` returns an object with ``step(grad, learning_rate)``, which returns the parameter after it.
    """

    def __init__(self, make: Callable[[np.ndarray], Any], parameters: Sequence[np.ndarray]) -> None:
        self._optimizers = [make(parameter.copy()) for parameter in parameters]
        self._parameters = [parameter.copy() for parameter in parameters]

    def step(self, grads: Sequence[np.ndarray | None], learning_rate: float) -> list[np.ndarray]:
        """Update every parameter that has a gradient."""
        for i, grad in enumerate(grads):
            if grad is not None:
                self._parameters[i] = self._optimizers[i].step(grad.copy(), learning_rate)
        return [parameter.copy() for parameter in self._parameters]


def one_each(make: Callable[[dict[str, Any], np.ndarray], Any], **names: str) -> Callable[..., OnePerParameter]:
    """Begin runs of what ``make(numbers, parameter)`` returns for each parameter.

    Args:
        make: as for `OnePerParameter`, given numbers as well.
        names: for the name of each number in the library, its name in the document.
    """

    def start(hyper: Mapping[str, Any], parameters: Sequence[np.ndarray]) -> OnePerParameter:
        numbers = {own: hyper[name] for own, name in names.items()}
        return OnePerParameter(partial(make, numbers), parameters)

    return start


class Gradients:
    """A clip or a regularizer that is a function of the list of gradients."""

    def __init__(self, function: Callable[[list[np.ndarray]], Sequence[np.ndarray]]) -> None:
        self._function = function

    def transform(self, grads: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return what the rule would be given."""
        return [np.asarray(grad) for grad in self._function([grad.copy() for grad in grads])]


class Average:
    """An average of parameters.

    ``update(parameters)`` feeds it, and ``averages()`` returns what would be put into the parameters.
    """

    def __init__(self, update: Callable[..., Any], averages: Callable[[], Sequence[np.ndarray]]) -> None:
        self._feed, self._averages = update, averages
        self._parameters: list[np.ndarray] = []

    def update(self, parameters: Sequence[np.ndarray]) -> None:
        """Feed the parameters after one more step."""
        self._parameters = [parameter.copy() for parameter in parameters]
        self._feed([parameter.copy() for parameter in parameters])

    def apply(self) -> list[np.ndarray]:
        """Return the averages."""
        return [np.asarray(average) for average in self._averages()]

    def restore(self) -> list[np.ndarray]:
        """Return the parameters again."""
        return [parameter.copy() for parameter in self._parameters]


class TensorRun:
    """An optimizer with ``lr`` of tensors with ``grad`` and ``data``, as small frameworks have them.

    ``gradient(grad)`` makes a tensor's gradient of an array, where it is not the array itself.
    """

    def __init__(
        self, optimizer: Any, tensors: Sequence[Any], gradient: Callable[[np.ndarray], Any] = lambda grad: grad
    ) -> None:
        self._optimizer, self._tensors, self._gradient = optimizer, tensors, gradient

    def step(self, grads: Sequence[np.ndarray | None], learning_rate: float) -> list[np.ndarray]:
        """Set the learning rate and the gradients, and step."""
        self._optimizer.lr = learning_rate
        for tensor, grad in zip(self._tensors, grads, strict=True):
            tensor.grad = None if grad is None else self._gradient(grad)
        self._optimizer.step()
        return [tensor.data.copy() for tensor in self._tensors]


def averages(hyper: Mapping[str, Any]) -> dict[str, Any]:
    """The decays and the epsilon of Adam's averages, as torch's arguments."""
    epsilon = hyper["epsilon"] if "epsilon" in hyper else hyper["eps"]
    return {"betas": (hyper["beta1"], hyper["beta2"]), "eps": epsilon}


def lars_numbers(hyper: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of LARS, of fluid's document or of the publication, as classes for torch name them."""
    coefficient = hyper["lars_coeff"] if "lars_coeff" in hyper else hyper["eta"]
    decay = hyper["lars_weight_decay"] if "lars_weight_decay" in hyper else hyper["weight_decay"]
    return {"momentum": hyper["momentum"], "eta": coefficient, "weight_decay": decay}


def adan_numbers(hyper: Mapping[str, Any]) -> dict[str, Any]:
    """The decays of Adan, which are what its weights leave of 1, and the rest of its numbers, as torch's arguments."""
    decays = tuple(1 - hyper[name] for name in ("beta1", "beta2", "beta3"))
    return {"betas": decays, "eps": hyper["epsilon"], "weight_decay": hyper["weight_decay"]}


class GroupsRun:
    """An optimizer with groups like torch's, of parameters with ``grad`` and ``numpy()``, in a framework like torch.

    ``tensor(grad)`` makes a gradient of an array.
    """

    def __init__(self, optimizer: Any, parameters: Sequence[Any], tensor: Callable[[np.ndarray], Any]) -> None:
        self._optimizer, self._parameters, self._tensor = optimizer, parameters, tensor

    def step(self, grads: Sequence[np.ndarray | None], learning_rate: float) -> list[np.ndarray]:
        """Set the gradients and the learning rate, and step."""
        for parameter, grad in zip(self._parameters, grads, strict=True):
            parameter.grad = None if grad is None else self._tensor(grad)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._optimizer.step()
        return [np.array(parameter.numpy()) for parameter in self._parameters]


def clipped_in_place(
    clip: Callable[[list[Any]], Any], parameter: Callable[[Any], Any], tensor: Callable[[np.ndarray], Any]
) -> Gradients:
    """A clip that changes the gradients of the parameters that it is given, in such a framework."""

    def transformed(grads: Sequence[np.ndarray]) -> list[np.ndarray]:
        parameters = [parameter(tensor(np.zeros_like(grad))) for grad in grads]
        for each, grad in zip(parameters, grads, strict=True):
            each.grad = tensor(grad)
        clip(parameters)
        return [np.array(each.grad.numpy()) for each in parameters]

    return Gradients(transformed)


class TorchRun:
    """An optimizer with the interface of ``torch.optim``; ``make(parameters)`` builds it, with a learning rate of 1."""

    def __init__(self, make: Callable[[list[Any]], Any], parameters: Sequence[np.ndarray]) -> None:
        import torch

        self._tensor = torch.tensor
        self._parameters = [torch.nn.Parameter(torch.tensor(parameter)) for parameter in parameters]
        self._optimizer = make(self._parameters)

    def step(self, grads: Sequence[np.ndarray | None], learning_rate: float) -> list[np.ndarray]:
        """Set the gradients and the learning rate, and step."""
        for parameter, grad in zip(self._parameters, grads, strict=True):
            parameter.grad = None if grad is None else self._tensor(grad)
        self.set_learning_rate(learning_rate)
        self._optimizer.step()
        return [parameter.detach().numpy().copy() for parameter in self._parameters]

    def set_learning_rate(self, learning_rate: float) -> None:
        """Set it in every group, as a scheduler does."""
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
