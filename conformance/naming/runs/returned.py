"""Lists averages of its parameters that a target may return in their place; that of a moving one is solved for.

Whoever keeps an average swaps it with the parameters for an evaluation. One that is not swapped back is trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.subjects.subject import Subject

BEGINNINGS = FROM_START, FROM_FIRST, CORRECTED = (
    "the first parameters",
    "those behind the first step",
    "0, and corrected",
)
"""With what a moving average begins."""

Gain = Callable[[int], float]
"""Returns the share of the parameters in an average that is formed for the n-th time; the rest is the one before."""

MEANS: dict[str, Gain] = {
    "the mean of its parameters behind all steps": lambda n: 1 / n,
    "the mean of its parameters behind all steps and before": lambda n: 1 / (n + 1),
    "a moving average of its parameters by (1 + t)/(10 + t), from the first parameters": lambda n: 9 / (10 + n),
}
"""Averages that have no number; the last is what wrappers do at first that limit a decay by the number of updates."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield the averages without a number; wrappers step no parameters."""
    for what, gain in MEANS.items() if subject.has_learning_rate else ():
        for own in (False, True):
            yield _returning(what, gain, own=own)


def moving_average(begun: str, decay: float, *, own: bool) -> Mistake:
    """Return the mistake of a moving average; each parameter counts its ``own`` updates, or all count every step."""
    gains: dict[str, Gain] = {
        FROM_START: lambda n: 1 - decay,
        FROM_FIRST: lambda n: 1 - decay if n > 1 else 1.0,
        CORRECTED: lambda n: (1 - decay) / (1 - decay**n),
    }
    return _returning(f"a moving average of its parameters by {decay:g}, from {begun}", gains[begun], own=own)


def _returning(what: str, gain: Gain, *, own: bool) -> Mistake:
    breaks = (resuming,) if own else (resuming, missing_gradient)  # all averages move on together
    alteration = Alteration(step=partial(_averaged, gain, own))
    return Mistake(run={"finding": "returned_average", "what": what}, alteration=alteration, breaks=breaks)


def _averaged(
    gain: Gain, own: bool, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any
) -> list[Any]:
    """Step, and return what the averages of the parameters are then."""
    averages = training.memory.setdefault("averages", list(training.parameters))
    counts = training.memory.setdefault("counts", [0] * len(grads))
    plain(grads, lr)
    for i, param in enumerate(training.parameters):
        if not own or grads[i] is not None:
            counts[i] += 1
            share = gain(counts[i])
            averages[i] = (1 - share) * averages[i] + share * param
    return list(averages)
