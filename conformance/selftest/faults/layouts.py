"""Kernels that follow memory where they should follow elements: arrays in columns, or with gaps between elements."""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.rule import Rule

LAYOUT = "memory_layout"


def _dense(array: Array) -> bool:
    """Whether elements lie one behind the other, in rows or in columns."""
    return array.flags.c_contiguous or array.flags.f_contiguous


def _from_the_first(array: Array) -> Array:
    """Read as many elements as an array has from where its first lies, one behind the other."""
    memory = np.lib.stride_tricks.as_strided(array, (array.size,), (array.itemsize,))
    return memory.reshape(array.shape)


class GradientFromTheFirst(RuleRun):
    """Takes the memory of every gradient for rows."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Read it so."""
        return super().step([grad if grad is None else _from_the_first(grad) for grad in grads], learning_rate)


class _GradientWithGaps(RuleRun):
    """Takes the memory of a gradient that lies neither in rows nor in columns for rows."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Read it so."""
        read = [grad if grad is None or _dense(grad) else _from_the_first(grad) for grad in grads]
        return super().step(read, learning_rate)


class _ParameterWithGaps(RuleRun):
    """Takes the memory of a parameter that lies neither in rows nor in columns for rows."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, [param if _dense(param) else _from_the_first(param) for param in parameters])


class _WithParameters(RuleRun):
    """Knows the parameters that it was given, and how they lie."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.parameters = parameters


class _AlikeInRows(_WithParameters):
    """Goes along the memory of a parameter whose gradient lies like it, and gives what it has met in rows."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Update elements in their places, and give some in others."""
        after = super().step(grads, learning_rate)
        along = [
            grad is not None and grad.strides == param.strides and not param.flags.c_contiguous and _dense(param)
            for grad, param in zip(grads, self.parameters, strict=True)
        ]
        return [array.ravel("F").reshape(array.shape) if it else array for it, array in zip(along, after, strict=True)]


class LostInACopy(_WithParameters):
    """Updates a contiguous copy of each parameter, which is the parameter itself where that is contiguous."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Update the copies, and give the parameters."""
        after = super().step(grads, learning_rate)
        pairs = zip(self.parameters, after, strict=True)
        return [new if param.flags.c_contiguous else param.copy() for param, new in pairs]


class _HeadLeftOut(_WithParameters):
    """Begins at the first address of a parameter at which a vector of 16 bytes does."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Leave out what is before it."""
        after = super().step(grads, learning_rate)
        for array, param in zip(after, self.parameters, strict=True):
            head = slice(-param.ctypes.data % 16 // param.itemsize)
            array.flat[head] = param.flat[head]
        return after


def layout_fault(name: str, optimizer: str, defect: str, kind: type[RuleRun]) -> Fault:
    """Declare a fault that shows in arrays alone that do not lie in rows."""
    return Fault(name, optimizer, defect, run_as(kind), rejected_by=LAYOUT)


enter(
    layout_fault(
        "gradient_read_from_its_first_element",
        "adam",
        "a fused kernel is given the address of a gradient and no strides: torch's on the CPU, at 2.13",
        GradientFromTheFirst,
    ),
    layout_fault(
        "gradient_with_gaps_read_as_dense",
        "momentum",
        "a kernel knows rows and columns, and takes a slice of a wider matrix for rows",
        _GradientWithGaps,
    ),
    layout_fault(
        "parameter_with_gaps_read_as_dense",
        "sgd",
        "the same of a parameter, whose neighbours are updated with it",
        _ParameterWithGaps,
    ),
    layout_fault(
        "fast_path_gives_columns_as_rows",
        "rmsprop",
        "where parameter and gradient lie alike, a kernel goes along their memory, and its result is read in rows",
        _AlikeInRows,
    ),
    layout_fault(
        "head_before_whole_vectors_left_out",
        "adadelta",
        "a loop over vectors begins at an aligned address, and the one over the elements before it is missing",
        _HeadLeftOut,
    ),
    layout_fault(
        "update_lost_in_a_copy",
        "adagrad",
        "a parameter is ravelled and updated in place: of one that is not contiguous that is a copy",
        LostInACopy,
    ),
)
