"""Faulty wrappers: the suite must convict every one, each by the law or the oracle that is named here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage, ModelAverage
from optimetry.conformance.subjects.wrappers.clips import ClipByGlobalNorm, ClipByNorm, ClipByValue
from optimetry.conformance.subjects.wrappers.compression import DGCCompress
from optimetry.conformance.subjects.wrappers.decays import L1, L2
from optimetry.conformance.subjects.wrappers.wrapper import VARIANTS, Wrapper, wrapper_named
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.numpy.wrappers import AverageFeed, started
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.averaging.window import FOLD, WindowAverage
from optimetry.reference.norms import norm
from optimetry.reference.rule import State

Start = Callable[[Wrapper, Sequence[Array]], Any]


@dataclass(frozen=True)
class WrapperFault:
    """One defect of one wrapper.

    Attributes:
        name: unique.
        wrapper: the documented wrapper's name.
        convicted_by: the law that convicts it first, or ``oracle``.
        outcome: the verdict, as ``dialect:name`` where it is one.
        start: begins a run, given the documented declaration and the parameters.
    """

    name: str
    wrapper: str
    convicted_by: str
    outcome: str
    start: Start = field(repr=False)


@dataclass
class FaultyTarget(NumpyTarget):
    """The reference with one faulty wrapper."""

    fault: WrapperFault
    version = "0"

    def start_wrapper(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> Any:
        """Begin a run, faulty for the fault's wrapper alone."""
        if wrapper != self.fault.wrapper:
            return super().start_wrapper(wrapper, hyper, parameters)
        return self.fault.start(wrapper_named(wrapper).of(hyper), parameters)


class Softly(ClipByNorm):
    """``g*c/(c + |g|)``: shorter each time."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Never as long as the limit."""
        return [grad * self.clip_norm / (norm(grad) + self.clip_norm) for grad in fed], None


class LargestElement(ClipByNorm):
    """The largest magnitude in place of the norm."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Another norm."""
        sizes = [np.max(np.abs(grad), initial=0.0) for grad in fed]
        return [g * self.clip_norm / np.maximum(n, self.clip_norm) for g, n in zip(fed, sizes, strict=True)], None


class SumOfNorms(ClipByGlobalNorm):
    """The norms are added, not their squares."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Too long a norm."""
        size = sum((norm(grad) for grad in fed[1:]), start=norm(fed[0]))
        return [grad * self.clip_norm / np.maximum(size, self.clip_norm) for grad in fed], None


class UpperEndOnly(ClipByValue):
    """Nothing is too small."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``min(g, upper)``."""
        return [np.minimum(grad, self.max) for grad in fed], None


class SignOfZeroIsOne(L1):
    """Zero is pushed away from."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``g + c`` where w is 0."""
        signs = [np.where(param >= 0, 1.0, -1.0) for param in parameters]
        terms = [(self.regularization_coeff * sign).astype(grad.dtype) for sign, grad in zip(signs, fed, strict=True)]
        return [grad + term for grad, term in zip(fed, terms, strict=True)], None


class NarrowStrength(L2):
    """The strength passes through float16."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Eleven bits of it are left."""
        return replace(self, regularization_coeff=float(np.float16(self.regularization_coeff))).plain(fed, parameters)

    def plain(self, fed: Sequence[Array], parameters: Sequence[Array]) -> tuple[list[Array], Any]:
        """As documented."""
        return super().feed(fed, parameters, None)


class ForgetsTheRest(DGCCompress):
    """What is not sent is lost."""

    def compressed(self, grad: Array, state: State) -> tuple[Array, State]:
        """No error feedback."""
        message, left = super().compressed(grad, state)
        return message, State(u=left.u, v=0 * left.v)


class LargestUpwards(DGCCompress):
    """The largest entries, not those of largest magnitude."""

    def taken(self, u: Array, v: Array) -> Any:
        """Negative entries wait."""
        taken = np.zeros(v.size, bool)
        taken[np.argsort(-v.reshape(-1), kind="stable")[: self.count(v.size)]] = True
        return taken.reshape(v.shape)


class RestoresAverages(AverageFeed):
    """What is applied stays."""

    def restore(self) -> list[Array]:
        """The averages."""
        return [array.copy() for array in self.averages]


class SavesTheApplied(AverageFeed):
    """As ``paddle.incubate.ModelAverage`` 3.3: a second apply takes the averages for the parameters."""

    def apply(self) -> list[Array]:
        """Saves whatever is in the parameters."""
        self.training = self.inside
        return super().apply()


class AverageOfTheAverage(AverageFeed):
    """As PaddlePaddle 1.8: to apply the average changes it."""

    def apply(self) -> list[Array]:
        """The correction stays in the average."""
        updates, held = self._state
        with np.errstate(all="ignore"):
            corrected = held._replace(biased=[e / (1 - held.product) for e in held.biased])
        self._state = updates, corrected
        return super().apply()


class ForgetsTheProduct(AverageFeed):
    """A saved state does not say how far the average has come."""

    def load(self, state: dict[str, list[Array]]) -> None:
        """The product of the decays is 1 again."""
        super().load(state)
        updates, held = self._state
        self._state = updates, held._replace(product=1.0)


class _LosesTheSum(WindowAverage):
    def update(self, state: Any, parameters: Sequence[Array]) -> Any:
        after = super().update(state, parameters)
        return after._replace(folded=[0 * x for x in after.folded]) if after.updates % FOLD == 0 else after


class _LongerOfBoth(WindowAverage):
    def is_full(self, updates: int, in_window: int) -> bool:
        return in_window >= self.minimum and in_window >= max(self.maximum, updates * self.rate)


class FoldLosesTheSum(ModelAverage):
    """What is folded is gone."""

    @property
    def average(self) -> WindowAverage:
        """With the fault."""
        return _LosesTheSum(self.average_window_rate, self.min_average_window, self.max_average_window)


class LongerWindows(ModelAverage):
    """The larger of two limits in place of the smaller."""

    @property
    def average(self) -> WindowAverage:
        """With the fault."""
        return _LongerOfBoth(self.average_window_rate, self.min_average_window, self.max_average_window)


def declared(kind: type[Wrapper]) -> Start:
    """Runs of another declaration with the same hyperparameters."""
    return lambda documented, parameters: started(kind.of(documented.hyper()), parameters)


def named(wrapper: str, variant: str) -> Start:
    """Runs of a variant."""
    return declared(next(one.kind for one in VARIANTS[wrapper] if one.name == variant))


def remembering() -> Start:
    """Runs that all go on with the state of the first."""
    runs: list[AverageFeed] = []

    def start(documented: Wrapper, parameters: Sequence[Array]) -> AverageFeed:
        run = AverageFeed(documented, parameters)
        run._state = runs[-1]._state if runs and len(runs[-1].first) == len(run.first) else None
        if run._state and any(a.shape != b.shape for a, b in zip(runs[-1].first, run.first, strict=True)):
            run._state = None
        runs.append(run)
        return run

    return start


EMA, DGC = ExponentialMovingAverage.name, DGCCompress.name

FAULTS: tuple[WrapperFault, ...] = (
    WrapperFault("softly", "clip_by_norm", "clipping_twice", "diverges", declared(Softly)),
    WrapperFault("largest_element", "clip_by_norm", "oracle", "diverges", declared(LargestElement)),
    WrapperFault(
        "always_scaled",
        "clip_by_norm",
        "clipping_twice",
        "dialect:always_scaled",
        named("clip_by_norm", "always_scaled"),
    ),
    WrapperFault(
        "norm_of_all",
        "clip_by_norm",
        "parameters_are_independent",
        "dialect:global_norm",
        named("clip_by_norm", "global_norm"),
    ),
    WrapperFault("sum_of_norms", "clip_by_global_norm", "sharing_out", "diverges", declared(SumOfNorms)),
    WrapperFault("upper_end_only", "clip_by_value", "sign_symmetry", "diverges", declared(UpperEndOnly)),
    WrapperFault("sign_of_zero", "l1_decay", "sign_symmetry", "diverges", declared(SignOfZeroIsOne)),
    WrapperFault("narrow_strength", "l2_decay", "oracle", "diverges", declared(NarrowStrength)),
    WrapperFault("doubled", "l2_decay", "oracle", "dialect:doubled", named("l2_decay", "doubled")),
    WrapperFault(
        "decay_then_clip",
        "clip_then_decay",
        "decay_behind_clip",
        "dialect:decay_then_clip",
        named("clip_then_decay", "decay_then_clip"),
    ),
    WrapperFault("forgets_the_rest", DGC, "conservation", "diverges", declared(ForgetsTheRest)),
    WrapperFault("largest_upwards", DGC, "sign_symmetry", "diverges", declared(LargestUpwards)),
    WrapperFault("unmasked_velocity", DGC, "dense", "dialect:unmasked_velocity", named(DGC, "unmasked_velocity")),
    WrapperFault(
        "count_rounded_up", DGC, "largest_are_sent", "dialect:count_rounded_up", named(DGC, "count_rounded_up")
    ),
    WrapperFault("uncorrected", DGC, "oracle", "dialect:uncorrected", named(DGC, "uncorrected")),
    WrapperFault("restores_averages", EMA, "restoring", "diverges", RestoresAverages),
    WrapperFault("saves_the_applied", "model_average", "applying_twice", "diverges", SavesTheApplied),
    WrapperFault("average_of_the_average", EMA, "applying_only_reads", "diverges", AverageOfTheAverage),
    WrapperFault("forgets_the_product", EMA, "resuming", "diverges", ForgetsTheProduct),
    WrapperFault("remembering", EMA, "repeatable", "diverges", remembering()),
    WrapperFault("not_corrected", EMA, "constant", "dialect:not_corrected", named(EMA, "not_corrected")),
    WrapperFault("starts_at_first", EMA, "oracle", "dialect:starts_at_first", named(EMA, "starts_at_first")),
    WrapperFault("fold_loses_the_sum", "model_average", "fold", "diverges", declared(FoldLosesTheSum)),
    WrapperFault("longer_windows", "model_average", "two_windows", "diverges", declared(LongerWindows)),
    WrapperFault(
        "whole_windows",
        "model_average",
        "oracle",
        "dialect:whole_windows",
        named("model_average", "whole_windows"),
    ),
)
"""Every fault."""
