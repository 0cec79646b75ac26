"""Laws of clips and regularizers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from optimetry.conformance.laws.law import Trial, beyond, clips, is_joint, law, named, treats_alone
from optimetry.conformance.laws.variations import halved, largest
from optimetry.conformance.numerics.arrays import apart
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.rule import Array


@cache
def twice(kind: type[Wrapper]) -> type[Wrapper]:
    """Return the wrapper that is applied twice."""

    class Twice(kind):  # type: ignore[misc, valid-type]
        def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
            once, state = super().feed(fed, parameters, state)
            return super().feed(once, parameters, state)  # type: ignore[no-any-return]

    return Twice


@law("what is clipped already is not clipped again", universal=False, applies=clips)
def clipping_twice(trial: Trial) -> str | None:
    once = trial.run()
    again = trial.on(trial.case.replace(grads=tuple(tuple(apart(row, trial.case.parameters)) for row in once)))
    computed = twice(trial.declaration).of(trial.case.hyper)
    return beyond(again.run(), once, trial.formula(trial.case).bound + expected(trial.case, computed).bound)


@law("each parameter is treated as if it were alone", universal=False, applies=treats_alone)
def treated_alone(trial: Trial) -> str | None:
    alone = [trial.on(trial.case.only([i])).run() for i in range(len(trial.case.parameters))]
    return trial.agrees(trial.run(), np.concatenate(alone, axis=1))


@law("how elements are shared out among parameters does not matter", universal=False, applies=is_joint)
def sharing_out(trial: Trial) -> str | None:
    whole = trial.on(largest(trial.case))
    return whole.agrees(whole.run(), whole.on(halved(whole.case)).run())


@law(
    "a zero gradient gets the term of the decay whole, however short the clip",
    universal=False,
    applies=named("clip_then_decay"),
)
def decay_behind_clip(trial: Trial) -> str | None:
    resting = trial.on(trial.case.mapped(grad=np.zeros_like))
    far = min(1e30, trial.case.form.largest / 4)
    unclipped = resting.on(resting.case.replace(hyper={**resting.case.hyper, "clip_norm": far}))
    return resting.agrees(resting.run(), unclipped.run())
