"""Runs of PyTorch's clips (``torch.nn.utils``), weight decay and averaged models (``torch.optim.swa_utils``).

The decay term that torch adds to a gradient is read from the momentum buffer after one step, which no learning rate has
scaled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim.swa_utils import AveragedModel

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.offers import Offer, lopsided
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.torch.rules import array_of, tensor

LOOPS = ("single", "foreach")
"""The implementations that are chosen by ``foreach`` alone."""


@dataclass(frozen=True)
class Clip(Offer):
    """A function that clips the gradients of parameters in place."""

    function: Callable[..., Any]
    limit: str
    """The documented hyperparameter that it takes."""
    apart: bool = False
    """Whether it is called for one parameter at a time."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Why torch refuses."""
        if engine not in LOOPS:
            return f"torch has no {engine} implementation of {subject}"
        if lopsided(hyper):
            return f"torch.nn.utils.{self.function.__name__} clips to [-c, c] only"
        return None

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Clipping:
        """Begin a run."""
        return Clipping(parameters, lambda held: self.call(held, hyper, engine))

    def call(self, parameters: Sequence[torch.nn.Parameter], hyper: Hyper, engine: str) -> None:
        """Clip the gradients of these parameters."""
        for group in [[parameter] for parameter in parameters] if self.apart else [parameters]:
            self.function(group, hyper[self.limit], foreach=engine == "foreach")


@dataclass(frozen=True)
class Decay(Offer):
    """The weight decay of an optimizer with momentum, behind a clip or not."""

    cls: Any
    strength: str
    """The documented hyperparameter that is its ``weight_decay``."""
    behind: Clip | None = None

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Why torch refuses."""
        return None if engine in LOOPS else f"torch has no {engine} implementation of {subject}"

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Clipping:
        """Begin a run."""
        keywords = {"momentum": 0.5, "weight_decay": hyper[self.strength], "foreach": engine == "foreach"}
        clip = self.behind
        return Clipping(
            parameters,
            (lambda held: clip.call(held, hyper, engine)) if clip else lambda held: None,
            lambda held: self.cls(held, lr=0.0, **keywords),
        )


@dataclass(frozen=True)
class Average(Offer):
    """An `AveragedModel` with a moving average."""

    decay: str
    """The documented hyperparameter that its function takes."""
    functions: Mapping[str, tuple[str, Callable[..., Any]]]
    """Engine -> the keyword of the model, and what makes its function."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Why torch refuses."""
        if engine not in self.functions:
            return f"torch has no {engine} implementation of {subject}"
        return "torch.optim.swa_utils has no schedule of the decay" if hyper.get("scheduled") else None

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Averaging:
        """Begin a run."""
        keyword, function = self.functions[engine]
        return Averaging(parameters, {keyword: function(hyper[self.decay])})


class Clipping:
    """Parameters, what clips their gradients in place, and the optimizer that decays them, if there is one."""

    def __init__(
        self,
        parameters: Sequence[Array],
        clip: Callable[[Sequence[torch.nn.Parameter]], None],
        optimizer: Callable[[Sequence[torch.nn.Parameter]], Any] | None = None,
    ) -> None:
        self._parameters = [torch.nn.Parameter(tensor(array)) for array in parameters]
        self._clip, self._make = clip, optimizer

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return ``.grad`` after the clip, or the momentum buffer of a first step."""
        for parameter, grad in zip(self._parameters, grads, strict=True):
            parameter.grad = tensor(grad)
        self._clip(self._parameters)
        if self._make is None:
            return [array_of(parameter.grad) for parameter in self._parameters if parameter.grad is not None]
        optimizer = self._make(self._parameters)
        optimizer.step()
        return [array_of(optimizer.state[parameter]["momentum_buffer"]) for parameter in self._parameters]


class Averaging:
    """An `AveragedModel`, whose parameters are loaded into the model to apply them."""

    def __init__(self, parameters: Sequence[Array], function: Mapping[str, Any]) -> None:
        self._model = _Model(parameters)
        self._averaged = AveragedModel(self._model, **function)
        self._training = self._model.state()

    def update(self, parameters: list[Array]) -> None:
        """``update_parameters`` on the model with these parameters."""
        self._model.load_state_dict({f"all.{i}": tensor(array) for i, array in enumerate(parameters)})
        self._averaged.update_parameters(self._model)
        self._training = self._model.state()

    def apply(self) -> list[Array]:
        """Load the averaged parameters into the model."""
        self._model.load_state_dict(self._averaged.module.state_dict())
        return self._model.arrays()

    def restore(self) -> list[Array]:
        """Load the parameters of the last update."""
        self._model.load_state_dict(self._training)
        return self._model.arrays()

    def state(self) -> dict[str, list[Array]]:
        """The ``state_dict`` of the averaged model."""
        return {key: [array_of(value)] for key, value in self._averaged.state_dict().items()}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state`` returned."""
        self._averaged.load_state_dict({key: tensor(arrays[0]) for key, arrays in state.items()})


class _Model(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """A model of parameters alone."""

    def __init__(self, parameters: Sequence[Array]) -> None:
        super().__init__()
        self.all = torch.nn.ParameterList([tensor(array) for array in parameters])

    def state(self) -> dict[str, torch.Tensor]:
        """Copies of the parameters by name."""
        return {key: value.clone() for key, value in self.state_dict().items()}

    def arrays(self) -> list[Array]:
        """Copies of the parameters."""
        return [array_of(parameter.detach()) for parameter in self.all]
