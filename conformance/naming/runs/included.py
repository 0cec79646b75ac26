"""Lists what may be done to gradients once a decay is in them: centred as by SGD_GC, clipped behind a penalty.

Where a rule adds its decay to the gradient, what `scaled` does comes before that, and a cautious step looks at the
gradient as it was given. Here both see the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from optimetry.conformance.naming.alterations import (
    Alteration,
    AlteredTraining,
    Step,
    joined,
    with_decay,
    without_decay,
)
from optimetry.conformance.naming.coupling import coupled_decay
from optimetry.conformance.naming.edits.usual import CLIP_VALUES
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.naming.runs import moved, scaled
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule, State

INCLUDED: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "limited": ("what", "{}, the decay included,".format),
    "normalized": ("what", "{}, the decay included,".format),
    "centred": ("over", "{}, the decay included".format),
    "cautious": ("how", ", the decay included{}".format),
}
"""The findings that may be of the sum, each with the value that says so, and how."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may be done to gradients with their decay, for a rule that adds one to them unless a flag is set."""
    if not subject.has_learning_rate or coupled_decay(subject.declaration.typical()) is None:
        return
    for mistake in chain(scaled.mistakes(subject, dtype), moved.mistakes(subject, dtype)):
        kind, what = str(mistake.run["finding"]), mistake.run
        if kind in INCLUDED:
            value, words = INCLUDED[kind]
            run = {**what, value: words(what[value])}
            yield replace(mistake, run=run, alteration=joined(mistake.alteration, IN_THE_GRADIENTS))
    for limit in CLIP_VALUES:
        clipped = joined(Alteration(update=partial(_clipped, limit)), IN_THE_GRADIENTS)
        run = {"finding": "clipped", "limits": f"±{limit:g}, the decay included"}
        yield Mistake(run=run, alteration=clipped)


def _clipped(limit: float, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Clip the elements of the gradient."""
    return rule.update(param, np.minimum(np.maximum(grad, -limit), limit), state, lr, t)


def _into_gradients(training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Add the decay of each parameter to its gradient."""
    pairs = zip(training.parameters, grads, strict=True)
    return plain([None if grad is None else with_decay(training.rule, param, grad) for param, grad in pairs], lr)


IN_THE_GRADIENTS = Alteration(update=lambda rule, *inputs: without_decay(rule).update(*inputs), step=_into_gradients)
"""Does the decay of a rule before anything else is done to the gradients."""
