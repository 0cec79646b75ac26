"""Laws of the wrappers, judged without an oracle; entered into `LAWS` under their function's name.

Two results agree where their bits are the same, or where rounding alone explains the difference: each may be off by
the slack times the rounding bound of the documented wrapper there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from optimetry.conformance.laws.law import LAWS as RULE_LAWS
from optimetry.conformance.laws.law import Check, Law, Trial, first_difference
from optimetry.conformance.laws.variations import each, halved, largest, rescaled
from optimetry.conformance.numerics.agreement import SLACK
from optimetry.conformance.numerics.arrays import Array, flat, same_bits
from optimetry.conformance.targets.session import Session, watched
from optimetry.conformance.wrappers.oracle import expected
from optimetry.conformance.wrappers.run import WrapperTarget
from optimetry.reference.averaging.window import FOLD
from optimetry.reference.distributed.dgc_momentum import count_sent

LAWS: dict[str, Law] = {}
"""Every law of wrappers by name."""

LONG: set[str] = set()
"""The names of laws that are tried on one case alone."""


def law(
    statement: str, *, universal: bool = False, applies: Callable[[Any], bool] = lambda kind: True, long: bool = False
) -> Callable[[Check], Check]:
    """Enter a check into `LAWS`; ``applies`` is asked of the wrapper's declaration."""

    def enter(check: Check) -> Check:
        LAWS[check.__name__] = Law(check.__name__, statement, universal, applies, check)
        if long:
            LONG.add(check.__name__)
        return check

    return enter


def in_order(brief: bool = False) -> Sequence[Law]:
    """The laws in the order they are tried, universal ones first; without those that take long if ``brief``."""
    chosen = [one for one in LAWS.values() if not (brief and one.name in LONG)]
    return sorted(chosen, key=lambda one: not one.universal)


def is_average(kind: Any) -> bool:
    """Whether a wrapper averages parameters."""
    return bool(kind.averages)


def named(name: str) -> Callable[[Any], bool]:
    """Whether a wrapper has this name."""
    return lambda kind: bool(kind.name == name)


for _name in ("repeatable", "runs_are_independent"):
    LAWS[_name] = RULE_LAWS[_name]


def ends(trial: Trial, applied: bool = True) -> tuple[Any, list[Array]]:
    """A target's own run after all updates of a case, and the parameters it was fed last.

    Args:
        trial: an average on a case with at least one step.
        applied: whether the average is applied after each update on the way.
    """
    target: Any = trial.target
    session = Session(WrapperTarget(target.target, applied), trial.case)
    for fed, rate in trial.case.steps:
        session.step(fed, rate)
    run: Any = session.run
    return run.run, [array for array in trial.case.grads[-1] if array is not None]


def copied(arrays: Sequence[Array]) -> list[Array]:
    """Copies, for what a target returns may change with its next call."""
    return [np.array(array) for array in arrays]


def different(got: Sequence[Array], must: Sequence[Array]) -> str | None:
    """Where two lists of arrays differ in a bit, in words."""
    for i, (a, b) in enumerate(zip(got, must, strict=True)):
        if not same_bits(a, b):
            return f"parameter {i}: {first_difference((a != b).reshape(1, -1), a.reshape(1, -1), b.reshape(1, -1))}"
    return None


@law("restore brings back the parameters that apply has replaced, bit for bit", universal=True, applies=is_average)
def restoring(trial: Trial) -> str | None:
    with watched(trial.guard):
        run, fed = ends(trial)
        run.apply()
        return different(run.restore(), fed)


@law("apply gives the same a second time, and restore still what training had", applies=is_average)
def applying_twice(trial: Trial) -> str | None:
    with watched(trial.guard):
        run, fed = ends(trial)
        first = copied(run.apply())
        return different(run.apply(), first) or different(run.restore(), fed)


@law("applying an average changes nothing of it", universal=True, applies=is_average)
def applying_only_reads(trial: Trial) -> str | None:
    with watched(trial.guard):
        often, once = ends(trial)[0], ends(trial, applied=False)[0]
        return different(copied(often.apply()), copied(once.apply()))


@law("an average resumed from its saved state continues bit for bit", universal=True, applies=is_average)
def resuming(trial: Trial) -> str | None:
    half = len(trial.case.grads) // 2
    with watched(trial.guard):
        session = Session(trial.target, trial.case)
        run: Any = session.run
        if half == 0 or not (hasattr(run.run, "state") and hasattr(run.run, "load")):
            return None
        for fed in trial.case.grads[:half]:
            session.step(fed, 1.0)
        state = {slot: copied(arrays) for slot, arrays in run.run.state().items()}
        resumed = Session(trial.target, trial.case)
        other: Any = resumed.run
        other.run.load(state)
        for fed in trial.case.grads[half:]:
            found = different(resumed.step(fed, 1.0), session.step(fed, 1.0))
            if found is not None:
                return found
    return None


@law("what is clipped already is not clipped again", applies=lambda kind: kind.clips)
def clipping_twice(trial: Trial) -> str | None:
    once = trial.run()
    case: Any = trial.case
    again = trial.on(trial.case.replace(grads=tuple(shaped(trial, row) for row in once)))
    return beyond(again.run(), once, expected(case).bound + expected(case, times=2).bound)


@law("each parameter is treated as if it were alone", applies=lambda kind: not kind.joint)
def parameters_are_independent(trial: Trial) -> str | None:
    alone = [trial.on(trial.case.only([i])).run() for i in range(len(trial.case.parameters))]
    return agree(trial, np.concatenate(alone, axis=1))


@law("how elements are shared out among parameters does not matter", applies=lambda kind: kind.joint)
def sharing_out(trial: Trial) -> str | None:
    whole = trial.on(largest(trial.case))
    return agree(whole, whole.on(halved(whole.case)).run())


@law("negating parameters and gradients negates the result")
def sign_symmetry(trial: Trial) -> str | None:
    case: Any = trial.case
    return agree(trial, np.negative(trial.on(each(case, np.negative)).run())) if case.rule.symmetric else None


@law("a zero gradient gets the term of the decay whole, however short the clip", applies=named("clip_then_decay"))
def decay_behind_clip(trial: Trial) -> str | None:
    resting = trial.on(rescaled(trial.case, np.copy, np.zeros_like))
    far = min(1e30, trial.case.form.largest / 4)
    unclipped = resting.on(resting.case.replace(hyper={**resting.case.hyper, "clip_norm": far}))
    return agree(resting, unclipped.run()) if unclipped.offered else None


@law("the average of a constant is that constant", applies=named("exponential_moving_average"))
def constant(trial: Trial) -> str | None:
    case: Any = trial.case
    steps = len(case.grads)
    still: Any = case.replace(grads=(case.parameters,) * steps)
    must = np.repeat(flat(case.parameters)[None], steps, axis=0)
    return beyond(trial.on(still).run(), must, expected(still).bound)


@law("the average is the mean of the parameters in two windows, kept in a list", applies=named("model_average"))
def two_windows(trial: Trial) -> str | None:
    case: Any = trial.case
    numbers = [(7 * i) % 23 - 5 for i in range(len(case.grads))]
    got = trial.on(_of_numbers(case, numbers)).run()
    previous: list[int] = []
    current: list[int] = []
    for updates, number in enumerate(numbers, 1):
        current.append(number)
        length = min(case.hyper["max_average_window"], updates * case.hyper["average_window_rate"])
        if len(current) >= case.hyper["min_average_window"] and len(current) >= length:
            previous, current = current, []
        found = _not_the_mean(case, got[updates - 1], previous + current)
        if found is not None:
            return f"{found}, after {updates} updates"
    return None


@law("sums are kept across the fold of 16384 updates", applies=named("model_average"), long=True)
def fold(trial: Trial) -> str | None:
    case: Any = trial.case.replace(
        hyper={"average_window_rate": 1.0, "min_average_window": 4 * FOLD, "max_average_window": 4 * FOLD},
        parameters=(np.zeros(1, trial.case.form.dtype),),
    )
    if case.form.largest < 1e5 or not trial.on(case).offered:
        return None
    numbers = [(7 * i) % 23 - 5 for i in range(FOLD + 20)]
    arrays = {number: np.full(1, number, case.form.dtype) for number in set(numbers)}
    with watched(trial.guard):
        target: Any = trial.target
        run = target.target.start_wrapper(case.optimizer, dict(case.hyper), copied(case.parameters))
        for number in numbers:
            run.update([arrays[number]])
        found = _not_the_mean(case, run.apply()[0], numbers)
    return found and f"{found}, after {len(numbers)} updates"


@law("without momentum, all that is fed is sent in the end, and once", applies=named("dgc_compress"))
def conservation(trial: Trial) -> str | None:
    case: Any = trial.case
    hyper = {**case.hyper, "momentum": 0.0, "use_nesterov": False}
    fed = [_whole_numbers(case, step) for step in range(len(case.grads))]
    sizes = [param.size for param in case.parameters]
    more = max((-(-size // count_sent(size, hyper["sparsity"])) for size in sizes if size), default=0)
    nothing = tuple(np.zeros_like(param) for param in case.parameters)
    got = trial.on(_fed(case, hyper, [*fed, *[nothing] * more])).run()
    must = np.sum([flat(row) for row in fed], axis=0, keepdims=True, dtype=np.float64)
    return _not_equal(np.sum(got, axis=0, keepdims=True, dtype=np.float64), must)


@law("with sparsity 0 and no look ahead, every gradient is sent as it is", applies=named("dgc_compress"))
def dense(trial: Trial) -> str | None:
    case: Any = trial.case
    fed = [_whole_numbers(case, step) for step in range(len(case.grads))]
    got = trial.on(_fed(case, {**case.hyper, "sparsity": 0.0, "use_nesterov": False}, fed)).run()
    return _not_equal(got, np.array([flat(row) for row in fed]))


@law("the largest entries are sent, as many as the sparsity says", applies=named("dgc_compress"))
def largest_are_sent(trial: Trial) -> str | None:
    case: Any = trial.case
    fed, must = [], []
    for param in case.parameters:
        values = _different(case, param.size)
        least = np.sort(np.abs(values))[param.size - count_sent(param.size, case.hyper["sparsity"]) :]
        fed.append(values.reshape(param.shape))
        must.append(values * np.isin(np.abs(values), least))
    got = trial.on(_fed(case, {**case.hyper, "use_nesterov": False}, [tuple(fed)])).run()
    return _not_equal(got, flat(must)[None])


def _fed(case: Any, hyper: dict[str, Any], grads: Sequence[tuple[Array, ...]]) -> Any:
    """The case with other hyperparameters, fed with other gradients."""
    return case.replace(hyper=hyper, grads=tuple(grads), learning_rates=(1.0,) * len(grads))


def _whole_numbers(case: Any, step: int) -> tuple[Array, ...]:
    """Gradients of small whole numbers, whose sums are exact in every format."""
    return tuple(
        ((7 * np.arange(param.size) + 3 * step) % 23 - 11).astype(param.dtype).reshape(param.shape)
        for param in case.parameters
    )


def _different(case: Any, size: int) -> Array:
    """Numbers of different magnitudes from 1 on, in no order, every other one negative."""
    dtype = case.form.dtype
    raw = np.dtype(f"uint{8 * dtype.itemsize}")
    order = np.random.default_rng(size).permutation(size).astype(raw)
    values: Array = (np.ones(1, dtype).view(raw) + order).view(dtype)
    values[1::2] *= -1
    return values


def _not_equal(got: Any, must: Any) -> str | None:
    """Where a trajectory is first not what it must be."""
    return first_difference(got != must, got, must)


def _of_numbers(case: Any, numbers: Sequence[int]) -> Any:
    """The case fed with whole numbers, whose sums are exact."""
    return case.replace(
        grads=tuple(tuple(np.full_like(param, number) for param in case.parameters) for number in numbers)
    )


def _not_the_mean(case: Any, got: Array, numbers: Sequence[int]) -> str | None:
    """What is not the mean of these numbers, but for the rounding of one division and of its result."""
    mean = Fraction(sum(numbers), len(numbers))
    reach = Fraction(SLACK) * (abs(mean) * Fraction(case.form.roundoff) + Fraction(float(case.form.half_tiny)))
    for number in got.reshape(-1)[:1].tolist():
        if not np.isfinite(number) or abs(Fraction(number) - mean) > reach:
            return f"{number}, must be {float(mean)}, the mean of {len(numbers)} parameters"
    return None


def shaped(trial: Trial, row: Array) -> tuple[Array, ...]:
    """A step of a trajectory as arrays in the shapes of the parameters."""
    cuts = np.cumsum([param.size for param in trial.case.parameters])[:-1]
    parts = np.split(row, cuts)
    return tuple(part.reshape(param.shape) for part, param in zip(parts, trial.case.parameters, strict=True))


def agree(trial: Trial, other: Array) -> str | None:
    """None where another trajectory that should equal this one does, but for rounding in both."""
    case: Any = trial.case
    return beyond(trial.run(), other, 2 * expected(case).bound)


def beyond(a: Array, b: Array, reach: Any) -> str | None:
    """Where two trajectories are first further apart than the slack times a bound, in words."""
    with np.errstate(all="ignore"):
        apart = np.abs(a.astype(reach.dtype) - b.astype(reach.dtype))
    same = (a == b) | (np.isnan(a) & np.isnan(b)) | ~np.isfinite(reach) | (apart <= SLACK * reach)
    return first_difference(~same, a, b)
