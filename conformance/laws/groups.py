"""The law of groups of parameters: each has options and learning rates of its own, and may be added in mid-run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.laws.law import Trial, is_rule, law, prefixed
from optimetry.conformance.laws.variations import complete, other_options, with_options
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.targets.session import Call, in_turn, watched


@law("a group of parameters is trained by its own options and learning rates, as if alone", applies=is_rule)
def groups_are_independent(trial: Trial) -> str | None:
    """Where the target offers `Target.start_groups`: two groups, and one that is added in the middle."""
    if not callable(getattr(trial.target, "start_groups", None)):
        return None
    first = trial.on(complete(trial.case))
    steps = len(first.case.grads)
    if steps < 2:
        return None
    second = _with_other_options(first)
    late = second.on(first.case.at_steps(range(steps // 2, steps)))
    members = [first, second, late]
    alone = [member.run() for member in members]
    together = _together(members)
    for which, member, own, rows in zip(("first", "second", "added"), members, alone, together, strict=True):
        if (contradiction := member.agrees(own, rows)) is not None:
            prefix = f"the {which} group, alone and among others: "
            return prefixed(prefix, contradiction)
    return None


def _with_other_options(trial: Trial) -> Trial:
    """Return the same with half the learning rate, and other options if the rule and the target take them.

    Those that all groups of a run have in common stay as they are, see `Target.shared`.
    """
    case = trial.case.replace(learning_rates=tuple(rate / 2 for rate in trial.case.learning_rates))
    shared = getattr(trial.target, "shared", {}).get(case.optimizer, ())
    changes = {name: value for name, value in other_options(case).items() if name not in shared}
    return with_options(trial.on(case), changes)


def _together(members: list[Trial]) -> list[Array]:
    """Train all groups together, the last from the middle on; return the trajectory of each."""
    first, second, late = (member.case for member in members)
    target: Any = members[0].target
    begun = len(first.grads) - len(late.grads)
    rows: list[list[Array]] = [[] for _ in members]
    with watched(members[0].guard):
        run = target.start_groups(first.optimizer, [(case.hyper, _copies(case.parameters)) for case in (first, second)])

        def calls(begin: int, end: int, count: int) -> Iterator[Call]:
            for step in range(begin, end):
                rates = [first.learning_rates[step], second.learning_rates[step]]
                rates += [late.learning_rates[step - begun]] * (count - len(rates))
                yield partial(run.step, [np.array(grad) for _ in range(count) for grad in first.grads[step]], rates)

        for begin, end, count in ((0, begun, 2), (begun, len(first.grads), 3)):
            if count == len(members):
                run.add(late.hyper, _copies(late.parameters))
            for after in in_turn(target, calls(begin, end, count)):
                for kept, part in zip(rows, np.split(flat(after), count), strict=False):
                    kept.append(part)
    return [np.array(kept) for kept in rows]


def _copies(arrays: tuple[Array, ...]) -> list[Array]:
    return [array.copy() for array in arrays]
