"""Runs of ``torch.optim``: one class over tensors that share memory with NumPy arrays."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.offers import Offer, Source, passed
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.torch.groups import TorchGroups
from optimetry.conformance.targets.torch.tensors import array_of, tensor_over

ENGINES: Mapping[str, Mapping[str, bool]] = {
    "single": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"foreach": False, "fused": True},
}
"""Keywords that choose an implementation inside ``torch.optim``."""


@dataclass(frozen=True)
class TorchClass(Offer):
    """Maps one documented rule to a class of ``torch.optim`` and its arguments."""

    cls: Any
    """The class in ``torch.optim``."""
    arguments: Mapping[str, Source] = field(default_factory=dict)
    """Keyword of the class -> documented hyperparameter, or several of them as a tuple."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Keywords outside the documented rule that are set."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """Slot -> torch's state key; state without a documented counterpart keeps torch's key."""
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Keyword of the class that is a word -> the flag that stands for it, and the word; None where it is off."""
    unset: str = ""
    """Hyperparameter that is given as None where it is the resolution of the dtype, which torch takes for None."""
    sparse: bool = False
    """Whether the class takes sparse gradients alone, which have the elements that are not zero."""
    fused: bool = False
    """Whether the class takes ``fused=True`` on the CPU."""
    rate: str = "lr"
    """Keyword of the class that is the learning rate, and its name in a group of parameters."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why torch refuses, None where it does not; every dtype is offered."""
        if (engine == "fused" and not self.fused) or (engine == "foreach" and engine not in self.taken):
            return f"torch.optim.{self.cls.__name__} has no {engine} implementation"
        nesterov = self.cls is torch.optim.SGD and hyper.get("use_nesterov", hyper.get("nesterov"))
        if nesterov and (hyper["momentum"] == 0 or hyper.get("dampening")):
            return "torch.optim.SGD refuses nesterov without momentum, or with dampening"
        return None

    @property
    def taken(self) -> Collection[str]:
        """The names of the arguments that the class takes."""
        return inspect.signature(self.cls).parameters

    def keywords(self, hyper: Hyper, engine: str) -> dict[str, object]:
        """The keyword arguments of the class for ``hyper``."""
        implementation = {name: value for name, value in ENGINES[engine].items() if name in self.taken}
        words = {argument: word if hyper[name] else None for argument, (name, word) in self.words.items()}
        return {**self.constants, **passed(self.arguments, hyper), **words, **implementation}

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> TorchRun:
        """Begin a run."""
        return TorchRun(self, self._given(hyper, parameters, engine), parameters)

    def start_groups(self, groups: Sequence[tuple[Hyper, list[Array]]], engine: str) -> TorchGroups:
        """Begin a run over groups of parameters."""

        def keywords(hyper: Hyper, parameters: Sequence[Array]) -> dict[str, object]:
            return self._given(hyper, parameters, engine)

        return TorchGroups(self.cls, keywords, self.rate, self.sparse, groups)

    def _given(self, hyper: Hyper, parameters: Sequence[Array], engine: str) -> dict[str, object]:
        """The keyword arguments of the class for ``hyper`` and parameters of this dtype."""
        given: dict[str, Any] = dict(hyper)
        if self.unset and parameters and given[self.unset] == torch.finfo(tensor_over(parameters[0]).dtype).eps:
            given[self.unset] = None
        return self.keywords(given, engine)


class TorchRun:
    """One ``torch.optim`` optimizer over parameters and gradients whose memory NumPy arrays share."""

    def __init__(self, entry: TorchClass, keywords: Mapping[str, object], parameters: Sequence[Array]) -> None:
        self._slots, self._sparse = entry.slots, entry.sparse
        self._arrays = [np.array(parameter, order="C") for parameter in parameters]
        self._grad_arrays = [np.zeros_like(array) for array in self._arrays]
        self._grads = [tensor_over(array) for array in self._grad_arrays]
        self._parameters = [torch.nn.Parameter(tensor_over(array)) for array in self._arrays]
        self._rate = entry.rate
        self._optimizer = entry.cls(self._parameters, **{entry.rate: 1.0}, **keywords)
        (self._group,) = self._optimizer.param_groups

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One ``Optimizer.step``; a None gradient becomes ``parameter.grad = None``."""
        self._group[self._rate] = float(learning_rate)
        for parameter, tensor, array, grad in zip(self._parameters, self._grads, self._grad_arrays, grads, strict=True):
            if grad is None:
                parameter.grad = None
            else:
                array[...] = grad
                parameter.grad = tensor.to_sparse() if self._sparse else tensor
        self._optimizer.step()
        return [array.copy() for array in self._arrays]

    def state(self) -> dict[str, list[Array]]:
        """Return the state, zero for a parameter that torch has not updated yet; empty before the first step.

        ``step`` counts per parameter, as 0-dim int64 arrays. Slots that these hyperparameters do not use are absent.
        """
        states = [self._optimizer.state.get(parameter, {}) for parameter in self._parameters]
        found: dict[str, list[Array]] = {}
        for slot, key in self._slots.items():
            if not any(isinstance(state.get(key), torch.Tensor | int) for state in states):
                continue
            if slot == "step":
                found[slot] = [np.array(int(state.get(key, 0)), np.int64) for state in states]
            else:
                found[slot] = [
                    array_of(state[key]) if key in state else np.zeros_like(array)
                    for state, array in zip(states, self._arrays, strict=True)
                ]
        return found

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        for index, parameter in enumerate(self._parameters):
            if "step" in state and state["step"][index] == 0:
                continue  # torch makes the state of a parameter in its first update
            self._optimizer.state[parameter] = {
                self._slots[slot]: self._count(values[index])
                if slot == "step"
                else tensor_over(np.array(values[index], order="C"))
                for slot, values in state.items()
            }

    def _count(self, steps: Array) -> Any:
        """Return a number of steps as the class keeps it."""
        return int(steps) if self._sparse else torch.tensor(float(steps), dtype=torch.float32)
