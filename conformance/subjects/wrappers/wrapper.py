"""Declares the base of every wrapper: its hyperparameters, and one pure function of what it is fed in a step.

A wrapper stands around an update rule: it changes the gradients before it (a clip, a regularizer, a compression) or
averages the parameters behind it. It sees all of them at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import with_zeros
from optimetry.conformance.subjects.subject import Numbers, Subject
from optimetry.reference.declaration import Declared
from optimetry.reference.rule import Array

MOST_STEPS = 8
"""The steps of a case for a clip or a regularizer, which remember little or nothing."""


@dataclass(frozen=True, kw_only=True)
class Wrapper(Declared, ABC):
    """The base of every wrapper.

    Class attributes, beside those of `Declared`:
        averages: whether it takes parameters and returns averages; else it takes gradients and returns gradients.
        clips: whether it limits what it is fed, so that applying it again changes nothing.
        decides: real hyperparameters that decide how much or when, and enter no sum or product.
        own_numbers: what it calls the real numbers that it makes itself and that enter what it computes.
    """

    averages: ClassVar[bool] = False
    clips: ClassVar[bool] = False
    decides: ClassVar[tuple[str, ...]] = ()
    own_numbers: ClassVar[tuple[str, ...]] = ()

    def lifted(self, lift: Callable[[str, float], Any]) -> Self:
        """The same with each real hyperparameter replaced that enters numbers, and the others as they are."""
        return super().lifted(lambda name, number: number if name in self.decides else lift(name, number))

    @property
    def symmetric(self) -> bool:
        """Whether negating parameters and gradients negates the result."""
        return True

    @classmethod
    def consistent(cls, hyper: dict[str, Any]) -> dict[str, Any]:
        """Make hyperparameters consistent that were each drawn on their own."""
        return hyper

    def first(self, fed: Sequence[Array]) -> Any:
        """Return the state before the first step; None where none is kept, or where `feed` alone knows it."""
        return None

    @abstractmethod
    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Return the result of one step, and the state after it, out of place.

        Args:
            fed: the gradients of one step, or the parameters after it; one array for each parameter.
            parameters: the parameters that the run began with, of the same shapes and dtypes.
            state: what the last call returned; None in the first.
        """


class WrapperSubject(Subject):
    """A wrapper as a subject: the ``grads`` of its cases are what it is fed, and learning rates mean nothing to it."""

    declaration: type[Wrapper]

    @property
    def averages(self) -> bool:
        """Whether it takes parameters and returns averages."""
        return self.declaration.averages

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the real numbers that enter what it computes."""
        declared = self.declaration
        return (*(name for name in super().numbers if name not in declared.decides), *declared.own_numbers)

    def adapted(self, case: Case) -> Case:
        """Shorten the case, and put zeros in place of missing gradients, as no clip is fed any."""
        steps = len(case.grads) if self.averages else min(len(case.grads), MOST_STEPS)
        fed = tuple(tuple(with_zeros(row, case.parameters)) for row in case.grads[:steps])
        hyper = self.declaration.consistent(case.hyper)
        return case.replace(hyper=hyper, learning_rates=(1.0,) * steps, grads=fed)

    def trajectory(self, case: Case, numbers: Numbers, computed: Declared | None = None) -> Iterator[Sequence[Any]]:
        """Yield what the wrapper returns in each step."""
        wrapper = cast(Wrapper, computed or self.of(case.hyper)).lifted(numbers.scalar)
        parameters = [numbers.array(param) for param in case.parameters]
        state: Any = None
        for row in case.grads:
            fed = [numbers.array(array) for array in row if array is not None]
            results, state = wrapper.feed(fed, parameters, state)
            yield results

    def magnitudes(self, case: Case) -> Sequence[Any]:
        """Return each element's largest magnitude among what is fed; zero for a clip, which may shrink it at once."""
        if self.declaration.clips:
            return [np.zeros(param.shape) for param in case.parameters]
        columns = zip(case.parameters, *case.grads, strict=True)
        return [np.asarray(np.max(np.abs([np.asarray(x, np.float64) for x in column]), axis=0)) for column in columns]


WRAPPERS: dict[str, type[Wrapper]] = {}
"""Every documented wrapper by name; filled when `optimetry.conformance.subjects.wrappers` is imported."""

WrapperType = TypeVar("WrapperType", bound=type[Wrapper])


def wrapper(kind: WrapperType) -> WrapperType:
    """Class decorator: enter a documented wrapper into `WRAPPERS`."""
    WRAPPERS[kind.name] = kind
    return kind
