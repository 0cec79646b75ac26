"""What one optimizer's kernel is: scalar functions written by hand, and the scalars each step prepares for them.

A scalar function takes one element of every array and the step's scalars, and returns the new elements. Compiled, it is
the body of one fused loop; given arrays instead, the same NumPy expressions work on whole blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

PARAM, GRAD = "param", "grad"

Number = Any
"""One element, or a block of them; in ``scalars`` one number, or one for each tensor."""


@dataclass(frozen=True)
class Pass:
    """One sweep over memory.

    Attributes:
        function: the scalar function. Its arguments are one element of each array in ``reads``, then the scalars.
        reads: the arrays it is given, `PARAM`, `GRAD` or slots.
        writes: the arrays its last results go to.
        scalars: ``scalars(lr, t)`` are its other arguments, as doubles, for learning rate ``lr`` and update number
            ``t``. After a pass with ``sums`` it is ``scalars(lr, t, *norms)``, with one norm for each tensor.
        sums: how many results come before those of ``writes``: the root of the sum of their squares is a norm.
    """

    function: Callable[..., Any]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    scalars: Callable[..., tuple[Number, ...]]
    sums: int = 0


@dataclass(frozen=True)
class Kernel:
    """How one rule with its hyperparameters is computed.

    Attributes:
        passes: one for an elementwise rule; for a rule with norms, one that measures and one that updates.
        by_rows: whether a gradient given by rows updates these rows alone; else the other rows have gradient zero.
        ring: a slot that holds several arrays for each parameter, of which update ``t`` sees number ``(t - 1) % n``.
    """

    passes: tuple[Pass, ...]
    by_rows: bool = False
    ring: str | None = None


def elementwise(
    function: Callable[..., Any],
    slots: tuple[str, ...],
    scalars: Callable[..., tuple[Number, ...]],
    *,
    by_rows: bool = False,
    ring: str | None = None,
) -> Kernel:
    """A kernel of one pass: ``function(param, grad, *slots, *scalars)`` returns ``(param, *slots)``."""
    one = Pass(function, reads=(PARAM, GRAD, *slots), writes=(PARAM, *slots), scalars=scalars)
    return Kernel((one,), by_rows=by_rows, ring=ring)


def select(condition: Any, chosen: Number, otherwise: Number) -> Number:
    """``chosen`` where ``condition`` holds, else ``otherwise``; compiled, a scalar of the type of ``chosen``."""
    return np.where(condition, chosen, otherwise)
