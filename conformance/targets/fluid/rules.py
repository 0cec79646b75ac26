"""Runs of ``fluid.optimizer`` in static graphs: one program for each parameter, so that a step may leave one out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.conformance.targets.fluid.dygraph import DygraphRun
from optimetry.conformance.targets.fluid.programs import Held, Pool
from optimetry.conformance.targets.offers import FLOATS, ClassOffer, OnKernels

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper

STATIC, DYGRAPH = "static", "dygraph"
"""The engines: graphs, which are what the documents are about, and op by op."""

REGULARIZATION = "regularization"
"""The argument that takes a hyperparameter as the strength of an `L2Decay`."""

WEIGHT, GRAD, RATE = "weight", "grad", "rate"
"""The names of a program's variables."""


@dataclass(frozen=True)
class FluidClass(OnKernels, ClassOffer):
    """Maps one documented rule to a class of ``fluid.optimizer`` and its arguments."""

    framework = "fluid"
    dtypes: tuple[str, ...] = FLOATS
    """Those that its kernel takes."""

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> FluidRun | DygraphRun:
        """Begin a run."""
        if engine == DYGRAPH:
            return DygraphRun(partial(self.optimizer, hyper), self.slots, parameters)
        return FluidRun(self, f"{subject} {hyper}", hyper, parameters)

    def optimizer(self, hyper: Hyper, **keywords: Any) -> Any:
        """The optimizer, with keyword arguments that are not those of its rule."""
        from paddle import fluid

        arguments = self.keywords(hyper)
        if REGULARIZATION in arguments:
            arguments[REGULARIZATION] = fluid.regularizer.L2Decay(arguments[REGULARIZATION])
        return getattr(fluid.optimizer, self.cls)(**arguments, **keywords)


POOL = Pool()


class FluidRun:
    """An optimizer for each parameter.

    Args:
        offer: how it is made.
        rule: which it is, hyperparameters and all; as text, since 0.0 and -0.0 are equal.
        hyper: its hyperparameters.
        parameters: what the run begins with.
    """

    def __init__(self, offer: FluidClass, rule: str, hyper: Hyper, parameters: Sequence[Array]) -> None:
        self._slots = offer.slots
        self._updates: list[Update] = []
        for parameter in parameters:
            key = f"{rule} {parameter.dtype} {parameter.shape}"
            update = POOL.taken(key, partial(Update, key, offer, hyper, parameter))
            update.begin(parameter)
            self._updates.append(update)

    def __del__(self) -> None:
        for update in self._updates:
            POOL.give_back(update.key, update)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Run the program of each parameter whose gradient is not None."""
        for update, grad in zip(self._updates, grads):
            if grad is not None:
                update.step(grad, learning_rate)
        return [update.held.value(WEIGHT) for update in self._updates]

    def state(self) -> dict[str, list[Array]]:
        """Return the accumulators, the powers of decays among them."""
        slots = {name: slot for slot, name in self._slots.items()}
        names = self._updates[0].accumulators if self._updates else {}
        return {
            slots.get(name, name): [update.held.value(update.accumulators[name]) for update in self._updates]
            for name in names
        }

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        for slot, arrays in state.items():
            for update, array in zip(self._updates, arrays):
                update.held.put(update.accumulators[self._slots.get(slot, slot)], array)


class Update:
    """A program that updates one parameter, and its variables.

    The learning rate is a variable in the parameter's dtype: as a number, fluid would hold it in float32.

    Attributes:
        key: what it was built for.
        accumulators: what the optimizer keeps, with the name of each as a variable.
    """

    def __init__(self, key: str, offer: FluidClass, hyper: Hyper, parameter: Array) -> None:
        from paddle import fluid

        self.key, self._dtype = key, parameter.dtype
        self._program, start = fluid.Program(), fluid.Program()
        dtype, shape = parameter.dtype.name, list(parameter.shape)
        with fluid.program_guard(self._program, start), fluid.unique_name.guard():
            weight = fluid.layers.create_parameter(shape, dtype, name=WEIGHT)
            rate = fluid.layers.create_global_var([1], 0.0, dtype, persistable=True, name=RATE)
            offer.optimizer(hyper, learning_rate=rate).apply_gradients([(weight, fluid.data(GRAD, shape, dtype))])
        self.held = Held(start)
        kept = sorted(var.name for var in self._program.list_vars() if var.persistable)
        self.accumulators = {
            name[len(WEIGHT) + 1 : name.rindex("_")]: name for name in kept if name not in (WEIGHT, RATE)
        }

    def begin(self, parameter: Array) -> None:
        """Begin a run."""
        self.held.begin()
        self.held.put(WEIGHT, parameter)

    def step(self, grad: Array, learning_rate: float) -> None:
        """Update the parameter."""
        self.held.put(RATE, np.array([learning_rate], self._dtype))
        self.held.run(self._program, {GRAD: grad})
