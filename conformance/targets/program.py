"""A target that is a program: asked by the protocol's messages, it stands where a target of this process stands.

The judge asks whether a run is offered before it asks for the run. A program is asked once for both: its answer to the
question is kept, and is the answer to the run that follows.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Self

import numpy as np

from optimetry.conformance.cases.case import Case, layouts_out
from optimetry.conformance.harness.messages import elements, rows, said_of
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.python_harness import AVERAGE, BESIDE, GROUPS, LIMITS, MIXED, RULE, STRIDED, encoded
from optimetry.conformance.harness.wire import as_json, hyper_as_json, wire
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import not_among
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.connection import Connection, Gathered, Unoffered
from optimetry.conformance.targets.limits import hold_limits
from optimetry.conformance.targets.packed import RUN, answered_size, packed, parts_of, unpacked
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.session import STRETCH, Call, Guard, kind_of
from optimetry.conformance.targets.stateful import (
    GroupsByMessages,
    Replayed,
    begun,
    begun_in_groups,
    fed,
    made_together,
)
from optimetry.reference.errors import TargetError, TargetFault, TargetHung

KEPT = 64
"""The most runs whose answers are kept: questions about several cases may come before the runs."""

TOGETHER = 64
"""The most steps of runs that are asked for in one message."""


class ProgramTarget:
    """One engine of a target that is a program.

    Attributes:
        connection: the conversation, which all engines share.
        name: the target's.
        version: the target's.
        engine: the engine's.
        stateful: whether runs can be fed step by step.
        packed: whether runs are sent with the elements of their arrays behind the line.
        mixes_dtypes: whether a run's parameters may have several dtypes.
        side_by_side: whether several runs may be under way at a time, though they cannot be saved.
        strided: whether a run's arrays may lie otherwise than in rows.
        note: what the report says of the target.
    """

    cannot: Sequence[str]
    pinned: Mapping[str, Mapping[str, Any]]
    at_most: Mapping[str, Mapping[str, Any]]
    dtypes: Sequence[str]
    shared: Mapping[str, Sequence[str]]

    def __init__(self, connection: Connection, engine: str | None = None) -> None:
        hello = connection.hello
        self.connection, self.engine = connection, engine or _engines(hello)[0]
        self.name, self.version = hello["name"], hello["version"]
        self.stateful, self.packed = bool(hello.get("stateful", False)), bool(hello.get("packed", False))
        self._answered: dict[Case, Array | TargetFault | Unoffered] = {}
        declared = said_of(hello, self.engine)
        for name in LIMITS:
            if name in declared:
                setattr(self, name, declared[name])
        offers = declared.get("offers", ()) if self.stateful else ()
        self.mixes_dtypes, self.side_by_side, self.strided = (what in offers for what in (MIXED, BESIDE, STRIDED))
        self.note = hello.get("note", "")
        if GROUPS in offers:
            self.start_groups = self._start_groups
        if hello.get("several", False):
            self.in_turn = self._in_turn
            if self.packed:
                self.run_ahead = self._run_ahead

    @classmethod
    def started(cls, program: ProtocolProgram, guard: Guard, spec: str | None = None) -> Self:
        """Start a program, which error texts call ``spec``, and ask what it is.

        Raises:
            TargetError: it cannot be started, or what it says of itself is wrong; the text says what.
        """
        spec = shlex.join(program.command) if spec is None else spec
        target = cls(Connection(program, guard, spec))
        for optimizer, dtypes in target.connection.hello.get("optimizers", {}).items():
            if optimizer not in SUBJECTS:
                raise TargetError(f"target {spec}: optimizers: {not_among('optimizer', optimizer, SUBJECTS)}")
            for dtype in dtypes:
                if dtype not in FORMATS:
                    raise TargetError(f"target {spec}: optimizers: {optimizer}: {not_among('dtype', dtype, FORMATS)}")
        for engine in target.engines():
            hold_limits(engine, spec)
        return target

    def engines(self) -> Sequence[Self]:
        """Return one target for each implementation."""
        return [type(self)(self.connection, engine) for engine in _engines(self.connection.hello)]

    def not_run(self) -> Mapping[str, str]:
        """Return the engines that cannot run here, with reasons."""
        return dict(self.connection.hello.get("not_run", {}))

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Return why an optimizer or dtype is not among those that the program lists; None where it is, or none are."""
        if not self.stateful and kind_of(optimizer) == AVERAGE:
            return f"{self.name} has no stateful session, which averages need"
        listed = self.connection.hello.get("optimizers")
        if listed is None:
            return None
        if optimizer not in listed:
            return f"{self.name} does not list {optimizer}"
        offered = listed[optimizer]
        return (
            None if dtype in offered else f"{self.name} offers {optimizer} in {', '.join(offered) or 'no dtype'} only"
        )

    def declines(self, case: Case) -> str | None:
        """Return why a run is not offered; where it is, its outcome is kept for `run_whole`."""
        if case not in self._answered:
            self._keep(case, partial(self._run, case, ()))
        outcome = self._answered[case]
        if isinstance(outcome, Unoffered):
            del self._answered[case]
            return str(outcome)
        return None

    def _keep(self, case: Case, run: Callable[[], Array]) -> None:
        """Play a run, and keep its outcome until it is asked for."""
        try:
            self._answered[case] = run()
        except (Unoffered, TargetFault) as outcome:
            self._answered[case] = outcome
        while len(self._answered) > KEPT:
            del self._answered[next(iter(self._answered))]

    def _run_ahead(self, cases: Sequence[Case]) -> None:
        """Play cases in one message, and keep their outcomes; where that fails, each is played when asked for."""
        asked = []
        for case in cases[:KEPT]:
            line, payload = parts_of(case)
            request = {"do": RUN, "engine": self.engine, **line}
            read = partial(unpacked, case=case)
            asked.append(Gathered(request, read, elements=payload, size=answered_size(case)))
        try:
            for case, read_answer in zip(cases, list(self.connection.ask_together(asked)), strict=False):
                self._keep(case, read_answer)
        except TargetHung:  # all of them together take too long
            del self.run_ahead
        except TargetFault:
            return

    def run_whole(self, case: Case, fresh: Sequence[int]) -> Array:
        """Play a case in one message, and return the parameters after each step.

        Raises:
            TargetFault: the program's answer is wrong, or does not come.
        """
        if case in self._answered and not fresh:
            outcome = self._answered.pop(case)
            if isinstance(outcome, Exception):
                raise outcome if isinstance(outcome, TargetFault) else _did_not_run(outcome)
            return outcome
        try:
            return self._run(case, fresh)
        except Unoffered as reason:
            raise _did_not_run(reason) from None

    def _run(self, case: Case, fresh: Sequence[int]) -> Array:
        whole = RUN if self.packed else "run"
        begin = {"do": whole, "engine": self.engine, **({"fresh": list(fresh)} if fresh else {})}
        line = wire(begin)[:-2] + b"," + (packed if self.packed else body)(case)  # two objects become one
        steps = len(case.grads)
        times = max(-(-steps // STRETCH), 1)
        if self.packed:
            answer, behind = self.connection.ask_line(whole, line, (), steps, times, answered_size(case))
            return unpacked(answer, behind, case)
        answer, _ = self.connection.ask_line(whole, line, case.parameters, steps, times)
        raw = elements(rows(answer, steps, "run"), case.parameters)
        return np.frombuffer(raw, case.form.dtype).reshape(steps, case.size).copy()

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Any:
        """Begin a run that is fed step by step; a program without such runs plays all steps again for each."""
        dtype = parameters[0].dtype.name if parameters else "float32"
        begin = {"do": "start" if self.stateful else "run", "engine": self.engine}
        request = begin | beginning(optimizer, hyper, parameters, dtype)
        kept = [param.copy() for param in parameters]
        return (begun if self.stateful else Replayed)(self.connection, request, kept)

    start_wrapper = start

    def _in_turn(self, calls: Iterable[Call]) -> Iterator[list[Array]]:
        """Make calls of methods of runs, many in one message, and yield what each returns."""
        remaining = iter(calls)
        while block := list(islice(remaining, TOGETHER)):
            yield from made_together(self.connection, block)

    def _start_groups(self, optimizer: str, groups: Sequence[tuple[Hyper, Sequence[Array]]]) -> GroupsByMessages:
        """Begin a run over groups of parameters."""
        dtype = next((param.dtype.name for _, group in groups for param in group), "float32")
        begin = {"do": "start_groups", "engine": self.engine, "optimizer": optimizer, "dtype": dtype}
        return begun_in_groups(self.connection, begin, groups)


def _did_not_run(reason: Unoffered) -> TargetFault:
    return TargetFault(f"did not run what it offers: {reason}")


def beginning(optimizer: str, hyper: Hyper, parameters: Sequence[Array], dtype: str) -> dict[str, Any]:
    """Return the members of a request that describe the run that it begins."""
    kind = kind_of(optimizer)
    return {
        "optimizer": optimizer,
        **({} if kind == RULE else {"kind": kind}),
        "dtype": dtype,
        "hyper": hyper_as_json(hyper),
        "parameters": [encoded(param) for param in parameters],
    }


@lru_cache(maxsize=8)
def body(case: Case) -> bytes:
    """Return a case as it is sent, from its second brace on: engines in turn and laws ask for the same runs."""
    begin = beginning(case.optimizer, case.hyper, case.parameters, case.dtype)
    return wire({**begin, "steps": steps_of(case), **layouts_out(case)})[1:]


def steps_of(case: Case) -> list[dict[str, Any]]:
    """Return the steps of a case as they are sent."""
    return [{"grads": fed(grads), "learning_rate": as_json(rate)} for grads, rate in case.steps]


def _engines(hello: Mapping[str, Any]) -> Sequence[str]:
    return hello.get("engines") or ["default"]
