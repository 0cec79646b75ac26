"""Runs of a target program that are fed step by step, so that they can interleave, be saved and be resumed."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from optimetry.conformance.harness.messages import arrays, member, rows
from optimetry.conformance.harness.python_harness import ACCUMULATED, SCALED, encoded, what_is_wrong
from optimetry.conformance.harness.wire import as_json, hyper_as_json
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.connection import Connection, Gathered
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.session import Call
from optimetry.reference.errors import TargetFault


def fed(grads: Sequence[Array | None]) -> list[dict[str, Any] | None]:
    """Return the gradients of a step as they are sent."""
    return [None if grad is None else encoded(grad) for grad in grads]


def arrays_like(row: Any, parameters: Sequence[Array], prefix: str) -> list[Array]:
    """Return the arrays of a list of messages, which must be like the parameters."""
    after = arrays(row, prefix)
    wrong = what_is_wrong(after, parameters)
    if wrong:
        raise TargetFault(f"{prefix} {wrong}")
    return after


def begun(connection: Connection, request: Mapping[str, Any], parameters: Sequence[Array]) -> RunByMessages:
    """Begin a run that is fed step by step."""
    number_of_run = connection.next_run()
    answer = connection.ask({**request, "run": number_of_run})
    resumable = bool(answer.get("resumable", False))
    run = (Resumable if resumable else RunByMessages)(connection, number_of_run, parameters, answer.get("takes", ()))
    run.hold(answer, "start")
    return run


def begun_in_groups(
    connection: Connection, request: Mapping[str, Any], groups: Sequence[tuple[Hyper, Sequence[Array]]]
) -> GroupsByMessages:
    """Begin a run over groups of parameters."""
    number_of_run = connection.next_run()
    messages = [{"hyper": hyper_as_json(hyper), "parameters": fed(parameters)} for hyper, parameters in groups]
    answer = connection.ask({**request, "run": number_of_run, "groups": messages})
    run = GroupsByMessages(connection, number_of_run, [param for _, group in groups for param in group])
    run.hold(answer, "start_groups")
    return run


def made_together(connection: Connection, calls: Sequence[Call]) -> Iterator[list[Array]]:
    """Make calls of methods of runs, all that are plain steps in one message, and yield what each returns."""
    gathered: list[Gathered] = []
    connection.gathered = gathered
    try:
        made = [(call(), len(gathered)) for call in calls]
    finally:
        connection.gathered = None
    answers, before = connection.ask_together(gathered), 0
    for after, count in made:
        yield after if count == before else next(answers)()
        before = count


class Conversation:
    """The messages about one run, which the program knows by its number.

    Attributes:
        parameters: what it began with.
        by_messages: true, since inputs are sent as messages, so that the program cannot change them.

    Raises:
        TargetFault: in every method, where the program's answer is wrong, or does not come.
    """

    parameters: Sequence[Array]
    by_messages = True

    def __init__(self, connection: Connection, number_of_run: int, parameters: Sequence[Array]) -> None:
        self.connection, self.number, self.parameters = connection, number_of_run, parameters
        self._started = connection.program.starts
        weakref.finalize(self, connection.finished.append, (number_of_run, self._started))

    def hold(self, answer: Mapping[str, Any], do: str) -> None:
        """Check that an answer is about this run."""
        if answer.get("run") != self.number:
            raise TargetFault(f"answered `{do}` of run {self.number} with run = {answer.get('run')!r}")

    def _hold_under_way(self) -> None:
        if self.connection.program.starts != self._started or not self.connection.program.running:
            raise TargetFault("its process ended while this run was under way")

    def _ask(self, do: str, **more: Any) -> Any:
        self._hold_under_way()
        answer = self.connection.ask({"do": do, "run": self.number, **more}, self.parameters)
        self.hold(answer, do)
        return answer

    def _after(self, do: str, **more: Any) -> list[Array]:
        """Return the parameters after a step; where steps are gathered, nothing yet."""
        parameters = self.parameters

        def read(answer: Mapping[str, Any], behind: bytes = b"") -> list[Array]:
            self.hold(answer, do)
            return arrays_like(member(answer, "after", do), parameters, f"`{do}` returned")

        if self.connection.gathered is None or not do.startswith("step"):
            return read(self._ask(do, **more))
        self._hold_under_way()
        self.connection.gathered.append(Gathered({"do": do, "run": self.number, **more}, read, parameters))
        return []


class GroupsByMessages(Conversation):
    """A run over groups of parameters."""

    def step(self, grads: Sequence[Array | None], learning_rates: Sequence[float]) -> list[Array]:
        """Feed one more step, with a learning rate for each group."""
        return self._after("step_groups", grads=fed(grads), learning_rates=[as_json(rate) for rate in learning_rates])

    def add(self, hyper: Hyper, parameters: Sequence[Array]) -> None:
        """Add a group."""
        self._ask("add_group", hyper=hyper_as_json(hyper), parameters=fed(parameters))
        self.parameters = [*self.parameters, *parameters]


class RunByMessages(Conversation):
    """A run over one group, a wrapper of gradients, or an average.

    Args:
        takes: the kinds of steps that it takes beside plain ones; it has methods for these alone.
    """

    def __init__(
        self, connection: Connection, number_of_run: int, parameters: Sequence[Array], takes: Sequence[str] = ()
    ) -> None:
        super().__init__(connection, number_of_run, parameters)
        self._takes = takes

    def __getattr__(self, name: str) -> Any:
        """Return the method for a kind of step that is taken; as an attribute it would make the run hold itself."""
        kind = name.replace("transform", "step")
        if kind in (SCALED, ACCUMULATED) and kind in self._takes:
            return getattr(self, f"_{name}")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def step(self, grads: Sequence[Array | None], learning_rate: float) -> list[Array]:
        """Feed one more step."""
        return self._after("step", grads=fed(grads), learning_rate=as_json(learning_rate))

    def transform(self, grads: Sequence[Array | None]) -> list[Array]:
        """Feed a wrapper of gradients."""
        return self.step(grads, 1.0)

    def _step_scaled(self, grads: Sequence[Array | None], learning_rate: float, scale: float) -> list[Array]:
        return self._after(SCALED, grads=fed(grads), learning_rate=as_json(learning_rate), scale=as_json(scale))

    def _transform_scaled(self, grads: Sequence[Array | None], scale: float) -> list[Array]:
        return self._step_scaled(grads, 1.0, scale)

    def _step_accumulated(self, parts: Sequence[Sequence[Array | None]], learning_rate: float) -> list[Array]:
        return self._after(ACCUMULATED, parts=[fed(part) for part in parts], learning_rate=as_json(learning_rate))

    def _transform_accumulated(self, parts: Sequence[Sequence[Array | None]]) -> list[Array]:
        return self._step_accumulated(parts, 1.0)

    def update(self, parameters: Sequence[Array | None]) -> None:
        """Feed an average."""
        self._ask("update", grads=fed(parameters))

    def apply(self) -> list[Array]:
        """Put averages into the parameters."""
        return self._after("apply")

    def restore(self) -> list[Array]:
        """Bring back what `apply` has replaced."""
        return self._after("restore")


class Resumable(RunByMessages):
    """A run that can be saved and resumed."""

    def state(self) -> dict[str, list[Array]]:
        """Return the state."""
        state = member(self._ask("state"), "state", "state")
        if not isinstance(state, Mapping):
            raise TargetFault(f"`state` returned a {type(state).__name__}, must be an object of lists of arrays")
        return {slot: arrays(held, f"`state` returned {slot}:") for slot, held in state.items()}

    def load(self, state: Mapping[str, Sequence[Array]]) -> None:
        """Continue from a state."""
        self._ask("load", state={slot: [encoded(np.asarray(held)) for held in kept] for slot, kept in state.items()})


class Replayed:
    """A run of a program without stateful session: every step plays the run again from its first."""

    def __init__(self, connection: Connection, request: Mapping[str, Any], parameters: Sequence[Array]) -> None:
        self.connection, self.request, self.parameters = connection, request, parameters
        self.steps: list[dict[str, Any]] = []

    def step(self, grads: Sequence[Array | None], learning_rate: float) -> list[Array]:
        """Return the parameters after one more step."""
        self.steps.append({"grads": fed(grads), "learning_rate": as_json(learning_rate)})
        answer = self.connection.ask({**self.request, "steps": self.steps}, self.parameters, len(self.steps))
        last = rows(answer, len(self.steps), "run")[-1]
        return arrays_like(last, self.parameters, f"step {len(self.steps)} returned")

    def transform(self, grads: Sequence[Array | None]) -> list[Array]:
        """Return what a wrapper gives for one more step."""
        return self.step(grads, 1.0)
