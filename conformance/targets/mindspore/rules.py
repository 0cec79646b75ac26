"""Runs of MindSpore's optimizers: one over all parameters, each of which has a gradient in every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from optimetry.conformance.targets.offers import ClassOffer, refused_nesterov

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper

DTYPES = ("float16", "float32", "float64")
"""Those that MindSpore and NumPy both have."""

SHARED = ("beta1_power", "beta2_power", "global_step", "state_step", "step_t")
"""Attributes that count the steps of all parameters together."""

FIRST = "stat"
"""The attribute of SGD that says of each element whether its first step is still to come."""


@dataclass(frozen=True)
class MindsporeClass(ClassOffer):
    """Maps one documented rule to a class, named from ``mindspore`` on, and its arguments."""

    dtypes: tuple[str, ...] = DTYPES
    """Those that its kernels take."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why MindSpore refuses, None where it does not."""
        if dtype not in self.dtypes:
            return f"mindspore.{self.cls} takes no {dtype} on the CPU"
        if self.cls.endswith("SGD") and refused_nesterov(hyper):
            return f"mindspore.{self.cls} refuses nesterov without momentum, or with dampening"
        if self.cls == "nn.Rprop" and hyper["step_size_min"] > hyper["step_size_max"]:
            return f"mindspore.{self.cls} refuses step_size_min > step_size_max"
        return self.zero_refused("mindspore", hyper)

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> MindsporeRun:
        """Begin a run."""
        return MindsporeRun(self, self.keywords(hyper), parameters)


class MindsporeRun:
    """Parameters and their optimizer."""

    def __init__(self, offer: MindsporeClass, keywords: Mapping[str, Any], parameters: Sequence[Array]) -> None:
        import mindspore
        import mindspore.experimental.optim

        self._parameters = parameters_of(parameters)
        make = reduce(getattr, offer.cls.split("."), mindspore)
        rate = "lr" if offer.cls.startswith("experimental") else "learning_rate"
        self._optimizer = make(self._parameters, **{rate: 1.0}, **keywords)
        names = {**offer.slots, FIRST: FIRST}
        self._slots = {slot: name for slot, name in names.items() if hasattr(self._optimizer, name)}
        self._shared = [name for name in SHARED if hasattr(self._optimizer, name)]

    def step(self, grads: list[Array], learning_rate: float) -> list[Array]:
        """Update all parameters."""
        self._rate().set_data(tensor_of(np.array(learning_rate, np.float32)))
        self._optimizer(tuple(tensor_of(grad) for grad in grads))
        return [parameter.asnumpy().copy() for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """Return what the optimizer holds of each parameter, and what counts the steps, which all share."""
        slots = {slot: getattr(self._optimizer, name) for slot, name in self._slots.items()}
        slots |= {name: [getattr(self._optimizer, name)] * len(self._parameters) for name in self._shared}
        return {slot: [held.asnumpy().copy() for held in parameters] for slot, parameters in slots.items()}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        for name in self._shared:
            getattr(self._optimizer, name).set_data(tensor_of(state[name][0]))
        for slot, name in self._slots.items():
            for held, array in zip(getattr(self._optimizer, name), state[slot], strict=True):
                held.set_data(tensor_of(array))

    def _rate(self) -> Any:
        """The learning rate, which both kinds of optimizers hold in float32."""
        return self._optimizer.lrs[0] if hasattr(self._optimizer, "lrs") else self._optimizer.learning_rate


def parameters_of(arrays: Sequence[Array]) -> list[Any]:
    """Return parameters with names that decide nothing: MindSpore decays none that is called beta or gamma."""
    import mindspore

    return [mindspore.Parameter(tensor_of(array), name=f"w{i}") for i, array in enumerate(arrays)]


def tensor_of(array: Array) -> Any:
    """Return a tensor with the array's dtype and elements of its own."""
    import mindspore

    return mindspore.Tensor(np.array(array))
