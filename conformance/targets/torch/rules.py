"""Runs of ``torch.optim``, over parameters or groups of them: tensors that share memory with NumPy arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import torch

from optimetry.conformance.numerics.arrays import Array, alike
from optimetry.conformance.targets.offers import MADE_AT, ClassOffer, refused_nesterov
from optimetry.conformance.targets.protocol import Hyper


def tensor_over(array: Array) -> torch.Tensor:
    """Make a tensor over the memory of ``array``. torch does not know NumPy's bfloat16, so its bits are passed."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def tensor(array: Array) -> torch.Tensor:
    """Make a tensor over memory of its own, which lies as that of the array."""
    return tensor_over(alike(array))


def array_of(tensor: torch.Tensor) -> Array:
    """Copy ``tensor`` to a NumPy array."""
    if tensor.dtype == torch.bfloat16:
        return np.array(tensor.view(torch.uint16).numpy()).view(ml_dtypes.bfloat16)
    return np.array(tensor.numpy())


ENGINES: Mapping[str, Mapping[str, bool]] = {
    "single": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"foreach": False, "fused": True},
    "differentiable": {"foreach": False, "differentiable": True},
}
"""Keywords that choose an implementation inside ``torch.optim``.

What Adam and NAdam compute where they are differentiable they compute as well where they are ``capturable``, which
torch has for GPUs.
"""


@dataclass(frozen=True)
class TorchClass(ClassOffer):
    """Maps one documented rule to a class of ``torch.optim`` and its arguments."""

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
        if not (self.fused if engine == "fused" else engine == "single" or engine in self.taken):
            return f"torch.optim.{self.cls.__name__} has no {engine} implementation"
        if self.cls is torch.optim.SGD and refused_nesterov(hyper):
            return "torch.optim.SGD refuses nesterov without momentum, or with dampening"
        return None

    @property
    def taken(self) -> Collection[str]:
        """The names of the arguments that the class takes."""
        return inspect.signature(self.cls).parameters

    @property
    def rate_of_group(self) -> str:
        """What a group of parameters calls its learning rate."""
        return self.rate

    def of_group(self, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a group is given of these keyword arguments: all."""
        return dict(keywords)

    def of_all_groups(self, first: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the class itself is given, beside groups of which the first has these keyword arguments."""
        return dict(first)

    def keywords_on(self, engine: str, hyper: Hyper) -> dict[str, object]:
        """The keyword arguments of the class for ``hyper`` on an engine."""
        implementation = {name: value for name, value in ENGINES[engine].items() if name in self.taken}
        return {**self.keywords(hyper), **implementation}

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> TorchRun:
        """Begin a run."""
        plain = self.sparse or engine == "differentiable" or any(array.dtype == np.float16 for array in parameters)
        kind = TorchRun if plain else ScalingTorchRun
        return kind(self, self._keywords(hyper, parameters, engine), parameters)

    def start_groups(self, groups: Sequence[tuple[Hyper, list[Array]]], engine: str) -> TorchGroups:
        """Begin a run over groups of parameters."""
        return TorchGroups(self, partial(self._keywords, engine=engine), groups)

    def _keywords(self, hyper: Hyper, parameters: Sequence[Array], engine: str) -> dict[str, object]:
        """The keyword arguments of the class for ``hyper`` and parameters of these dtypes."""
        values: dict[str, Any] = dict(hyper)
        resolutions = (
            {torch.finfo(tensor_over(parameter).dtype).eps for parameter in parameters} if self.unset else set()
        )
        if resolutions == {values.get(self.unset)}:
            values[self.unset] = None
        return self.keywords_on(engine, values)


ABSENT_TENSOR = np.zeros((0, 0), np.bool_)
"""As which a tensor is saved that a parameter does not have yet; those of an empty parameter are floating."""


def parameter_of(array: Array, keywords: Mapping[str, object]) -> torch.nn.Parameter:
    """Make a parameter for an optimizer with these arguments.

    One that is differentiable steps inside of the graph, where no parameter that needs a gradient is changed in place.
    """
    return torch.nn.Parameter(tensor(array), requires_grad=not keywords.get("differentiable"))


def values_of(parameters: Sequence[torch.nn.Parameter]) -> list[Array]:
    """Return what parameters hold, also where an optimizer has given them other memory: ``p.data = p.data - step``."""
    return [array_of(parameter.detach()) for parameter in parameters]


def group_of(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Return the one group of an optimizer that was made of a list of parameters.

    Raises:
        ValueError: it has made several.
    """
    groups: list[dict[str, Any]] = optimizer.param_groups
    if len(groups) != 1:
        kind = type(optimizer).__name__
        raise ValueError(f"{kind} makes {len(groups)} param_groups of a list of parameters, must be one")
    return groups[0]


def set_rate(group: dict[str, Any], name: str, rate: float) -> None:
    """Set the learning rate of a group; one that the class keeps as a tensor is filled, as torch's schedulers do."""
    if isinstance(group[name], torch.Tensor):
        group[name].fill_(rate)
    else:
        group[name] = float(rate)


class TorchRun:
    """One ``torch.optim`` optimizer over parameters, and gradients whose memory NumPy arrays share."""

    def __init__(self, entry: TorchClass, keywords: Mapping[str, object], parameters: Sequence[Array]) -> None:
        self._slots, self._sparse = entry.slots, entry.sparse
        self._last_grads: list[Array | None] = [None for _ in parameters]
        self._grad_arrays = [np.zeros_like(parameter, order="C") for parameter in parameters]
        self._grads = [tensor_over(array) for array in self._grad_arrays]
        self._parameters = [parameter_of(param, keywords) for param in parameters]
        self._rate = entry.rate
        self._optimizer = entry.cls(self._parameters, **{entry.rate: MADE_AT}, **keywords)
        self._group = group_of(self._optimizer)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One ``Optimizer.step``; a None gradient becomes ``parameter.grad = None``."""
        self._give(grads, learning_rate)
        self._optimizer.step()
        return values_of(self._parameters)

    def _give(self, grads: Sequence[Array | None], learning_rate: float) -> None:
        """Set gradients and learning rate.

        A gradient that comes in another array than the last one of its parameter gets another tensor, too: that makes
        a difference to an optimizer that keeps the tensor of a gradient, and none to one that keeps its contents.
        """
        set_rate(self._group, self._rate, learning_rate)
        for i, (parameter, grad) in enumerate(zip(self._parameters, grads, strict=True)):
            if grad is None:
                parameter.grad = None
                continue
            if grad is not self._last_grads[i]:
                self._last_grads[i], self._grad_arrays[i] = grad, alike(grad)
                self._grads[i] = tensor_over(self._grad_arrays[i])
            self._grad_arrays[i][...] = grad
            parameter.grad = self._grads[i].to_sparse() if self._sparse else self._grads[i]

    def state(self) -> dict[str, list[Array]]:
        """Return the state, `ABSENT_TENSOR` for a parameter without any; nothing before the first step.

        ``step`` counts per parameter, as 0-dim int64 arrays. Slots that these hyperparameters do not use are absent.
        """
        states = [self._optimizer.state.get(parameter, {}) for parameter in self._parameters]
        slots: dict[str, list[Array]] = {}
        for slot, key in self._slots.items():
            if not any(isinstance(state.get(key), torch.Tensor | int) for state in states):
                continue
            if slot == "step":
                slots[slot] = [np.array(int(state.get(key, 0)), np.int64) for state in states]
            else:
                slots[slot] = [array_of(state[key]) if key in state else ABSENT_TENSOR for state in states]
        return slots

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        for index, parameter in enumerate(self._parameters):
            saved = {
                slot: values[index] for slot, values in state.items() if values[index].dtype != ABSENT_TENSOR.dtype
            }
            if not saved or saved.get("step") == 0:
                continue  # torch makes the state of a parameter in its first update
            self._optimizer.state[parameter] = {
                self._slots[slot]: self._count(array) if slot == "step" else tensor(array)
                for slot, array in saved.items()
            }

    def _count(self, steps: Array) -> Any:
        """Return a number of steps as the class keeps it."""
        return int(steps) if self._sparse else torch.tensor(float(steps), dtype=torch.float32)


@contextmanager
def _memory_filled() -> Iterator[None]:
    """Have torch fill new memory with NaN, so that what is used without having been written shows each time."""
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


class ScalingTorchRun(TorchRun):
    """The same, under a loss scaler and with accumulated gradients, too.

    ``GradScaler`` takes no gradients in float16, and torch multiplies no sparse tensors so; what is differentiable has
    no parameters that torch makes gradients for.
    """

    def step_scaled(self, grads: list[Array | None], learning_rate: float, scale: float) -> list[Array]:
        """One ``GradScaler.step``, which fused optimizers take part in; it refuses a step without any gradient."""
        self._give(grads, learning_rate)
        if any(grad is not None for grad in grads):
            scaler = torch.amp.GradScaler("cpu", init_scale=scale)
            scaler.scale(torch.zeros(()))
            with _memory_filled():
                scaler.step(self._optimizer)
        return values_of(self._parameters)

    def step_accumulated(self, parts: Sequence[list[Array | None]], learning_rate: float) -> list[Array]:
        """One ``Optimizer.step`` behind a backward pass for each part, whose loss is divided by their number."""
        set_rate(self._group, self._rate, learning_rate)
        self._optimizer.zero_grad()
        for part in parts:
            for parameter, grad in zip(self._parameters, part, strict=True):
                if grad is not None:
                    loss = (parameter * tensor(grad)).sum() / len(parts)
                    loss.backward()
        self._optimizer.step()
        return values_of(self._parameters)


Keywords = Callable[[Hyper, Sequence[Array]], Mapping[str, Any]]
"""The keyword arguments of a class for hyperparameters, and the parameters that they are for."""


class TorchGroups:
    """One optimizer over groups of parameters.

    Args:
        entry: its class.
        keywords: the arguments of a group.
        groups: hyperparameters and parameters of each.
    """

    def __init__(self, entry: TorchClass, keywords: Keywords, groups: Sequence[tuple[Hyper, list[Array]]]) -> None:
        self._entry, self._keywords = entry, keywords
        self._parameters: list[torch.nn.Parameter] = []
        made = [self._group(hyper, parameters) for hyper, parameters in groups]
        self._optimizer = entry.cls(made, **{entry.rate: MADE_AT}, **entry.of_all_groups(keywords(*groups[0])))

    def _group(self, hyper: Hyper, parameters: Sequence[Array]) -> dict[str, Any]:
        keywords = self._keywords(hyper, parameters)
        tensors = [parameter_of(array, keywords) for array in parameters]
        self._parameters += tensors
        options = self._entry.of_group(keywords)
        return {"params": tensors, self._entry.rate_of_group: 1.0, **options}

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group, which ``Optimizer.add_param_group`` does."""
        self._optimizer.add_param_group(self._group(hyper, parameters))

    def step(self, grads: list[Array | None], learning_rates: list[float]) -> list[Array]:
        """One ``Optimizer.step``."""
        for group, rate in zip(self._optimizer.param_groups, learning_rates, strict=True):
            set_rate(group, self._entry.rate_of_group, rate)
        for parameter, grad in zip(self._parameters, grads, strict=True):
            dense = None if grad is None else tensor(grad)
            parameter.grad = dense if dense is None or not self._entry.sparse else dense.to_sparse()
        self._optimizer.step()
        return values_of(self._parameters)
