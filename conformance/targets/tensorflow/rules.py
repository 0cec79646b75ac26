"""Runs of TensorFlow's training kernels: one call updates a variable and the variables of its state in place.

A kernel does no more than a step: the caller brings the state, which begins at zero or at what the document says,
and powers of beta, which are rounded once here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from optimetry.conformance.targets.offers import ClassOffer

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class Kernel(ClassOffer):
    """Maps one documented rule to a kernel, of whose name ``cls`` is the end: ``tf.raw_ops.ResourceApply…``.

    The argument of a variable is what it begins with; slots are variables.
    """

    variables: tuple[str, ...] = ()
    """The arguments that are the kernel's state."""
    powers: Mapping[str, str] = field(default_factory=dict)
    """Argument -> the hyperparameter whose power by the number of the step it is given."""
    rate: str = "lr"
    """The argument that is the learning rate."""
    gradient: str = "grad"
    """The argument that is the gradient."""
    centered: str = ""
    """The end of the name of the kernel that stands for ``centered``, which has the variable ``mg``, too."""

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> KernelRun:
        """Begin a run."""
        return KernelRun(self, hyper, parameters)


class KernelRun:
    """Variables, and a kernel that updates those that have a gradient."""

    def __init__(self, entry: Kernel, hyper: Hyper, parameters: Sequence[Array]) -> None:
        import tensorflow as tf

        arguments, variables, op = entry.keywords(hyper), entry.variables, entry.cls
        if entry.centered and arguments.pop("centered"):
            variables, op = (*variables, "mg"), entry.centered
        self._kernel = getattr(tf.raw_ops, f"ResourceApply{op}")
        self._entry, self._powers = entry, {name: hyper[source] for name, source in entry.powers.items()}
        first = {name: arguments.pop(name, 0.0) for name in variables}
        self._parameters = [tf.Variable(np.array(parameter)) for parameter in parameters]
        self._states = [
            {name: tf.Variable(np.full_like(parameter, value)) for name, value in first.items()}
            for parameter in parameters
        ]
        self._constants = [
            {
                name: value if isinstance(value, bool) else tf.constant(value, held.dtype)
                for name, value in arguments.items()
            }
            for held in self._parameters
        ]
        self._steps = [0] * len(parameters)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Call the kernel for each parameter whose gradient is not None."""
        import tensorflow as tf

        for i, (parameter, grad) in enumerate(zip(self._parameters, grads, strict=True)):
            if grad is not None:
                self._steps[i] += 1
                numbers = {name: beta ** self._steps[i] for name, beta in self._powers.items()}
                numbers[self._entry.rate] = float(learning_rate)
                self._kernel(
                    var=parameter.handle,
                    **{name: variable.handle for name, variable in self._states[i].items()},
                    **{name: tf.constant(number, parameter.dtype) for name, number in numbers.items()},
                    **self._constants[i],
                    **{self._entry.gradient: tf.constant(grad)},
                )
        return [np.array(parameter.numpy()) for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """Return the variables, and how often each parameter was updated."""
        names = {variable: slot for slot, variable in self._entry.slots.items()}
        slots = {"step": [np.array(count, np.int64) for count in self._steps]}
        for name in self._states[0] if self._states else ():
            slots[names.get(name, name)] = [np.array(held[name].numpy()) for held in self._states]
        return slots

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        self._steps = [int(count) for count in state["step"]]
        for slot, arrays in state.items():
            if slot != "step":
                for held, array in zip(self._states, arrays, strict=True):
                    held[self._entry.slots.get(slot, slot)].assign(array)
