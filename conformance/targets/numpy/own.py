"""Makes targets of optimizers in NumPy, of the common forms: there is no base class.

- made of a list of parameters and hyperparameters, with ``step(grads)``: as in torch;
- made of hyperparameters, with ``step`` or ``update(parameters, grads)`` of two lists, or ``(grads, parameters)``;
- the same of one array and its gradient, of which every parameter has an optimizer of its own;
- either of the first two with dictionaries of arrays in place of lists, as textbooks have them.

A step changes the arrays in place, puts others in their places, or returns new ones. The learning rate is an argument
of the step, or an attribute, which the constructor need not take; or the constructor alone takes it, for all steps; or
there is none, and it is pinned.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.offered import MISSING, RATES_THAT_CHANGE
from optimetry.conformance.harness.python_harness import STRIDED
from optimetry.conformance.numerics.arrays import Array, alike
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.subject import LEARNING_RATE
from optimetry.conformance.targets.arguments import RATES
from optimetry.conformance.targets.first_steps import works
from optimetry.conformance.targets.fitting import Fit, parameters_of
from optimetry.conformance.targets.offers import MADE_AT, ClassOffer
from optimetry.conformance.targets.own import Maker
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.errors import TargetError

PARAMETERS = ("params", "parameters", "weights", "variables")
"""What the first argument is called where an optimizer is made of its parameters."""

GRADIENTS = ("grads", "grad", "gradients", "gradient", "g")
"""What the first argument of a step is called where gradients come before parameters."""

STEPS = ("step", "update")
"""What the method is called that does a step."""


@dataclass(frozen=True, kw_only=True)
class NumpyClass(ClassOffer):
    """A class fitted to a rule."""

    rate: str
    """The argument that is the learning rate, of the class or of its step, or the attribute."""
    apart: bool = False
    """Whether every parameter has an optimizer of its own, which is given arrays."""
    named: bool = False
    """Whether it is given dictionaries of arrays by name, not lists; gradients that are missing are left out."""
    at_first: bool = False
    """Whether no step can change the learning rate, so that an optimizer is made at its first step, with that rate."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return what the constructor says where it refuses its arguments, None where it does not."""
        parameters = [self.given([np.ones(1, FORMATS[dtype].dtype)])] if made_of_parameters(self.cls) else []
        return self.refused(*parameters, **self.constructor_arguments(hyper))

    def given(self, arrays: list[Any]) -> Any:
        """Return the arrays as the class is given them."""
        return {f"W{i}": array for i, array in enumerate(arrays, 1) if array is not None} if self.named else arrays

    @property
    def takes_rate(self) -> bool:
        """Whether the constructor takes the learning rate."""
        return self.rate in [parameter.name for parameter in parameters_of(self.cls)]

    def constructor_arguments(self, hyper: Hyper, learning_rate: float = MADE_AT) -> dict[str, Any]:
        """Return what the constructor is given beside parameters."""
        return ({self.rate: learning_rate} if self.takes_rate else {}) | self.keywords(hyper)

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> NumpyRun:
        """Begin a run."""
        return NumpyRun(self, hyper, parameters)


NOT_YET = np.zeros(0)
"""What stands for a gradient before the first."""


class NumpyRun:
    """One optimizer, or one for each parameter."""

    def __init__(self, entry: NumpyClass, hyper: Hyper, parameters: Sequence[Array]) -> None:
        self._entry, self._bound = entry, made_of_parameters(entry.cls)
        self._made = partial(entry.constructor_arguments, hyper)
        self._arrays = entry.given([alike(parameter) for parameter in parameters])
        self._copies = [(NOT_YET, NOT_YET) for _ in parameters]
        self._optimizers = [] if entry.at_first else self._optimizers_of(self._made())

    def _optimizers_of(self, arguments: Mapping[str, Any]) -> list[Any]:
        make = self._entry.cls
        if self._bound:
            return [make(self._arrays, **arguments)]
        return [make(**arguments) for _ in (self._arrays if self._entry.apart else [None])]

    def _copied(self, grads: Sequence[Array | None]) -> list[Array | None]:
        """Copy gradients, which a step may change, into one array for each of those that optimetry writes over."""
        for i, grad in enumerate(grads):
            if grad is not None:
                before, own = self._copies[i]
                self._copies[i] = grad, (own if grad is before else alike(grad))
                self._copies[i][1][...] = grad
        return [None if grad is None else own for grad, (_, own) in zip(grads, self._copies, strict=True)]

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Do a step with every optimizer that has a gradient."""
        grads = self._copied(grads)
        with np.errstate(all="ignore"):
            self._optimizers = self._optimizers or self._optimizers_of(self._made(learning_rate))
            if not self._entry.apart:
                given = self._entry.given(grads)
                arguments = [given] if self._bound else [self._arrays, given]
                self._keep(self._stepped(self._optimizers[0], learning_rate, arguments))
            for i, grad in enumerate(grads if self._entry.apart else []):
                if grad is not None:
                    after = self._stepped(self._optimizers[i], learning_rate, [self._arrays[i], grad])
                    self._arrays[i] = self._arrays[i] if after is None else np.asarray(after)
        return [array.copy() for array in (self._arrays.values() if self._entry.named else self._arrays)]

    def _keep(self, after: Any) -> None:
        """Keep what a step returned or, where that is nothing, what it has left in the places of its arrays."""
        kind = dict if self._entry.named else (list, tuple)
        if after is not None and not isinstance(after, kind):
            must = "dict" if self._entry.named else "list"
            raise TypeError(f"its step gave a {type(after).__name__}, must be a {must} of arrays, or None")
        if self._entry.named:
            held = self._arrays if after is None else after
            self._arrays.update({name: np.asarray(held[name]) for name in self._arrays})
        elif after is not None:
            self._arrays[:] = [np.asarray(array) for array in after]

    def _stepped(self, optimizer: Any, learning_rate: float, arguments: list[Any]) -> Any:
        method, rate = step_of(optimizer), self._entry.rate
        signature = inspect.signature(method)
        names = [name for name in (rate, *RATES) if name in signature.parameters]
        ordered = arguments[::-1] if next(iter(signature.parameters), "") in GRADIENTS else arguments
        try:
            bound = signature.bind(*ordered, **dict.fromkeys(names[:1], learning_rate))
        except TypeError as error:
            given = "gradients" if self._bound else "parameters and gradients"
            raise TypeError(f"{method.__qualname__}{signature} is given {given}: {error}") from error
        if not names and not self._entry.at_first:
            held = [name for name in (rate, *RATES) if hasattr(optimizer, name)]
            if not held and LEARNING_RATE not in self._entry.pinned:
                name = repr(rate) if rate else f"a learning rate ({', '.join(RATES)})"
                one = f"--with ARGUMENT={LEARNING_RATE} names another; a class with one rate takes {LEARNING_RATE}=1.0"
                raise TypeError(f"neither its step takes {name} nor is that an attribute; {one}")
            for name in held[:1]:
                setattr(optimizer, name, learning_rate)
        return method(*bound.args, **bound.kwargs)


def made_of_parameters(cls: Any) -> bool:
    """Return whether an optimizer is made of its parameters."""
    return next((parameter.name for parameter in parameters_of(cls)), "") in PARAMETERS


def leading(cls: Any) -> int:
    """Return how many arguments are no hyperparameters."""
    return int(made_of_parameters(cls))


def step_of(optimizer: Any) -> Callable[..., Any]:
    """Return the method that does a step.

    Raises:
        TypeError: there is none.
    """
    methods: list[Callable[..., Any]] = [x for name in STEPS if callable(x := getattr(optimizer, name, None))]
    if not methods:
        raise TypeError(f"it made a {type(optimizer).__name__}, must be an object with step or update")
    return methods[0]


def check(cls: Any, spec: str) -> None:
    """Refuse a class without a step.

    Raises:
        TargetError: the text says so.
    """
    if isinstance(cls, type) and not any(callable(getattr(cls, name, None)) for name in STEPS):
        raise TargetError(f"target {spec}: {cls.__name__} has neither step nor update, must be {KIND}")


def offer(cls: Any, fit: Fit) -> NumpyClass:
    """Return the offer of a class, of lists if it takes them, else of arrays, else of dictionaries."""
    lists = NumpyClass(cls, **fit.fields, rate=fit.rate)
    forms = [lists, replace(lists, named=True)]
    if not made_of_parameters(cls):
        forms.insert(1, replace(lists, apart=True))
    if lists.takes_rate:
        forms += [replace(form, at_first=True) for form in forms]
    return next((form for form in forms if works(form, fit.rule)), lists)


def cannot(offered: Any, rule: str) -> Sequence[str]:
    """Return what it cannot take: an optimizer of lists may not know None, and one made with a rate no other."""
    missing = () if offered.apart or works(offered, rule, missing=1) else (MISSING,)
    return (*missing, RATES_THAT_CHANGE) if offered.at_first else missing


KIND = "a class whose step(grads), step(parameters, grads) or update(…) does a step on NumPy arrays"

MAKER = Maker(
    KIND,
    f"numpy {np.__version__}",
    {},
    offer,
    leading,
    check=check,
    cannot=cannot,
    rate_in_step=True,
    more=(STRIDED,),
)
