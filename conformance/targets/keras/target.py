"""Keras (``keras.optimizers``) as a target: its backends torch, jax and numpy, judged apart.

``CLASSES`` is the whole mapping. Documented hyperparameters are passed as they are; where a class computes another rule
under the same name, that is for the suite to find.

Keras settles its backend when it is imported, so each backend runs in a process of its own, started by the first run
that needs it. This is the near end; the far end is `keras_process`, which is named here and not imported.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata, util
from typing import Any

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.keras import wrappers as wrapped
from optimetry.conformance.targets.protocol import AverageRun, GradientRun, Hyper


@dataclass(frozen=True)
class KerasClass:
    """How one documented rule is asked of ``keras.optimizers``."""

    cls: str
    """The name of the class in ``keras.optimizers``."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Keyword of the class -> documented hyperparameter."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Keywords outside the documented rule that are set all the same."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """Slot -> Keras' name of the variable."""

    def keywords(self, hyper: Hyper) -> dict[str, object]:
        """The keyword arguments of the class for ``hyper``."""
        return {**self.constants, **{keyword: hyper[name] for keyword, name in self.arguments.items()}}


CLASSES: Mapping[str, KerasClass] = {
    "sgd": KerasClass("SGD"),
    # Keras keeps the learning rate inside its momentum, so that is not the documented velocity.
    "momentum": KerasClass("SGD", {"momentum": "momentum", "nesterov": "use_nesterov"}),
    "adagrad": KerasClass(
        "Adagrad",
        {"epsilon": "epsilon", "initial_accumulator_value": "initial_accumulator_value"},
        slots={"moment": "accumulator"},
    ),
    # RMSprop without momentum comes nearest to the decayed Adagrad of the documents; no other class decays the sum.
    "decayed_adagrad": KerasClass("RMSprop", {"rho": "decay", "epsilon": "epsilon"}, slots={"moment": "velocity"}),
    "adadelta": KerasClass(
        "Adadelta",
        {"rho": "rho", "epsilon": "epsilon"},
        slots={"avg_squared_grad": "accumulated_grad", "avg_squared_update": "accumulated_delta_var"},
    ),
    "adam": KerasClass(
        "Adam",
        {"beta_1": "beta1", "beta_2": "beta2", "epsilon": "epsilon"},
        slots={"moment1": "momentum", "moment2": "velocity"},
    ),
    "adamax": KerasClass(
        "Adamax",
        {"beta_1": "beta1", "beta_2": "beta2", "epsilon": "epsilon"},
        slots={"moment": "momentum", "inf_norm": "norm"},
    ),
    "rmsprop": KerasClass(
        "RMSprop",
        {"rho": "rho", "epsilon": "epsilon", "momentum": "momentum", "centered": "centered"},
        slots={"mean_square": "velocity", "mean_grad": "average_gradient", "velocity": "momentum"},
    ),
    "ftrl": KerasClass(
        "Ftrl",
        {
            "l1_regularization_strength": "l1",
            "l2_regularization_strength": "l2",
            "learning_rate_power": "lr_power",
        },
        constants={"initial_accumulator_value": 0.0},
        slots={"squared_accum": "accumulator", "linear_accum": "linear"},
    ),
    "lamb": KerasClass(
        "Lamb",
        {"weight_decay": "lamb_weight_decay", "beta_1": "beta1", "beta_2": "beta2", "epsilon": "epsilon"},
        slots={"moment1": "momentum", "moment2": "velocity"},
    ),
}

ABSENT: Mapping[str, str] = {
    "lars_momentum": "keras.optimizers has no LARS class",
    "asgd": "keras.optimizers has no class that averages the last gradients",
}

ENGINES = ("torch", "jax", "numpy")

FAR_END = "optimetry.conformance.targets.keras.process"
"""The module that a backend's process runs."""

ON_THE_CPU = {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "KERAS_TORCH_DEVICE": "cpu"}

WIDE_JAX = {"JAX_ENABLE_X64": "1"}
"""JAX has no float64 unless told so. No update of Keras computes otherwise for being told."""


class KerasTarget:
    """``keras.optimizers`` on the CPU. ``engine`` is the backend: ``torch``, ``jax`` or ``numpy``.

    ``floatx`` is set to the parameters' dtype, the way Keras documents for float64; with its default, Keras holds every
    learning rate in float32.

    One optimizer updates all parameters, as in training, until one of them has no gradient. Keras counts the steps of
    an optimizer, not of a parameter, and refuses a step without any gradient. So those without a gradient then go on
    with an optimizer of their own, which takes over their state and takes no step.
    """

    name = "keras"
    version = metadata.version("keras")

    def __init__(self, engine: str = "numpy") -> None:
        if engine not in ENGINES:
            raise ValueError(f"keras: engine = {engine!r}, must be one of {', '.join(ENGINES)}")
        self.engine = engine

    def engines(self) -> Sequence[KerasTarget]:
        """One target for each backend that is installed; Keras brings the one for NumPy itself."""
        return [KerasTarget(engine) for engine in ENGINES if util.find_spec(engine)]

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Why Keras does not offer this rule or wrapper, or these hyperparameters."""
        if optimizer in WRAPPERS:
            return wrapped.unsupported(optimizer, hyper)
        if optimizer not in CLASSES:
            return ABSENT.get(optimizer, f"no class of keras.optimizers is known for {optimizer}")
        if optimizer == "adam" and hyper.get("lazy_mode"):
            return "keras.optimizers.Adam has no lazy mode"
        return None

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> KerasRun:
        """Begin a run on copies of ``parameters``; raises ValueError with the reason where none is offered."""
        dtype = parameters[0].dtype.name if parameters else "float32"
        reason = self.unsupported(optimizer, hyper, dtype)
        if reason is not None:
            raise ValueError(f"{optimizer}: {reason}")
        return KerasRun(Backend.of(self.engine), CLASSES[optimizer], hyper, parameters)

    def start_wrapper(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> GradientRun | AverageRun:
        """Begin a run of a clip or a moving average; raises ValueError with the reason where none is offered."""
        reason = wrapped.unsupported(wrapper, hyper)
        if reason is not None:
            raise ValueError(f"{wrapper}: {reason}")
        backend = Backend.of(self.engine)
        number = backend.start("start_wrapper", wrapped.keywords(wrapper, hyper), parameters)
        run = wrapped.NearWrapper(backend, number)
        weakref.finalize(run, backend.over.append, number)
        return run


class KerasRun:
    """The near end of one run: every call is one request to the backend's process."""

    def __init__(self, backend: Backend, entry: KerasClass, hyper: Hyper, parameters: list[Array]) -> None:
        self._backend = backend
        self._slots = {variable: slot for slot, variable in entry.slots.items()}
        self._number = backend.start("start", entry.cls, entry.keywords(hyper), parameters)
        weakref.finalize(self, backend.over.append, self._number)

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One step of every optimizer whose parameters have gradients."""
        after: list[Array] = self._backend.ask("step", self._number, (grads, float(learning_rate)))
        return after

    def state(self) -> dict[str, list[Array]]:
        """The optimizers' variables, one of each name for each parameter; ``iteration`` counts the steps."""
        held = self._backend.ask("state", self._number, ())
        return {self._slots.get(name, name): arrays for name, arrays in held.items()}

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        names = {slot: name for name, slot in self._slots.items()}
        self._backend.ask("load", self._number, ({names.get(slot, slot): value for slot, value in state.items()},))


class Backend:
    """The process of one backend, as seen from this one.

    Raises:
        RuntimeError: the process is gone or did not start, or what was asked for raised there.
    """

    running: dict[str, Backend] = {}  # noqa: RUF012  # shared on purpose: one process for each backend

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._started = 0
        self.over: list[int] = []
        """The numbers of runs that nobody holds any more; the next request mentions them."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", FAR_END],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ON_THE_CPU, **WIDE_JAX, "KERAS_BACKEND": engine},
        )
        atexit.register(self.end)
        self._answer()

    @classmethod
    def of(cls, engine: str) -> Backend:
        """The process of this backend, started if there is none."""
        if engine not in cls.running:
            cls.running[engine] = cls(engine)
        return cls.running[engine]

    def start(self, verb: str, *arguments: Any) -> int:
        """Begin a run there, with ``start`` of an optimizer or with ``start_wrapper`` of a wrapper; its number."""
        self._started += 1
        self.ask(verb, self._started, arguments)
        return self._started

    def ask(self, verb: str, number: int, arguments: tuple[Any, ...]) -> Any:
        """What a method of a run over there returns."""
        over = self.over[:]
        del self.over[: len(over)]
        request = pickle.dumps((verb, number, arguments, over), protocol=pickle.HIGHEST_PROTOCOL)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except (OSError, ValueError):  # a broken pipe, or one that `end` has closed
            raise RuntimeError(self._loss()) from None
        return self._answer()

    def end(self) -> None:
        """End the process, and forget it: the next run starts another."""
        if self.running.get(self._engine) is self:
            del self.running[self._engine]
        atexit.unregister(self.end)
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        try:
            done, content = pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            raise RuntimeError(self._loss()) from None
        except BaseException:  # such as the alarm of a time limit: an answer that comes later must find no reader
            self.end()
            raise
        if not done:
            raise RuntimeError(content)
        return content

    def _loss(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        self.end()
        return f"keras: the process of its {self._engine} backend ended with status {self._process.returncode}"


target = KerasTarget()
