"""Faulty clips, regularizers, averages and compressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage, ModelAverage
from optimetry.conformance.subjects.wrappers.clips import ClipByGlobalNorm, ClipByNorm, ClipByValue
from optimetry.conformance.subjects.wrappers.compression import DGCCompress
from optimetry.conformance.subjects.wrappers.decays import L1, L2, ClipThenDecay
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.numpy.wrappers import AverageFeed
from optimetry.reference.averaging.window import FOLD, WindowAverage
from optimetry.reference.clips import clip_by_global_norm
from optimetry.reference.norms import norm


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

    def compressed(self, grad: Array, u: Array, v: Array) -> tuple[Array, tuple[Array, Array]]:
        """No error feedback."""
        message, (u, v) = super().compressed(grad, u, v)
        return message, (u, 0 * v)


class LargestUpwards(DGCCompress):
    """The largest entries, not those of largest magnitude."""

    def taken(self, u: Array, v: Array) -> Any:
        """Negative entries wait."""
        taken = np.zeros(v.size, bool)
        taken[np.argsort(-v.reshape(-1), kind="stable")[: self.count(v.size)]] = True
        return taken.reshape(v.shape)


class LimitSharedOut(ClipByNorm):
    """The limit is for all gradients together."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Each gradient gets its part of it."""
        return replace(self, clip_norm=self.clip_norm / max(len(fed), 1)).whole(fed, parameters)

    def whole(self, fed: Sequence[Array], parameters: Sequence[Array]) -> tuple[list[Array], Any]:
        """As documented."""
        return super().feed(fed, parameters, None)


class TermLimited(ClipThenDecay):
    """A limit below 1 shortens the term of the decay, too."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``clip(g) + k*min(1, c)*w``."""
        strength = self.regularization_coeff * min(1.0, self.clip_norm)
        pairs = zip(clip_by_global_norm(fed, self.clip_norm), parameters, strict=True)
        return [grad + strength * param for grad, param in pairs], None


class HalfMasked(DGCCompress):
    """Half the momentum goes on where an entry has just been sent."""

    def left(self, taken: Any, u: Array) -> Array:
        """Half of it."""
        return np.where(taken, u * 0.5, u)


class CorrectedOnce(ExponentialMovingAverage):
    """The correction is that of the first update, whatever the update."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``e / (1 - d)``."""
        _, state = super().feed(fed, parameters, state)
        return [e / (1 - self.decay) for e in state[1].biased], state


class OneEntryMore(DGCCompress):
    """The count is rounded up, and once more."""

    def count(self, size: int) -> int:
        """One entry more, where there is one."""
        return min(size, super().count(size) + 1)


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


def _declared(kind: type[Wrapper]) -> Start:
    """Runs of another declaration with the same hyperparameters."""
    return lambda documented, parameters, memory: run_of(kind.of(documented.hyper()), parameters)


def _average(kind: type[AverageFeed]) -> Start:
    """Runs of another class of average."""
    return lambda documented, parameters, memory: kind(documented, parameters)


def _remembering(documented: Wrapper, parameters: list[Array], memory: Memory) -> AverageFeed:
    """Runs that all go on with the state of the run before, where shapes allow it."""
    run, last = AverageFeed(documented, parameters), memory.get("last")
    if last is not None and [a.shape for a in last.first] == [a.shape for a in run.first]:
        run._state = last._state
    memory["last"] = run
    return run


EMA, AVERAGE, DGC = ExponentialMovingAverage.name, ModelAverage.name, DGCCompress.name


def _fault(name: str, optimizer: str, rejected_by: str, defect: str, start: Start) -> Fault:
    return Fault(name=name, optimizer=optimizer, defect=defect, start=start, rejected_by=rejected_by)


enter(
    _fault("limit_shared_out", "clip_by_norm", "treated_alone", "the limit divided by n", _declared(LimitSharedOut)),
    _fault(
        "term_limited", "clip_then_decay", "decay_behind_clip", "the limit shortens the term", _declared(TermLimited)
    ),
    _fault("half_masked", DGC, "dense", "half the momentum of what is sent goes on", _declared(HalfMasked)),
    _fault("corrected_once", EMA, "constant", "e / (1 - d) at every update", _declared(CorrectedOnce)),
    _fault("softly_clipped", "clip_by_norm", "clipping_twice", "g*c/(c + |g|): shorter each time", _declared(Softly)),
    _fault(
        "largest_element", "clip_by_norm", "oracle", "the largest magnitude for the norm", _declared(LargestElement)
    ),
    _fault("sum_of_norms", "clip_by_global_norm", "sharing_out", "norms added, not squares", _declared(SumOfNorms)),
    _fault("upper_end_only", "clip_by_value", "sign_symmetry", "nothing is too small", _declared(UpperEndOnly)),
    _fault("sign_of_zero", "l1_decay", "sign_symmetry", "sign(0) = 1", _declared(SignOfZeroIsOne)),
    _fault("narrow_strength", "l2_decay", "oracle", "the strength passes through float16", _declared(NarrowStrength)),
    _fault("forgets_the_rest", DGC, "conservation", "what is not sent is lost", _declared(ForgetsTheRest)),
    _fault("largest_upwards", DGC, "conservation", "the largest, not by magnitude", _declared(LargestUpwards)),
    _fault("one_entry_more", DGC, "largest_are_sent", "one entry more is sent", _declared(OneEntryMore)),
    _fault("restores_averages", EMA, "restoring", "what is applied stays", _average(RestoresAverages)),
    _fault(
        "saves_the_applied",
        AVERAGE,
        "applying_twice",
        "a second apply takes averages for parameters: paddle.incubate.ModelAverage 3.3",
        _average(SavesTheApplied),
    ),
    _fault(
        "average_of_the_average",
        EMA,
        "applying_only_reads",
        "to apply the average changes it: PaddlePaddle 1.8",
        _average(AverageOfTheAverage),
    ),
    _fault("forgets_the_product", EMA, "resuming", "saved without its correction", _average(ForgetsTheProduct)),
    _fault("remembers_the_last_run", EMA, "repeatable", "a run goes on with the state of the last", _remembering),
    _fault("fold_loses_the_sum", AVERAGE, "fold", "what is folded is gone", _declared(FoldLosesTheSum)),
    _fault("longer_windows", AVERAGE, "two_windows", "the larger of two limits", _declared(LongerWindows)),
)
