"""Lists how gradients of several steps may be taken together, where a rule takes those of each step.

Accumulation is a list; a velocity or an average in the place of each gradient has a decay to solve for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from optimetry.conformance.laws.documented import nonfinite_gradients_act
from optimetry.conformance.laws.universal import missing_gradient, resuming
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step, remembering
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs.skipped import PERIODS
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule, State

MEAN, SUM, CORRECTED = "mean", "sum", "corrected"


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield the gradients that may be collected; wrappers, which are asked in every step, collect none."""
    if not subject.has_learning_rate:
        return
    breaks = (resuming, missing_gradient, nonfinite_gradients_act)
    for period in PERIODS:
        for how in (MEAN, SUM):
            for own in (True, False):
                collected = Alteration(step=partial(_collected, period, how, own))
                run = {"finding": "accumulated", "how": how, "period": period}
                yield Mistake(run=run, alteration=collected, breaks=breaks)


def _collected(
    period: int, how: str, own: bool, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any
) -> list[Any]:
    """Do an update with what some steps gave together, and none in the steps between.

    Each parameter counts its ``own`` gradients to the period, or all count every step.
    """
    steps = training.memory["steps"] = training.memory.get("steps", 0) + 1
    sums, counts = training.memory.setdefault("sums", {}), training.memory.setdefault("counts", {})
    fed: list[Any] = [None] * len(grads)
    for i, grad in enumerate(grads):
        if grad is not None:
            sums[i] = sums[i] + grad if i in sums else grad
            counts[i] = counts.get(i, 0) + 1
        if i in sums and (counts[i] == period if own else steps % period == 0):
            total = sums.pop(i)
            counts[i] = 0
            fed[i] = total / float(period) if how == MEAN else total
    return plain(fed, lr)


def averaged(how: str, decay: float) -> Mistake:
    """Return the mistake of a velocity, a `SUM`, or of a moving `MEAN` in the place of each gradient.

    The latter may be `CORRECTED`, as Adam's moments are.
    """
    share = "g" if how == SUM else f"(1 - {decay:g})*g"
    taken = f"v/(1 - {decay:g}**t)" if how == CORRECTED else "v"
    run = {"finding": "averaged", "taken": taken, "formula": f"{decay:g}*v + {share}"}
    return Mistake(run=run, alteration=remembering(partial(_averaged, how, decay)))


def _averaged(
    how: str, decay: float, kept: Any, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int
) -> tuple[Any, State, Any]:
    """Do an update by what was kept of the gradients before, and a share of this one."""
    average = decay * kept + (grad if how == SUM else (1 - decay) * grad)
    taken = average / (1 - decay**t) if how == CORRECTED else average
    return *rule.update(param, taken, state, lr, t), average
