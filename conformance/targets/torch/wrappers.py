"""PyTorch's clips (``torch.nn.utils``), weight decay and averaged models (``torch.optim.swa_utils``).

What torch adds to a gradient for its weight decay shows in the momentum buffer after one step: there it stands before
any learning rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn, get_ema_multi_avg_fn

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.torch.target import array_of, tensor_over

ABSENT: Mapping[str, str] = {
    "dgc_compress": "torch.distributed has no deep gradient compression",
    "l1_decay": "torch.optim has no L1 decay",
    "model_average": "torch.optim.swa_utils averages all updates alike, without windows",
}


def unsupported(wrapper: str, hyper: Hyper, engine: str) -> str | None:
    """Why torch does not offer this wrapper, these hyperparameters or this engine."""
    if wrapper in ABSENT:
        return ABSENT[wrapper]
    if engine == "fused":
        return f"torch has no fused implementation of {wrapper}"
    if wrapper == "clip_by_value" and hyper["min"] != -hyper["max"]:
        return "torch.nn.utils.clip_grad_value_ clips to [-c, c] only"
    if hyper.get("scheduled"):
        return "torch.optim.swa_utils has no schedule of the decay"
    return None


class Gradients:
    """A clip, or a weight decay, or one behind the other."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: Sequence[Array], foreach: bool) -> None:
        self._parameters = [torch.nn.Parameter(tensor(array)) for array in parameters]
        self._foreach, self._hyper, self._wrapper = foreach, hyper, wrapper

    def transform(self, grads: list[Array]) -> list[Array]:
        """What stands in ``.grad``, or in the momentum buffer of the first step, after the wrapper."""
        for parameter, grad in zip(self._parameters, grads, strict=True):
            parameter.grad = tensor(grad)
        self._clip()
        if "regularization_coeff" in self._hyper:
            return self._decayed()
        return [array_of(parameter.grad) for parameter in self._parameters if parameter.grad is not None]

    def _clip(self) -> None:
        if self._wrapper == "clip_by_value":
            clip_grad_value_(self._parameters, self._hyper["max"], foreach=self._foreach)
        elif self._wrapper == "clip_by_norm":
            for parameter in self._parameters:
                clip_grad_norm_([parameter], self._hyper["clip_norm"], foreach=self._foreach)
        elif "clip_norm" in self._hyper:
            clip_grad_norm_(self._parameters, self._hyper["clip_norm"], foreach=self._foreach)

    def _decayed(self) -> list[Array]:
        optimizer = torch.optim.SGD(
            self._parameters,
            lr=0.0,
            momentum=0.5,
            weight_decay=self._hyper["regularization_coeff"],
            foreach=self._foreach,
        )
        optimizer.step()
        return [array_of(optimizer.state[parameter]["momentum_buffer"]) for parameter in self._parameters]


class Average:
    """An `AveragedModel`, whose parameters are loaded into the model to apply them."""

    def __init__(self, hyper: Hyper, parameters: Sequence[Array], foreach: bool) -> None:
        self._model = _Model(parameters)
        decay = hyper["decay"]
        average: dict[str, Callable[..., Any]] = (
            {"multi_avg_fn": get_ema_multi_avg_fn(decay)} if foreach else {"avg_fn": get_ema_avg_fn(decay)}
        )
        self._averaged = AveragedModel(self._model, **average)
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
        """Load what the model had after the last update."""
        self._model.load_state_dict(self._training)
        return self._model.arrays()

    def state(self) -> dict[str, list[Array]]:
        """The ``state_dict`` of the averaged model."""
        return {key: [array_of(value)] for key, value in self._averaged.state_dict().items()}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state`` returned."""
        self._averaged.load_state_dict({key: tensor(arrays[0]) for key, arrays in state.items()})


class _Model(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """Nothing but parameters."""

    def __init__(self, parameters: Sequence[Array]) -> None:
        super().__init__()
        self.all = torch.nn.ParameterList([tensor(array) for array in parameters])

    def state(self) -> dict[str, torch.Tensor]:
        """Copies of the parameters by name."""
        return {key: value.clone() for key, value in self.state_dict().items()}

    def arrays(self) -> list[Array]:
        """Copies of the parameters."""
        return [array_of(parameter.detach()) for parameter in self.all]


def start(wrapper: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Gradients | Average:
    """Begin a run of a wrapper."""
    reason = unsupported(wrapper, hyper, engine)
    if reason is not None:
        raise ValueError(f"{wrapper}: {reason}")
    foreach = engine == "foreach"
    return Average(hyper, parameters, foreach) if "decay" in hyper else Gradients(wrapper, hyper, parameters, foreach)


def tensor(array: Array) -> torch.Tensor:
    """A tensor over memory of its own."""
    return tensor_over(np.array(array, order="C"))
