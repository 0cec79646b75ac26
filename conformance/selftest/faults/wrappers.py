"""Faulty clips, regularizers, averages and compressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.averages import (
    AverageOfTheAverage,
    CorrectedOnce,
    FoldLosesTheSum,
    ForgetsTheProduct,
    LongerWindows,
    RestoresAverages,
    SavesTheApplied,
    SkipsNaN,
)
from optimetry.conformance.selftest.faults.fault import FOUND, Fault, Memory, enter
from optimetry.conformance.selftest.faults.hooks import computing_as
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage, ModelAverage
from optimetry.conformance.subjects.wrappers.clips import ClipByGlobalNorm, ClipByNorm, ClipByValue
from optimetry.conformance.subjects.wrappers.compression import DGCCompress, are_sent
from optimetry.conformance.subjects.wrappers.decays import L1, L2, ClipThenDecay
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.conformance.targets.numpy.wrappers import AverageFeed
from optimetry.reference.clips import clip_by_global_norm
from optimetry.reference.distributed.dgc_momentum import count_sent
from optimetry.reference.norms import norm


class Softly(ClipByNorm):
    """``g*c/(c + |g|)``: clips again what is clipped."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Scale below the limit."""
        return [grad * self.clip_norm / (norm(grad) + self.clip_norm) for grad in fed], None


class GuardedRatio(ClipByNorm):
    """Divides by the norm with a small number added, whether it is above the limit or not."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``g*min(|g|, c)/(|g| + 1e-7)``."""
        ratios = [np.minimum(norm(grad), self.clip_norm) / (norm(grad) + 1e-7) for grad in fed]
        return [grad * ratio for grad, ratio in zip(fed, ratios, strict=True)], None


class LargestElement(ClipByNorm):
    """Takes the largest magnitude in place of the norm."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Scale by another norm."""
        sizes = [np.max(np.abs(grad), initial=0.0) for grad in fed]
        return [g * self.clip_norm / np.maximum(n, self.clip_norm) for g, n in zip(fed, sizes, strict=True)], None


class SumOfNorms(ClipByGlobalNorm):
    """Adds the norms, not their squares."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Scale by too large a norm."""
        size = sum((norm(grad) for grad in fed[1:]), start=norm(fed[0]))
        return [grad * self.clip_norm / np.maximum(size, self.clip_norm) for grad in fed], None


class ZeroesNonfinite(ClipByGlobalNorm):
    """Drops the gradients of a step whose norm is not finite, as trainers do around a loss scaler."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Zeros where an element is infinite or NaN."""
        if all(np.isfinite(grad).all() for grad in fed):
            return super().feed(fed, parameters, state)
        return [np.zeros_like(grad) for grad in fed], None


class SpreadsNaN(ClipByValue):
    """Gives NaN for a whole gradient with NaN in it, as a sum that is looked at does."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Clip, and add 0 or NaN."""
        results, state = super().feed(fed, parameters, state)
        return [np.where(np.isnan(grad).any(), grad + np.nan, grad) for grad in results], state


class UpperEndOnly(ClipByValue):
    """Clips at the upper end alone."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``min(g, upper)``."""
        return [np.minimum(grad, self.max) for grad in fed], None


class SignOfZeroIsOne(L1):
    """Takes 1 for the sign of 0."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``g + c`` where w is 0."""
        signs = [np.where(param >= 0, 1.0, -1.0) for param in parameters]
        terms = [(self.regularization_coeff * sign).astype(grad.dtype) for sign, grad in zip(signs, fed, strict=True)]
        return [grad + term for grad, term in zip(fed, terms, strict=True)], None


class NarrowStrength(L2):
    """Rounds the strength to float16."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Add the term with a strength of eleven bits."""
        narrow = replace(self, regularization_coeff=float(np.float16(self.regularization_coeff)))
        return L2.feed(narrow, fed, parameters, None)


class ForgetsTheRest(DGCCompress):
    """Drops what is not sent."""

    def compressed(self, grad: Array, u: Array, v: Array) -> tuple[Array, tuple[Array, Array]]:
        """Compress without error feedback."""
        message, (u, v) = super().compressed(grad, u, v)
        return message, (u, 0 * v)


class LargestUpwards(DGCCompress):
    """Takes the largest entries, not those of largest magnitude."""

    def taken(self, u: Array, v: Array) -> Any:
        """Take the largest positive entries."""
        taken = np.zeros(v.size, bool)
        taken[np.argsort(-v.reshape(-1), kind="stable")[: count_sent(v.size, self.sparsity)]] = True
        return taken.reshape(v.shape)


class LimitSharedOut(ClipByNorm):
    """Divides the limit among all gradients."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """Clip each gradient to its part of the limit."""
        part = replace(self, clip_norm=self.clip_norm / max(len(fed), 1))
        return ClipByNorm.feed(part, fed, parameters, None)


class TermLimited(ClipThenDecay):
    """Scales the term of the decay by a limit below 1, too."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """``clip(g) + k*min(1, c)*w``."""
        strength = self.regularization_coeff * min(1.0, self.clip_norm)
        pairs = zip(clip_by_global_norm(fed, self.clip_norm), parameters, strict=True)
        return [grad + strength * param for grad, param in pairs], None


class HalfMasked(DGCCompress):
    """Keeps half the momentum of an entry that has just been sent."""

    def left(self, taken: Any, u: Array) -> Array:
        """Halve the momentum."""
        return np.where(taken, u * 0.5, u)


class OneEntryMore(DGCCompress):
    """Sends one entry too many."""

    def taken(self, u: Array, v: Array) -> Any:
        """Take one entry more, if there is one."""
        return are_sent(v, self.sparsity, lambda size, sparsity: min(size, count_sent(size, sparsity) + 1))


class EqualsToo(DGCCompress):
    """Sends every entry that is as large as the smallest that must be sent, as a threshold does."""

    def taken(self, u: Array, v: Array) -> Any:
        """Compare with the threshold."""
        sizes = np.abs(v)
        return sizes >= np.min(sizes, where=are_sent(v, self.sparsity), initial=np.inf)


def _remembering(documented: Wrapper, parameters: list[Array], memory: Memory) -> AverageFeed:
    """Begin runs that continue from the state of the previous one, where shapes allow it."""
    run, last = AverageFeed(documented, parameters), memory.get("last")
    if last is not None and [a.shape for a in last.first] == [a.shape for a in run.first]:
        run._state = last._state
    memory["last"] = run
    return run


EMA, AVERAGE, DGC = ExponentialMovingAverage.name, ModelAverage.name, DGCCompress.name


ONE_EDIT = (
    "softly_clipped",
    "guarded_ratio",
    "upper_end_only",
    "sign_of_zero",
    "longer_windows",
    "forgets_the_rest",
)
"""The faults that `optimetry check` finds, as a change of the formula."""

FURTHER = ("limit_shared_out", "term_limited", "corrected_once", "largest_element", "sum_of_norms")
"""Those that are a change of the formula, too."""


def _fault(
    name: str,
    optimizer: str,
    rejected_by: str | None,
    defect: str,
    kind: type[Wrapper] | type[AverageFeed],
    outcome: str = "diverges",
) -> Fault:
    start = computing_as(kind) if issubclass(kind, Wrapper) else run_as(kind)
    outcome = FOUND if name in ONE_EDIT else outcome
    edited = name in (*ONE_EDIT, *FURTHER)
    return Fault(name, optimizer, defect, start, rejected_by, outcome, edited=edited)


enter(
    _fault("limit_shared_out", "clip_by_norm", "treated_alone", "the limit divided by n", LimitSharedOut),
    _fault("term_limited", "clip_then_decay", "decay_behind_clip", "the limit shortens the term", TermLimited),
    _fault("half_masked", DGC, "dense", "half the momentum of what is sent goes on", HalfMasked),
    _fault("corrected_once", EMA, "constant", "e / (1 - d) at every update", CorrectedOnce),
    _fault("softly_clipped", "clip_by_norm", "clipping_twice", "g*c/(c + |g|): shorter each time", Softly),
    _fault("guarded_ratio", "clip_by_norm", None, "g*min(|g|, c)/(|g| + 1e-7): PyMC", GuardedRatio),
    _fault("largest_element", "clip_by_norm", "oracle", "the largest magnitude for the norm", LargestElement),
    _fault("sum_of_norms", "clip_by_global_norm", "sharing_out", "norms added, not squares", SumOfNorms),
    _fault(
        "zeroes_nonfinite",
        "clip_by_global_norm",
        "nonfinite_gradients_act",
        "a norm that is not finite drops the gradients",
        ZeroesNonfinite,
        "diverges: documented, but takes 0 for all gradients of a step with NaN or an infinity in one",
    ),
    _fault(
        "spreads_nan",
        "clip_by_value",
        "nonfinite_gradients_stay",
        "one NaN makes all elements NaN",
        SpreadsNaN,
        "diverges: documented, but takes NaN for a whole gradient with NaN in it",
    ),
    _fault("upper_end_only", "clip_by_value", "sign_symmetry", "nothing is too small", UpperEndOnly),
    _fault("sign_of_zero", "l1_decay", "sign_symmetry", "sign(0) = 1", SignOfZeroIsOne),
    _fault(
        "narrow_strength",
        "l2_decay",
        "oracle",
        "the strength passes through float16",
        NarrowStrength,
        "imprecise: documented, but rounds its hyperparameters to float16",
    ),
    _fault("forgets_the_rest", DGC, "conservation", "what is not sent is lost", ForgetsTheRest),
    _fault("largest_upwards", DGC, "conservation", "the largest, not by magnitude", LargestUpwards),
    _fault("one_entry_more", DGC, "largest_are_sent", "one entry more is sent", OneEntryMore),
    _fault("equals_too", DGC, "equal_entries", "a threshold: equal entries are all sent", EqualsToo),
    _fault("restores_averages", EMA, "restoring", "what is applied stays", RestoresAverages),
    _fault(
        "saves_the_applied",
        AVERAGE,
        "applying_twice",
        "a second apply takes averages for parameters: paddle.incubate.ModelAverage 3.3",
        SavesTheApplied,
    ),
    _fault(
        "average_of_the_average",
        EMA,
        "applying_only_reads",
        "to apply the average changes it: PaddlePaddle 1.8",
        AverageOfTheAverage,
    ),
    _fault(
        "skips_nan",
        EMA,
        "nonfinite_gradients_act",
        "a NaN among parameters is not averaged",
        SkipsNaN,
        "diverges: documented, but takes 0 for NaN in gradients",
    ),
    _fault("forgets_the_product", EMA, "resuming", "saved without its correction", ForgetsTheProduct),
    Fault(
        "remembers_the_last_run",
        EMA,
        "a run goes on with the state of the last",
        _remembering,
        "repeatable",
        "diverges: documented, but starts with the state that the run before it ended with",
    ),
    _fault("fold_loses_the_sum", AVERAGE, "fold", "what is folded is gone", FoldLosesTheSum),
    _fault("longer_windows", AVERAGE, "two_windows", "the larger of two limits", LongerWindows),
)
