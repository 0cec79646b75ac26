"""Offers what a library computed elsewhere: on another machine, in another language, years ago.

A recorded run is a case and what the library returned. It is played back as if it ran here, and so are its beginning
and, where parameters do not depend on each other, its tensors alone: counterexamples are shrunk as for other targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.arrays import Array, same_bits
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.targets.protocol import Hyper


class RecordedRun(NamedTuple):
    """What a library was fed, and what it returned after each step: one array for each parameter."""

    case: Case
    after: Sequence[Sequence[Array]]


@dataclass(frozen=True)
class RecordedTarget:
    """A target that offers recorded runs, and no others.

    Attributes:
        name: the library's.
        version: the library's.
        runs: the runs.
    """

    name: str
    version: str
    runs: Sequence[RecordedRun]

    def recorded(self) -> list[Case]:
        """Return what the library was fed."""
        return [run.case for run in self.runs]

    def declines(self, case: Case) -> str | None:
        """Return why a case cannot be played back, None where it can."""
        try:
            playback = self.start(case.optimizer, case.hyper, case.parameters)
            for grads, rate in case.steps:
                playback.step(grads, rate)
        except LookupError as error:
            return str(error)
        return None

    def start(self, optimizer: str, hyper: Hyper, parameters: Sequence[Array]) -> Playback:
        """Play back the recorded runs that began the same.

        Raises:
            LookupError: there is none.
        """
        tracks = [
            _Track.of(run, parameters)
            for run in self.runs
            if run.case.optimizer == optimizer and run.case.hyper == dict(hyper)
        ]
        return Playback(self.name, [track for track in tracks if track.plays])

    start_wrapper = start


class Playback:
    """Gives back the results of the recorded runs that were fed the same so far.

    Raises:
        LookupError: there is none.
    """

    def __init__(self, name: str, tracks: Sequence[_Track]) -> None:
        self.name, self.tracks, self.taken = name, tracks, 0
        self.averaged: list[Array] = []
        self._hold()

    def step(self, grads: Sequence[Array | None], learning_rate: float) -> list[Array]:
        """Return the recorded parameters after one more step.

        Raises:
            LookupError: no recorded run went on so.
        """
        tracks = [track.fed(self.taken, grads, learning_rate) for track in self.tracks]
        self.tracks = [track for track in tracks if track.plays]
        self._hold()
        self.taken += 1
        return self.tracks[0].after(self.taken)

    def transform(self, grads: Sequence[Array | None]) -> list[Array]:
        """Return the recorded results of a wrapper of gradients."""
        return self.step(grads, 1.0)

    def update(self, parameters: Sequence[Array | None]) -> None:
        """Feed an average as it was fed in the recorded run."""
        self.step(parameters, 1.0)
        self.averaged = [parameter.copy() for parameter in parameters if parameter is not None]

    def apply(self) -> list[Array]:
        """Return the recorded averages."""
        return self.tracks[0].after(self.taken)

    def restore(self) -> list[Array]:
        """Return the parameters that were fed last."""
        return self.averaged

    def _hold(self) -> None:
        if not self.tracks:
            raise LookupError(f"{self.name} holds no such run")


@dataclass(frozen=True)
class _Track:
    """A recorded run, and for each parameter that is played back the places where it may stand in that run."""

    run: RecordedRun
    places: Sequence[Sequence[int]]

    @classmethod
    def of(cls, run: RecordedRun, parameters: Sequence[Array]) -> _Track:
        """Look the parameters up among those of a run; where they depend on each other, none may be left out."""
        recorded = run.case.parameters
        if subject_of(run.case).joint and len(parameters) != len(recorded):
            return cls(run, [[]])
        return cls(run, [[j for j, other in enumerate(recorded) if _same(other, param)] for param in parameters])

    @property
    def plays(self) -> bool:
        """Whether every parameter has a place."""
        return all(self.places)

    def fed(self, step: int, grads: Sequence[Array | None], rate: float) -> _Track:
        """Keep the places that were fed these gradients in a step, at this learning rate."""
        case = self.run.case
        if step == len(case.grads) or case.learning_rates[step] != rate:
            return replace(self, places=[[]])
        kept = [
            [j for j in places if _same(case.grads[step][j], grad)]
            for places, grad in zip(self.places, grads, strict=True)
        ]
        return replace(self, places=kept)

    def after(self, steps: int) -> list[Array]:
        """Return a copy of the results after so many steps."""
        return [self.run.after[steps - 1][places[0]].copy() for places in self.places]


def _same(recorded: Array | None, fed: Array | None) -> bool:
    if recorded is None or fed is None:
        return recorded is fed
    return recorded.shape == fed.shape and recorded.dtype == fed.dtype and same_bits(recorded, fed)
