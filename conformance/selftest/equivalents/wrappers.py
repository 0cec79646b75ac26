"""Honest wrappers: clips, regularizers, averages and compression in the ways of real engines; all must conform.

A vector's body and the elements behind it are rounded differently, terms of numbers that are 0 are left out, and what
nothing is clipped from is returned as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from optimetry.conformance.selftest.equivalents.layouts import LANES
from optimetry.conformance.subjects.wrappers.averages import ExponentialMovingAverage, ModelAverage
from optimetry.conformance.subjects.wrappers.compression import DGCCompress
from optimetry.conformance.targets.numpy.target import run_of
from optimetry.conformance.targets.numpy.wrappers import AverageFeed, GradientFeed
from optimetry.reference.declaration import Declared


def factor_first(documented: Any, grads: Sequence[Any]) -> list[Any]:
    """Each gradient times a factor that is formed first, and is 1 at most."""
    sizes = [np.sqrt(np.dot(grad.ravel(), grad.ravel())) for grad in grads]
    return [
        grad * np.minimum(grad.dtype.type(1), grad.dtype.type(documented.clip_norm) / size) if size else grad
        for grad, size in zip(grads, sizes, strict=True)
    ]


def joint_in_blocks(documented: Any, grads: Sequence[Any]) -> list[Any]:
    """The squares are summed in blocks, from the last to the first."""
    dtype = grads[0].dtype
    blocks = [np.sum(np.square(part)) for grad in grads for part in np.array_split(grad.ravel(), 3)]
    size = np.sqrt(np.sum(np.array(blocks[::-1], dtype)))
    factor = dtype.type(documented.clip_norm) / max(size, dtype.type(documented.clip_norm))
    return [grad * factor for grad in grads]


def in_float64(documented: Any, grads: Sequence[Any]) -> list[Any]:
    """Everything is computed in float64, and rounded."""
    wide = [grad.astype(np.float64) for grad in grads]
    results, _ = documented.feed(wide, [np.zeros_like(grad) for grad in wide], None)
    return [np.asarray(array).astype(grad.dtype) for array, grad in zip(results, grads, strict=True)]


def library_clip(documented: Any, grads: Sequence[Any]) -> list[Any]:
    """The function of NumPy."""
    return [np.clip(grad, documented.min, documented.max) for grad in grads]


def clip_by(function: Callable[..., list[Any]]) -> type[GradientFeed]:
    """Runs of a clip that is another function."""

    class Clip(GradientFeed):
        def transform(self, grads: list[Any]) -> list[Any]:
            with np.errstate(all="ignore"):
                return [np.asarray(array) for array in function(self.wrapper, grads)]

    Clip.__name__ = function.__name__
    return Clip


class WideAverage(AverageFeed):
    """Everything in float64, rounded when it is applied."""

    def _held(self, array: Any) -> Any:
        return super()._held(array.astype(np.float64))


class WideCompression(GradientFeed):
    """Accumulated in float64, so that other entries may be the largest."""

    def transform(self, grads: list[Any]) -> list[Any]:
        """Return what is sent, rounded."""
        sent = super().transform([grad.astype(np.float64) for grad in grads])
        return [array.astype(grad.dtype) for array, grad in zip(sent, grads, strict=True)]


class Regrouped(DGCCompress):
    """``v + m*u`` first, then the gradient."""

    def accumulated(self, grad: Any, u: Any, v: Any) -> tuple[Any, Any]:
        """Accumulate a gradient."""
        after, sent = super().accumulated(grad, u, v)
        return after, sent if self.use_nesterov else (v + self.momentum * u) + grad


def by_parts(body: Callable[..., Any], tail: Callable[..., Any], *arrays: Any) -> Any:
    """Compute whole vectors by one function, and the elements behind them by another."""
    flat = [np.asarray(array).reshape(-1) for array in arrays]
    end = flat[0].size - flat[0].size % LANES
    parts = [function(*(x[part] for x in flat)) for function, part in ((body, slice(end)), (tail, slice(end, None)))]
    return np.concatenate(parts).reshape(arrays[0].shape).astype(arrays[0].dtype)


def fused(factor: Any, array: Any, addend: Any) -> Any:
    """``factor*array + addend`` with one rounding."""
    return (np.float64(factor) * array.astype(np.longdouble) + addend).astype(array.dtype)


def scaled(grad: Any, limit: Any, size: Any) -> Any:
    """``grad*limit/size``, by the quotient in whole vectors, and from the left in the elements behind them."""
    return by_parts(lambda x: x * (limit / size), lambda x: x * limit / size, grad)


def norm_with_tail(documented: Any, grads: Sequence[Any]) -> list[Any]:
    """A gradient that is short is returned as it is; of others, body and tail are scaled in different orders."""
    limits = [grad.dtype.type(documented.clip_norm) for grad in grads]
    sizes = [np.sqrt(np.sum(np.square(grad))) for grad in grads]
    return [scaled(*each) if each[2] > each[1] else each[0] for each in zip(grads, limits, sizes, strict=True)]


def joint_skipped_when_short(documented: Any, grads: Sequence[Any]) -> list[Any]:
    """The same, for all gradients together."""
    limit = grads[0].dtype.type(documented.clip_norm)
    size = np.sqrt(sum(np.sum(np.square(grad)) for grad in grads)).astype(limit.dtype)
    if not size > limit:
        return list(grads)
    return [scaled(grad, limit, size) for grad in grads]


def clip_without_nan(documented: Any, grads: Sequence[Any]) -> list[Any]:
    """The choices of ``fmin`` and ``fmax``."""
    return [np.fmin(np.fmax(grad, documented.min), documented.max).astype(grad.dtype) for grad in grads]


def with_decay(term: Callable[[Any], Any], clip: Callable[..., list[Any]] | None = None) -> type[GradientFeed]:
    """Runs of a regularizer: no term where the strength is 0, and FMA in whole vectors alone."""

    class Decayed(GradientFeed):
        def transform(self, grads: list[Any]) -> list[Any]:
            strength: Any = self.wrapper.regularization_coeff  # type: ignore[attr-defined]
            with np.errstate(all="ignore"):
                clipped = list(grads) if clip is None else clip(self.wrapper, grads)
                if strength == 0:
                    return [np.array(grad) for grad in clipped]
                return [
                    by_parts(
                        lambda grad, x: fused(strength, x, grad),
                        lambda grad, x: grad + x.dtype.type(strength) * x,
                        grad,
                        term(np.array(param)),
                    )
                    for grad, param in zip(clipped, self.parameters, strict=True)
                ]

    Decayed.__name__ = f"decayed_by_{term.__name__}"
    return Decayed


class AverageWithTail(ExponentialMovingAverage):
    """FMA in whole vectors; a decay of 0 keeps nothing; the bias is divided out by its reciprocal."""

    def feed(self, fed: Sequence[Any], parameters: Sequence[Any], state: Any) -> tuple[list[Any], Any]:
        """One update, and what `apply` would put in."""
        updates, product, biased = state or (0, 1.0, [np.zeros_like(array) for array in fed])
        decay = self.average.decay_at(updates if self.scheduled else None)
        biased = [
            array
            if decay == 0
            else by_parts(
                lambda e, w: fused(decay, e, (1 - decay) * w),
                lambda e, w: decay * e + (1 - decay) * w,
                e,
                array,
            ).view(type(array))
            for e, array in zip(biased, fed, strict=True)
        ]
        product = product * decay
        return [e * (1 / (1 - product)) for e in biased], (updates + 1, product, biased)


class MeanByReciprocal(ModelAverage):
    """Sums from the oldest on, times the reciprocal of their number."""

    def feed(self, fed: Sequence[Any], parameters: Sequence[Any], state: Any) -> tuple[list[Any], Any]:
        """One update, and what `apply` would put in."""
        _, held = super().feed(fed, parameters, state)
        count = held.in_window + held.in_previous
        parts = zip(held.previous, held.folded, held.recent, strict=True)
        return [(a + (b + c)) * (1 / count) for a, b, c in parts], held


class MeanOfList(AverageFeed):
    """All parameters of the two windows in a list, added up from the newest on: partial sums are of other numbers."""

    def __init__(self, wrapper: Any, parameters: Sequence[Any]) -> None:
        super().__init__(wrapper, parameters)
        self.updates = 0
        self.windows: list[list[Any]] = [[], []]

    def update(self, parameters: list[Any]) -> None:
        """Feed the parameters."""
        self.training = self.inside = [np.array(array) for array in parameters]
        self.updates += 1
        self.windows[1].append([self._held(array) for array in parameters])
        if self.wrapper.average.is_full(self.updates, len(self.windows[1])):  # type: ignore[attr-defined]
            self.windows = [self.windows[1], []]

    def apply(self) -> list[Any]:
        """Put the averages in, and return them."""
        newest_first = [*self.windows[0], *self.windows[1]][::-1]
        with np.errstate(all="ignore"):
            means = [self.mean(list(arrays)) for arrays in zip(*newest_first, strict=True)]
        self.inside = [np.array(array).astype(self.dtype) for array in means]
        return [array.copy() for array in self.inside]

    def mean(self, newest_first: list[Any]) -> Any:
        """Add up, and divide."""
        return sum(newest_first[1:], start=newest_first[0]) / len(newest_first)

    def state(self) -> dict[str, list[Any]]:
        """Return both windows, and how many updates there were."""
        windows = [[np.array(array) for arrays in window for array in arrays] for window in self.windows]
        return {"updates": [np.array(self.updates)], "previous": windows[0], "current": windows[1]}

    def load(self, state: dict[str, list[Any]]) -> None:
        """Continue from what `state` returned."""
        count = len(self.training)
        self.updates = int(state["updates"][0])
        self.windows = [
            [[self._held(array) for array in window[start : start + count]] for start in range(0, len(window), count)]
            for window in (state["previous"], state["current"])
        ]


class MeanByNumPy(MeanOfList):
    """The same list, added up by NumPy."""

    def mean(self, newest_first: list[Any]) -> Any:
        """Add up in NumPy's order, and divide."""
        return np.mean(np.array(newest_first[::-1]), axis=0)


def computing_as(kind: type[Declared]) -> Callable[[Any, list[Any]], Any]:
    """Begin runs of another formula for the same numbers."""

    def begin(documented: Any, parameters: list[Any]) -> Any:
        return run_of(kind.of(documented.hyper()), parameters)

    begin.__name__ = kind.__name__
    return begin


HONEST: tuple[tuple[str, Any], ...] = (
    ("clip_by_norm", clip_by(factor_first)),
    ("clip_by_norm", clip_by(in_float64)),
    ("clip_by_norm", clip_by(norm_with_tail)),
    ("clip_by_global_norm", clip_by(joint_in_blocks)),
    ("clip_by_global_norm", clip_by(in_float64)),
    ("clip_by_global_norm", clip_by(joint_skipped_when_short)),
    ("clip_by_value", clip_by(library_clip)),
    ("clip_by_value", clip_by(clip_without_nan)),
    ("l1_decay", with_decay(np.sign)),
    ("l2_decay", with_decay(np.positive)),
    ("clip_then_decay", with_decay(np.positive, joint_skipped_when_short)),
    ("dgc_compress", WideCompression),
    ("dgc_compress", computing_as(Regrouped)),
    ("exponential_moving_average", WideAverage),
    ("exponential_moving_average", computing_as(AverageWithTail)),
    ("model_average", WideAverage),
    ("model_average", computing_as(MeanByReciprocal)),
    ("model_average", MeanOfList),
    ("model_average", MeanByNumPy),
)
"""Each wrapper's name, with what begins an honest run of it."""
