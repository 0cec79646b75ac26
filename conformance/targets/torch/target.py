"""PyTorch (``torch.optim``) as a target: the single-tensor, foreach and fused implementations, judged apart.

``CLASSES`` is the whole mapping. Documented hyperparameters are passed as they are; where a class computes another
rule under the same name (epsilon elsewhere, say), that is for the suite to find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import torch

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.protocol import AverageRun, GradientRun, Hyper


@dataclass(frozen=True)
class TorchClass:
    """How one documented rule is asked of ``torch.optim``."""

    cls: Any
    """The class in ``torch.optim``."""
    arguments: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    """Keyword of the class -> documented hyperparameter, or several of them as a tuple."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Keywords outside the documented rule that are set all the same."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """Slot -> torch's state key; what has no documented counterpart keeps torch's key."""
    fused: bool = False
    """Whether the class takes ``fused=True`` on the CPU."""

    def keywords(self, hyper: Hyper) -> dict[str, object]:
        """The keyword arguments of the class for ``hyper``."""
        named = {
            keyword: tuple(float(hyper[name]) for name in source) if isinstance(source, tuple) else hyper[source]
            for keyword, source in self.arguments.items()
        }
        return {**self.constants, **named}


CLASSES: Mapping[str, TorchClass] = {
    "sgd": TorchClass(torch.optim.SGD, fused=True),
    "momentum": TorchClass(
        torch.optim.SGD,
        {"momentum": "momentum", "nesterov": "use_nesterov"},
        constants={"dampening": 0.0},
        slots={"velocity": "momentum_buffer"},
        fused=True,
    ),
    "adagrad": TorchClass(
        torch.optim.Adagrad,
        {"eps": "epsilon", "initial_accumulator_value": "initial_accumulator_value"},
        constants={"lr_decay": 0.0},
        slots={"moment": "sum", "step": "step"},
        fused=True,
    ),
    # RMSprop without momentum is the decayed Adagrad of the documents: epsilon outside the root.
    "decayed_adagrad": TorchClass(
        torch.optim.RMSprop,
        {"alpha": "decay", "eps": "epsilon"},
        slots={"moment": "square_avg", "step": "step"},
    ),
    "adadelta": TorchClass(
        torch.optim.Adadelta,
        {"rho": "rho", "eps": "epsilon"},
        slots={"avg_squared_grad": "square_avg", "avg_squared_update": "acc_delta", "step": "step"},
    ),
    "adam": TorchClass(
        torch.optim.Adam,
        {"betas": ("beta1", "beta2"), "eps": "epsilon"},
        slots={"moment1": "exp_avg", "moment2": "exp_avg_sq", "step": "step"},
        fused=True,
    ),
    "adamax": TorchClass(
        torch.optim.Adamax,
        {"betas": ("beta1", "beta2"), "eps": "epsilon"},
        slots={"moment": "exp_avg", "inf_norm": "exp_inf", "step": "step"},
    ),
    # torch keeps the learning rate outside its momentum buffer, so that is not the documented velocity.
    "rmsprop": TorchClass(
        torch.optim.RMSprop,
        {"alpha": "rho", "eps": "epsilon", "momentum": "momentum", "centered": "centered"},
        slots={
            "mean_square": "square_avg",
            "mean_grad": "grad_avg",
            "momentum_buffer": "momentum_buffer",
            "step": "step",
        },
    ),
}

ABSENT: Mapping[str, str] = {
    "lars_momentum": "torch.optim has no LARS class",
    "ftrl": "torch.optim has no FTRL class",
    "lamb": "torch.optim has no LAMB class",
    "asgd": "torch.optim.ASGD is Polyak averaging, another algorithm",
}

ENGINES: Mapping[str, Mapping[str, bool]] = {
    "single": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"foreach": False, "fused": True},
}


class TorchTarget:
    """``torch.optim`` on the CPU. ``engine`` is ``single``, ``foreach`` or ``fused``."""

    name = "torch"
    version = torch.__version__.split("+")[0]

    def __init__(self, engine: str = "single") -> None:
        if engine not in ENGINES:
            raise ValueError(f"torch: engine = {engine!r}, must be one of {', '.join(ENGINES)}")
        self.engine = engine

    def engines(self) -> Sequence[TorchTarget]:
        """One target for each implementation inside ``torch.optim``."""
        return [TorchTarget(engine) for engine in ENGINES]

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Why torch does not offer this rule or wrapper, these hyperparameters or this engine."""
        if optimizer in WRAPPERS:
            from optimetry.conformance.targets.torch import wrappers as wrapped

            return wrapped.unsupported(optimizer, hyper, self.engine)
        if optimizer not in CLASSES:
            return ABSENT.get(optimizer, f"no class of torch.optim is known for {optimizer}")
        entry = CLASSES[optimizer]
        if self.engine == "fused" and not entry.fused:
            return f"torch.optim.{entry.cls.__name__} has no fused implementation"
        if hyper.get("use_nesterov") and hyper["momentum"] == 0:
            return "torch.optim.SGD refuses nesterov with momentum 0"
        if optimizer == "adam" and hyper.get("lazy_mode"):
            return "torch.optim.Adam has no lazy mode; SparseAdam takes sparse gradients only"
        return None

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> TorchRun:
        """Begin a run on copies of ``parameters``; raises ValueError with the reason where none is offered."""
        dtype = parameters[0].dtype.name if parameters else "float32"
        reason = self.unsupported(optimizer, hyper, dtype)
        if reason is not None:
            raise ValueError(f"{optimizer}: {reason}")
        return TorchRun(CLASSES[optimizer], {**CLASSES[optimizer].keywords(hyper), **ENGINES[self.engine]}, parameters)

    def start_wrapper(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> GradientRun | AverageRun:
        """Begin a run of a clip, a weight decay or an averaged model; raises ValueError where none is offered."""
        from optimetry.conformance.targets.torch import wrappers as wrapped

        return wrapped.start(wrapper, hyper, parameters, self.engine)


class TorchRun:
    """One ``torch.optim`` optimizer over parameters and gradients whose memory NumPy arrays share."""

    def __init__(self, entry: TorchClass, keywords: Mapping[str, object], parameters: list[Array]) -> None:
        self._slots = entry.slots
        self._arrays = [np.array(parameter, order="C") for parameter in parameters]
        self._grad_arrays = [np.zeros_like(array) for array in self._arrays]
        self._grads = [tensor_over(array) for array in self._grad_arrays]
        self._parameters = [torch.nn.Parameter(tensor_over(array)) for array in self._arrays]
        self._optimizer = entry.cls(self._parameters, lr=0.0, **keywords)
        (self._group,) = self._optimizer.param_groups

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One ``Optimizer.step``; a None gradient becomes ``parameter.grad = None``."""
        self._group["lr"] = float(learning_rate)
        for parameter, tensor, array, grad in zip(self._parameters, self._grads, self._grad_arrays, grads, strict=True):
            if grad is None:
                parameter.grad = None
            else:
                array[...] = grad
                parameter.grad = tensor
        self._optimizer.step()
        return [array.copy() for array in self._arrays]

    def state(self) -> dict[str, list[Array]]:
        """The state kept so far, zero for a parameter that torch has not met; empty before the first step.

        ``step`` counts per parameter, as 0-dim int64 arrays. Slots that these hyperparameters do not use are absent.
        """
        states = [self._optimizer.state.get(parameter, {}) for parameter in self._parameters]
        found: dict[str, list[Array]] = {}
        for slot, key in self._slots.items():
            if not any(isinstance(state.get(key), torch.Tensor) for state in states):
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
            self._optimizer.state[parameter] = {
                self._slots[slot]: torch.tensor(float(values[index]), dtype=torch.float32)
                if slot == "step"
                else tensor_over(np.array(values[index], order="C"))
                for slot, values in state.items()
            }


def tensor_over(array: Array) -> torch.Tensor:
    """A tensor over the memory of ``array``. torch does not know NumPy's bfloat16, so its bits are passed."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def array_of(tensor: torch.Tensor) -> Array:
    """A fresh NumPy copy of ``tensor``."""
    if tensor.dtype == torch.bfloat16:
        return np.array(tensor.view(torch.uint16).numpy()).view(ml_dtypes.bfloat16)
    return np.array(tensor.numpy())


target = TorchTarget()
