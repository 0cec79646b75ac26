"""Variables and parameters: the named places of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.reference.errors import ProgramError
from optimetry.reference.programs.arithmetic import APPENDED, Arithmetic

if TYPE_CHECKING:
    from optimetry.reference.programs.program import Program

Shape = tuple[int | None, ...]


class Variable(Arithmetic):
    """A named place for an array in a program; the array itself is in a scope.

    Python's arithmetic on variables appends operators to the default main program.

    Attributes:
        name: unique in its program.
        shape: the shape; None stands for a length that the fed array decides.
        dtype: the dtype of every value.
        persistable: whether the value outlives a run.
        stop_gradient: whether no gradient flows through it.
        program: the program it belongs to.
    """

    def __init__(
        self,
        program: Program,
        name: str,
        shape: Shape,
        dtype: Any,
        *,
        persistable: bool = False,
        stop_gradient: bool = False,
    ) -> None:
        self.program = program
        self.name = name
        self.shape = tuple(shape)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.persistable = persistable
        self.stop_gradient = stop_gradient

    def checked(self, value: Any) -> Any:
        """``value`` as an array of this variable's shape and dtype.

        Raises:
            ProgramError: it has another shape or dtype.
        """
        array = np.asarray(value)
        if array.dtype != self.dtype:
            raise ProgramError(f"{self.name}: a value of dtype {array.dtype}, must be {self.dtype}")
        fits = array.ndim == len(self.shape) and all(
            want in (None, have) for want, have in zip(self.shape, array.shape, strict=True)
        )
        if not fits:
            raise ProgramError(f"{self.name}: a value of shape {array.shape}, must be {self.shape}")
        return array

    def arithmetic(self, function: Callable[..., Any], other: Any, swapped: bool) -> Variable:
        """Append an operator to the default main program; see `Arithmetic`."""
        appended: Variable = APPENDED["elementwise"](function, self, other, swapped)
        return appended

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, shape={self.shape}, dtype={self.dtype})"


class Parameter(Variable):
    """A persistable variable that optimizers update.

    Attributes:
        trainable: whether it gets a gradient.
        regularizer: replaces the optimizer's regularizer for this parameter, where not None.
        learning_rate: a factor on the optimizer's learning rate.

    Raises:
        ProgramError: it is trainable, and its dtype has no fractions.
    """

    def __init__(
        self,
        program: Program,
        name: str,
        shape: tuple[int, ...],
        dtype: Any,
        *,
        trainable: bool = True,
        regularizer: Any = None,
        learning_rate: float = 1.0,
    ) -> None:
        if trainable and not is_float(dtype):
            raise ProgramError(
                f"parameter {name}: dtype = {np.dtype(dtype)}, must be a float one where it is trainable"
            )
        super().__init__(program, name, shape, dtype, persistable=True, stop_gradient=not trainable)
        self.trainable = trainable
        self.regularizer = regularizer
        self.learning_rate = learning_rate


def is_float(dtype: Any) -> bool:
    """Whether an optimizer can move numbers of a dtype: float ones, those of other packages (bfloat16) among them."""
    return np.dtype(dtype).kind in "fV"
