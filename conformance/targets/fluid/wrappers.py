"""Runs of fluid's clips, regularizers and averages of parameters, in static graphs with one program for all parameters.

The results of clips and regularizers are fetched where an optimizer receives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from optimetry.conformance.targets.fluid.dygraph import DygraphTransforming
from optimetry.conformance.targets.fluid.programs import Held, parameter_like
from optimetry.conformance.targets.fluid.rules import DYGRAPH
from optimetry.conformance.targets.offers import FLOATS, OnKernels, passed

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array
    from optimetry.conformance.targets.protocol import Hyper


@dataclass(frozen=True)
class Gradients(OnKernels):
    """Maps a clip, a regularizer, or the two in this order, to arguments of an optimizer."""

    framework = "fluid"
    clip: str = ""
    """The class of ``fluid.clip``, if there is one."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """Its keyword -> documented hyperparameter."""
    regularizer: str = ""
    """The class of ``fluid.regularizer``, if there is one."""
    strength: str = ""
    """The documented hyperparameter that it takes."""
    dtypes: tuple[str, ...] = FLOATS
    """Those that its kernels take."""

    def start(
        self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str
    ) -> Transforming | DygraphTransforming:
        """Begin a run."""
        from paddle import fluid

        keywords: dict[str, Any] = {}
        if self.clip:
            keywords["grad_clip"] = getattr(fluid.clip, self.clip)(**passed(self.limits, hyper))
        if self.regularizer:
            keywords["regularization"] = getattr(fluid.regularizer, self.regularizer)(hyper[self.strength])
        return (DygraphTransforming if engine == DYGRAPH else Transforming)(keywords, parameters)


class Transforming:
    """A program with an optimizer that clips and decays, and the gradients that its updates are given."""

    def __init__(self, keywords: Mapping[str, Any], parameters: Sequence[Array]) -> None:
        from paddle import fluid

        self._program, start = fluid.Program(), fluid.Program()
        with fluid.program_guard(self._program, start), fluid.unique_name.guard():
            pairs = [
                (parameter_like(array, i), fluid.data(f"grad{i}", list(array.shape), array.dtype.name))
                for i, array in enumerate(parameters)
            ]
            fluid.optimizer.SGDOptimizer(learning_rate=0.0, **keywords).apply_gradients(pairs)
        updates = [op for op in self._program.global_block().ops if op.type == "sgd"]
        grad_of = {op.input("Param")[0]: op.input("Grad")[0] for op in updates}
        self._fed, self._fetched = [grad.name for _, grad in pairs], [grad_of[weight.name] for weight, _ in pairs]
        self._parameters = {weight.name: array for (weight, _), array in zip(pairs, parameters)}
        self._held = Held(start)
        self._held.begin()

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return what updates are given for these gradients."""
        for name, array in self._parameters.items():
            self._held.put(name, array)
        return self._held.run(self._program, dict(zip(self._fed, grads)), self._fetched)


@dataclass(frozen=True)
class Average(OnKernels):
    """Maps a documented average of parameters to a class of ``fluid.optimizer``."""

    framework = "fluid"
    cls: str
    arguments: tuple[str, ...]
    """Documented hyperparameters, in the order of the class's first arguments."""
    schedule: str = ""
    """The flag that gives the class the number of the update as ``thres_steps``."""
    dtypes: tuple[str, ...] = FLOATS
    """Those that its kernels take."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return why not in this dtype or engine."""
        if engine == DYGRAPH:
            return f"fluid.optimizer.{self.cls} refuses to be used in dygraph"
        return super().refusal(subject, hyper, dtype, engine)

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> Averaging:
        """Begin a run."""
        scheduled = bool(self.schedule and hyper[self.schedule])
        return Averaging(self.cls, [hyper[name] for name in self.arguments], scheduled, parameters)


class Averaging:
    """A program that feeds an average of parameters, which has programs of its own to apply and to restore it."""

    def __init__(self, cls: str, numbers: Sequence[Any], scheduled: bool, parameters: Sequence[Array]) -> None:
        from paddle import fluid

        self._program, start = fluid.Program(), fluid.Program()
        with fluid.program_guard(self._program, start), fluid.unique_name.guard():
            self._names = [parameter_like(array, i).name for i, array in enumerate(parameters)]
            counter = fluid.layers.learning_rate_scheduler._decay_step_counter  # as in the document's example
            counted = {"thres_steps": counter()} if scheduled else {}
            self._average = getattr(fluid.optimizer, cls)(*numbers, **counted)
            if hasattr(self._average, "update"):  # ModelAverage has appended its operator already
                self._average.update()
        self._held = Held(start)
        self._held.begin()

    def update(self, parameters: list[Array]) -> None:
        """Set the parameters of training, and run the program."""
        for name, array in zip(self._names, parameters):
            self._held.put(name, array)
        self._held.run(self._program, {})

    def apply(self) -> list[Array]:
        """Apply the average, not to be restored at its end."""
        with self._held.entered(), self._average.apply(self._held.executor, need_restore=False):
            return [self._held.value(name) for name in self._names]

    def restore(self) -> list[Array]:
        """Restore the parameters of training."""
        with self._held.entered():
            self._average.restore(self._held.executor)
        return [self._held.value(name) for name in self._names]
