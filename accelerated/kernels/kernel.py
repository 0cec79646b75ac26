"""The kernel of an optimizer: scalar functions written by hand, and the scalars each step prepares for them.

A scalar function takes one element of every array and the step's scalars, and returns the new elements. Compiled, it is
the body of one fused loop; given arrays instead, the same NumPy expressions work on whole blocks. Its twin in CUDA C++
stands beside it: the same operations in the same order, on variables of the same names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from optimetry.accelerated.dtypes import Array, DtypePair

PARAM, GRAD = "param", "grad"

OUT = "out"
"""The narrow parameter as a pass writes it, where `PARAM` is its master copy."""

ROW, COLUMN = "row", "column"
"""What a pass of a kernel with `Factors` reads besides arrays: one number for each row, and one for each column."""

Real = Any
"""One element, or a block of them; in ``scalars`` one number, or one for each tensor."""


@dataclass(frozen=True)
class Rate:
    """The first scalar of a pass that needs norms, for engines that compute it where the norms are.

    Attributes:
        cuda: an expression in CUDA C++, in double precision, of ``lr``, the norms and ``numbers``; norms have the names
            that they have in ``scalars``.
        numbers: other values by name.
        joint: whether a norm is of all tensors together, and the rate the same for all.
    """

    cuda: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    joint: bool = False

    def values(self, lr: float) -> Array:
        """Return what ``lr`` and ``numbers`` are in a step, in this order."""
        return np.array([lr, *self.numbers.values()], np.float64)


@dataclass(frozen=True)
class Number:
    """A slot of one number for each tensor, renewed before a pass from the norms of the one before.

    Attributes:
        slot: its name.
        after: ``after(t, *norms, before)`` is its new value, given arrays of one for each tensor, in double precision.
        cuda: the same as an expression in CUDA C++ of ``t``, the norms, ``before`` and the ``numbers`` of the rate.
    """

    slot: str
    after: Callable[..., Real]
    cuda: str


@dataclass(frozen=True)
class Factors:
    """The second moment of a matrix as a product: of one factor for each row, and one for each column.

    The first pass of its kernel measures: its last sum is also one of squares for each row and each column. With
    ``share = weight(t)`` both averages are renewed, ``average = share average + (1 - share) mean``, before the second
    pass. `ROW` is one over the root of the average of a row divided by that of all rows, `COLUMN` one over the root of
    that of a column: so no element needs a root or a quotient of its own. A tensor of fewer than two dimensions is one
    row, whose `ROW` is 1: its columns are its elements. Instead of norms, scalars get the root mean squares of all
    earlier passes.

    Attributes:
        rows: the slot of the averages of rows.
        columns: that of columns.
        elements: that of a tensor of fewer than two dimensions.
        weight: ``weight(t)`` is the share of an average that update ``t`` keeps.
        least: the least divisor of the averages of rows.
    """

    rows: str
    columns: str
    elements: str
    weight: Callable[[Real], Real]
    least: float

    def shape(self, slot: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of a slot of a parameter, that of a number where the slot is not used."""
        if len(shape) < 2:
            return shape if slot == self.elements else ()
        rows, columns = shape[-2:]
        shapes = {self.rows: (rows, min(1, columns)), self.columns: (min(1, rows), columns)}
        return (*shape[:-2], *shapes[slot]) if slot in shapes else ()


@dataclass(frozen=True)
class Pass:
    """One pass over memory.

    Attributes:
        function: the scalar function. Its arguments are one element of each array in ``reads``, then the scalars.
        reads: the arrays it is given, `PARAM`, `GRAD` or slots.
        writes: the arrays its last results go to, each of them among ``reads``: pointers are made of those alone.
        scalars: ``scalars(lr, t)`` are its other arguments, as doubles, for learning rate ``lr`` and update number
            ``t``. After a pass with ``sums`` it is ``scalars(lr, t, *norms)``, with one norm for each tensor, and where
            there is a ``number`` ``scalars(lr, t, *norms, after)``.
        cuda: ``function`` in CUDA C++: statements that assign the new elements to the variables of the old ones, and
            the values to take norms of to ``measured0``, ``measured1``, .... All are of type ``real``.
        sums: how many results precede those of ``writes``; the root of the sum of squares of each is a norm.
        rate: the first of ``scalars`` in CUDA C++, where they need norms.
        number: a slot that is renewed before it.
    """

    function: Callable[..., Any]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    scalars: Callable[..., tuple[Real, ...]]
    cuda: str
    sums: int = 0
    rate: Rate | None = None
    number: Number | None = None

    @property
    def arguments(self) -> tuple[list[str], list[str]]:
        """The names of the arguments of ``function``: those of the elements, and those of the scalars."""
        names = list(inspect.signature(self.function).parameters)
        return names[: len(self.reads)], names[len(self.reads) :]

    def arrays(self, *, master: bool) -> tuple[str, ...]:
        """Return the arrays of this pass in the order of the rows of its table of addresses."""
        return (*self.reads, OUT) if master and PARAM in self.writes else self.reads

    def held(self, dtypes: DtypePair, *, master: bool) -> set[str]:
        """Return those of its arrays that are in the dtype of parameters and must be widened and narrowed."""
        names = self.arrays(master=master) if dtypes.narrow else ()
        return {name for name in names if name in (GRAD, OUT) or (name == PARAM and not master)}


@dataclass(frozen=True)
class Kernel:
    """The computation of one rule with its hyperparameters.

    Attributes:
        passes: one for an elementwise rule; for a rule with norms, one that measures and one that updates.
        by_rows: whether a gradient given by rows may update these rows alone, as one of zero moves no row; else the
            other rows have gradient zero.
        regrouped: whether a formula is evaluated in another order than in the reference, so that bits differ. Norms,
            which are summed in another order, need not be declared.
        ring: a slot that holds several arrays for each parameter, of which update ``t`` sees number ``(t - 1) % n``.
        factors: the averages of rows and columns that its passes read.
    """

    passes: tuple[Pass, ...]
    by_rows: bool = False
    ring: str | None = None
    regrouped: bool = False
    factors: Factors | None = None

    @property
    def slots(self) -> frozenset[str]:
        """The slots that it reads, which alone need memory."""
        if self.factors is not None:
            return frozenset((self.factors.rows, self.factors.columns, self.factors.elements))
        return frozenset(name for pass_ in self.passes for name in pass_.reads) - {PARAM, GRAD} | self.numbers

    @property
    def measured(self) -> tuple[int, ...]:
        """How many values the scalars of each pass are given beside the learning rate and the update."""
        if self.factors is not None:
            return (0, *accumulate(pass_.sums for pass_ in self.passes[:-1]))
        return (0, *(before.sums + (pass_.number is not None) for before, pass_ in pairwise(self.passes)))

    @property
    def numbers(self) -> frozenset[str]:
        """Those of its slots that are one number for each tensor."""
        return frozenset(pass_.number.slot for pass_ in self.passes if pass_.number)


def elementwise(
    function: Callable[..., Any],
    slots: tuple[str, ...],
    scalars: Callable[..., tuple[Real, ...]],
    cuda: str,
    *,
    by_rows: bool = False,
    ring: str | None = None,
    regrouped: bool = False,
) -> Kernel:
    """Make a kernel of one pass: ``function(param, grad, *slots, *scalars)`` returns ``(param, *slots)``."""
    pass_ = Pass(function, (PARAM, GRAD, *slots), (PARAM, *slots), scalars, cuda)
    return Kernel((pass_,), by_rows=by_rows, ring=ring, regrouped=regrouped)


def of_one(g: Real) -> tuple[Real]:
    """``g``, whose norm is measured."""
    return (g,)


def of_two(w: Real, g: Real) -> tuple[Real, Real]:
    """``w`` and ``g``, whose norms are measured."""
    return w, g


def measuring(*arrays: str) -> Pass:
    """Make a pass that measures the norm of one array, or those of two."""
    if len(arrays) == 1:
        return Pass(of_one, arrays, (), lambda lr, t: (), "measured0 = g;", sums=1)
    return Pass(of_two, arrays, (), lambda lr, t: (), "measured0 = w;\nmeasured1 = g;", sums=2)


def select(condition: Any, chosen: Real, otherwise: Real) -> Real:
    """Return ``chosen`` where ``condition`` holds, else ``otherwise``; compiled, a scalar of the type of ``chosen``."""
    return np.where(condition, chosen, otherwise)
