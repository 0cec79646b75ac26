"""Makes targets of optimizers in NumPy, of three common forms: there is no base class.

- made of a list of parameters and hyperparameters, with ``step(grads)``: as in torch;
- made of hyperparameters, with ``step`` or ``update(parameters, grads)`` of two lists;
- the same of one array and its gradient, of which every parameter has an optimizer of its own.

A step changes the arrays in place, or returns new ones. The learning rate is an argument of the step, or an attribute;
the constructor need not take it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from optimetry.conformance.cases.offered import MISSING
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.targets.arguments import RATES
from optimetry.conformance.targets.first_steps import works
from optimetry.conformance.targets.fitting import Fit, parameters_of
from optimetry.conformance.targets.offers import ClassOffer
from optimetry.conformance.targets.own import Maker
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.errors import TargetError

PARAMETERS = ("params", "parameters", "weights", "variables")
"""What the first argument is called where an optimizer is made of its parameters."""

STEPS = ("step", "update")
"""What the method is called that does a step."""


@dataclass(frozen=True, kw_only=True)
class NumpyClass(ClassOffer):
    """A class fitted to a rule."""

    rate: str
    """The argument that is the learning rate, of the class or of its step, or the attribute."""
    apart: bool = False
    """Whether every parameter has an optimizer of its own, which is given arrays."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return what the constructor says where it refuses its arguments, None where it does not."""
        parameters = [[np.ones(1, FORMATS[dtype].dtype)]] if made_of_parameters(self.cls) else []
        return self.refused(*parameters, **self.constructor_arguments(hyper))

    def constructor_arguments(self, hyper: Hyper) -> dict[str, Any]:
        """Return what the constructor is given beside parameters."""
        takes_rate = self.rate in [parameter.name for parameter in parameters_of(self.cls)]
        return ({self.rate: 1.0} if takes_rate else {}) | self.keywords(hyper)

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> NumpyRun:
        """Begin a run."""
        return NumpyRun(self, self.constructor_arguments(hyper), parameters)


class NumpyRun:
    """One optimizer, or one for each parameter."""

    def __init__(self, entry: NumpyClass, arguments: Mapping[str, Any], parameters: Sequence[Array]) -> None:
        self._arrays = [np.array(parameter) for parameter in parameters]
        self._bound, self._apart, self._rate = made_of_parameters(entry.cls), entry.apart, entry.rate
        if self._bound:
            self._optimizers = [entry.cls(self._arrays, **arguments)]
        else:
            self._optimizers = [entry.cls(**arguments) for _ in (self._arrays if entry.apart else [None])]

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Do a step with every optimizer that has a gradient."""
        with np.errstate(all="ignore"):
            if not self._apart:
                optimizer = self._optimizers[0]
                arguments = [list(grads)] if self._bound else [self._arrays, list(grads)]
                after = self._stepped(optimizer, learning_rate, arguments)
                if after is not None:
                    if not isinstance(after, list | tuple):
                        raise TypeError(f"its step gave a {type(after).__name__}, must be a list of arrays, or None")
                    self._arrays[:] = [np.asarray(array) for array in after]
            for i, grad in enumerate(grads if self._apart else []):
                if grad is not None:
                    after = self._stepped(self._optimizers[i], learning_rate, [self._arrays[i], grad])
                    self._arrays[i] = self._arrays[i] if after is None else np.asarray(after)
        return [array.copy() for array in self._arrays]

    def _stepped(self, optimizer: Any, learning_rate: float, arguments: list[Any]) -> Any:
        method = step_of(optimizer)
        names = [name for name in (self._rate, *RATES) if name in inspect.signature(method).parameters]
        if names:
            return method(*arguments, **{names[0]: learning_rate})
        held = [name for name in (self._rate, *RATES) if hasattr(optimizer, name)]
        if not held:
            name = repr(self._rate) if self._rate else f"a learning rate ({', '.join(RATES)})"
            raise TypeError(f"neither its step takes {name} nor is that an attribute, so no step can change it")
        setattr(optimizer, held[0], learning_rate)
        return method(*arguments)


def made_of_parameters(cls: Any) -> bool:
    """Return whether an optimizer is made of its parameters."""
    return next((parameter.name for parameter in parameters_of(cls)), "") in PARAMETERS


def leading(cls: Any) -> int:
    """Return how many arguments are no hyperparameters."""
    return int(made_of_parameters(cls))


def step_of(optimizer: Any) -> Callable[..., Any]:
    """Return the method that does a step."""
    method: Callable[..., Any] = next(filter(callable, (getattr(optimizer, name, None) for name in STEPS)))
    return method


def check(cls: Any, spec: str) -> None:
    """Refuse a class without a step.

    Raises:
        TargetError: the text says so.
    """
    if isinstance(cls, type) and not any(callable(getattr(cls, name, None)) for name in STEPS):
        raise TargetError(f"target {spec}: {cls.__name__} has neither step nor update, must be {KIND}")


def offer(cls: Any, fit: Fit) -> NumpyClass:
    """Return the offer of a class, of lists if it takes them, else of arrays."""
    lists = NumpyClass(cls, fit.arguments, fit.constants, pinned=fit.pinned, rate=fit.rate)
    arrays = replace(lists, apart=True)
    single = not made_of_parameters(cls) and not works(lists, fit.rule) and works(arrays, fit.rule)
    return arrays if single else lists


def cannot(offered: Any, rule: str) -> Sequence[str]:
    """Return what it cannot take: an optimizer of lists may not know None."""
    return () if offered.apart or works(offered, rule, missing=True) else (MISSING,)


KIND = "a class whose step(grads), step(parameters, grads) or update(…) does a step on NumPy arrays"

MAKER = Maker(KIND, f"numpy {np.__version__}", {}, offer, leading, check=check, cannot=cannot, rate_in_step=True)
