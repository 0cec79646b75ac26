"""Optax on JAX as a target: its gradient transformations, operation by operation and compiled, judged apart.

``RULES`` is the whole mapping. Documented hyperparameters are passed as they are. A transformation is a pair of pure
functions, so the one with this step's learning rate takes the state that the one before has left. Every parameter has
a state of its own, because Optax knows no missing gradients: where there is none, the parameter is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import optax

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.jax_caches import caches
from optimetry.conformance.targets.protocol import AverageRun, GradientRun, Hyper


@dataclass(frozen=True)
class OptaxRule:
    """How one documented rule is asked of Optax."""

    make: Callable[..., Any]
    """The function that makes the transformation; its first argument is the learning rate."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Keyword -> documented hyperparameter."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Keywords outside the documented rule that are set all the same."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """Slot -> Optax' name of that part of its state."""

    def keywords(self, hyper: Hyper) -> dict[str, object]:
        """The keyword arguments of ``make`` for ``hyper``."""
        return {**self.constants, **{keyword: hyper[name] for keyword, name in self.arguments.items()}}


MOMENTS = {"moment1": "mu", "moment2": "nu", "step": "count"}

RULES: Mapping[str, OptaxRule] = {
    "sgd": OptaxRule(optax.sgd),
    "momentum": OptaxRule(optax.sgd, {"momentum": "momentum", "nesterov": "use_nesterov"}, slots={"velocity": "trace"}),
    "lars_momentum": OptaxRule(
        optax.lars,
        {"momentum": "momentum", "trust_coefficient": "lars_coeff", "weight_decay": "lars_weight_decay"},
        constants={"eps": 0.0, "nesterov": False},
        slots={"velocity": "trace"},
    ),
    "adagrad": OptaxRule(
        optax.adagrad,
        {"eps": "epsilon", "initial_accumulator_value": "initial_accumulator_value"},
        slots={"moment": "sum_of_squares"},
    ),
    # RMSProp without momentum is the decayed Adagrad of the documents: epsilon outside the root.
    "decayed_adagrad": OptaxRule(
        optax.rmsprop,
        {"decay": "decay", "eps": "epsilon"},
        constants={"eps_in_sqrt": False, "initial_scale": 0.0, "bias_correction": False},
        slots={"moment": "nu"},
    ),
    "adadelta": OptaxRule(
        optax.adadelta,
        {"rho": "rho", "eps": "epsilon"},
        slots={"avg_squared_grad": "e_g", "avg_squared_update": "e_x"},
    ),
    "adam": OptaxRule(optax.adam, {"b1": "beta1", "b2": "beta2", "eps": "epsilon"}, slots=MOMENTS),
    "adamax": OptaxRule(
        optax.adamax,
        {"b1": "beta1", "b2": "beta2", "eps": "epsilon"},
        slots={"moment": "mu", "inf_norm": "nu", "step": "count"},
    ),
    "rmsprop": OptaxRule(
        optax.rmsprop,
        {"decay": "rho", "eps": "epsilon", "momentum": "momentum", "centered": "centered"},
        constants={"eps_in_sqrt": True, "initial_scale": 0.0, "bias_correction": False, "nesterov": False},
        slots={"mean_square": "nu", "mean_grad": "mu", "velocity": "trace"},
    ),
    "lamb": OptaxRule(
        optax.lamb,
        {"b1": "beta1", "b2": "beta2", "eps": "epsilon", "weight_decay": "lamb_weight_decay"},
        slots=MOMENTS,
    ),
}

ABSENT: Mapping[str, str] = {
    "ftrl": "optax has no FTRL transformation",
    "asgd": "optax has no transformation that averages the last gradients",
}

ENGINES = ("eager", "jit")


class OptaxTarget:
    """Optax on the CPU. ``engine`` is ``eager`` or ``jit``.

    ``eager`` runs one JAX operation after the other, in JAX' default configuration. That one has no float64, so for
    float64 parameters, and only while they are worked on, 64-bit types are switched on.

    ``jit`` compiles each update with 64-bit types switched on for every dtype. Only then can hyperparameters be
    arguments of the compiled function instead of constants, to the same bits: compiling takes longer than a whole run,
    and every case has hyperparameters of its own. Beside float32 parameters this changes one thing, the powers of
    Adam's, Adamax' and LAMB's bias corrections are formed in float64.
    """

    name = "optax"
    version = optax.__version__

    def __init__(self, engine: str = "eager") -> None:
        if engine not in ENGINES:
            raise ValueError(f"optax: engine = {engine!r}, must be one of {', '.join(ENGINES)}")
        self.engine = engine

    def engines(self) -> Sequence[OptaxTarget]:
        """One target for each way to run a transformation."""
        return [OptaxTarget(engine) for engine in ENGINES]

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Why Optax does not offer this rule or wrapper, or these hyperparameters."""
        if optimizer in WRAPPERS:
            from optimetry.conformance.targets.optax import wrappers as wrapped

            return wrapped.unsupported(optimizer, hyper)
        if optimizer not in RULES:
            return ABSENT.get(optimizer, f"no transformation of optax is known for {optimizer}")
        if optimizer == "adam" and hyper.get("lazy_mode"):
            return "optax.adam has no lazy mode"
        return None

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> OptaxRun:
        """Begin a run on copies of ``parameters``; raises ValueError with the reason where none is offered."""
        dtype = parameters[0].dtype.name if parameters else "float32"
        reason = self.unsupported(optimizer, hyper, dtype)
        if reason is not None:
            raise ValueError(f"{optimizer}: {reason}")
        caches.used(optimizer, dtype)
        return OptaxRun(optimizer, hyper, parameters, compiled=self.engine == "jit")

    def start_wrapper(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> GradientRun | AverageRun:
        """Begin a run of a clip, a weight decay or an average; raises ValueError where none is offered."""
        from optimetry.conformance.targets.optax import wrappers as wrapped

        caches.used(wrapper, *sorted({array.dtype.name for array in parameters}))
        return wrapped.start(wrapper, hyper, parameters, compiled=self.engine == "jit")


class OptaxRun:
    """One transformation, applied to each parameter that has a gradient."""

    def __init__(self, optimizer: str, hyper: Hyper, parameters: list[Array], compiled: bool) -> None:
        self._rule = RULES[optimizer]
        keywords = self._rule.keywords(hyper)
        switches = {name: value for name, value in keywords.items() if isinstance(value, bool)}
        self._numbers = {name: value for name, value in keywords.items() if name not in switches}
        self._update = (
            compiled_update(optimizer, tuple(switches.items()))
            if compiled
            else functools.partial(update, self._rule, switches)
        )
        self._wide = compiled or any(parameter.dtype == np.float64 for parameter in parameters)
        with configured(self._wide):
            transformation = self._rule.make(0.0, **keywords)
            self._parameters = [jax.numpy.array(parameter) for parameter in parameters]
            self._states = [transformation.init(parameter) for parameter in self._parameters]

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One update of each parameter whose gradient is not None."""
        with configured(self._wide):
            for index, (parameter, grad) in enumerate(zip(self._parameters, grads, strict=True)):
                if grad is not None:
                    self._parameters[index], self._states[index] = self._update(
                        parameter, jax.numpy.asarray(grad), self._states[index], float(learning_rate), self._numbers
                    )
            return [np.array(parameter) for parameter in self._parameters]

    def state(self) -> dict[str, list[Array]]:
        """Every part of the state under its slot's name, or under Optax' where it has none."""
        slots = {part: slot for slot, part in self._rule.slots.items()}
        found: dict[str, list[Array]] = {}
        for state in self._states:
            for path, value in jax.tree_util.tree_leaves_with_path(state):
                found.setdefault(slots.get(path[-1].name, path[-1].name), []).append(np.array(value))
        return found

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        slots = {part: slot for slot, part in self._rule.slots.items()}
        with configured(self._wide):
            self._states = [
                jax.tree_util.tree_map_with_path(
                    lambda path, _, i=index: jax.numpy.array(state[slots.get(path[-1].name, path[-1].name)][i]), held
                )
                for index, held in enumerate(self._states)
            ]


def update(
    rule: OptaxRule,
    switches: Mapping[str, bool],
    parameter: Any,
    grad: Any,
    state: Any,
    learning_rate: Any,
    numbers: Mapping[str, Any],
) -> tuple[Any, Any]:
    """The parameter and its state after one step; ``switches`` and ``numbers`` are the keywords of ``rule.make``."""
    transformation = rule.make(learning_rate, **switches, **numbers)
    updates, state = transformation.update(grad, state, parameter)
    return optax.apply_updates(parameter, updates), state


@functools.cache
def compiled_update(optimizer: str, switches: tuple[tuple[str, bool], ...]) -> Callable[..., tuple[Any, Any]]:
    """`update` of one rule, compiled once for each shape and dtype; numbers are arguments of what is compiled."""
    compiled: Callable[..., tuple[Any, Any]] = jax.jit(functools.partial(update, RULES[optimizer], dict(switches)))
    return compiled


@contextmanager
def configured(wide: bool) -> Iterator[None]:
    """On the CPU, with 64-bit types or without; whatever was configured before holds again afterwards."""
    with jax.enable_x64(wide), jax.default_device(jax.local_devices(backend="cpu")[0]):
        yield


target = OptaxTarget()
