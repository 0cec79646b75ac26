"""Runs of fluid's optimizers, clips and regularizers in dygraph: one optimizer over all parameters, op by op.

A gradient g is given as that of ``sum(w * g)``, which is g exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.conformance.targets.fluid.programs import parameter_like

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array

GLOBAL = ("LR_Scheduler", "global_step")
"""Parts of an optimizer's state that belong to no parameter."""


@contextmanager
def entered() -> Iterator[None]:
    """Run fluid op by op inside the block; its own guard would not leave dygraph by an exception."""
    from paddle import fluid

    raised: list[Exception] = []
    with fluid.dygraph.guard(fluid.CPUPlace()):
        try:
            yield
        except Exception as error:
            raised.append(error)
    if raised:
        raise raised[0]


class DygraphRun:
    """Parameters and their optimizer.

    Args:
        make: returns the optimizer, from the keyword arguments that are not those of its rule.
        slots: slot -> fluid's name of that accumulator.
        parameters: what the run begins with.
    """

    def __init__(self, make: Callable[..., Any], slots: Mapping[str, str], parameters: Sequence[Array]) -> None:
        with entered():
            self._slots, self._rate = slots, rate_like(parameters)
            self._parameters = [parameter_like(array, i) for i, array in enumerate(parameters)]
            for parameter, array in zip(self._parameters, parameters):
                parameter.set_value(np.array(array))
            self._optimizer = make(learning_rate=self._rate, parameter_list=self._parameters)

    def step(self, grads: list[Array], learning_rate: float) -> list[Array]:
        """Call ``minimize``."""
        from paddle import fluid

        with entered():
            self._rate.value = learning_rate
            self._optimizer.clear_gradients()
            for parameter, grad in zip(self._parameters, grads):
                loss = fluid.layers.reduce_sum(parameter * fluid.dygraph.to_variable(grad))
                loss.backward()
            if grads:
                self._optimizer.minimize(loss)
            return [parameter.numpy() for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """Return the accumulators; there are none before the first step."""
        with entered():
            held = {name: var for name, var in self._optimizer.state_dict().items() if name not in GLOBAL}
            first = self._parameters[0].name + "_" if self._parameters else ""
            names = sorted(name[len(first) :] for name in held if name.startswith(first))
            return {
                self._slot(name): [held[f"{each.name}_{name}"].numpy() for each in self._parameters] for name in names
            }

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        with entered():
            kept = {name: value for name, value in self._optimizer.state_dict().items() if name in GLOBAL}
            for slot, arrays in state.items():
                name = f"{self._slots.get(slot, slot)}_0"
                kept.update({f"{each.name}_{name}": array for each, array in zip(self._parameters, arrays)})
            self._optimizer.set_dict(kept)

    def _slot(self, name: str) -> str:
        """Return what the documents call an accumulator, whose name ends with a number."""
        name = name[: name.rindex("_")]
        return next((slot for slot, known in self._slots.items() if known == name), name)


class DygraphTransforming:
    """A clip, a regularizer, or the two in this order, inside an optimizer.

    The result is read from the velocity of `MomentumOptimizer` after one step, which no learning rate has scaled.
    """

    def __init__(self, keywords: Mapping[str, Any], parameters: Sequence[Array]) -> None:
        self._keywords, self._arrays = keywords, parameters

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return the velocity of the first step."""
        with entered():
            run = DygraphRun(self._made, {}, self._arrays)
        run.step(grads, 0.0)
        return run.state()["velocity"]

    def _made(self, **keywords: Any) -> Any:
        from paddle import fluid

        return fluid.optimizer.MomentumOptimizer(momentum=0.0, **keywords, **self._keywords)


def rate_like(parameters: Sequence[Array]) -> Any:
    """Return a learning rate that each step sets, in the dtype of the parameters: a number would be in float32."""
    from paddle import fluid
    from paddle.fluid.dygraph.learning_rate_scheduler import LearningRateDecay

    class Given(LearningRateDecay):  # type: ignore[misc]
        value = 0.0

        def step(self) -> Any:
            return fluid.dygraph.to_variable(np.array([self.value], self.dtype))

    return Given(dtype=parameters[0].dtype.name if parameters else "float32")
