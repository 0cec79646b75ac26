"""Plays a session with a target program: every kind of request, and for each answer what is wrong with it, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.messages import elements, member, rows, sent_size, violations
from optimetry.conformance.harness.program import Program, wire
from optimetry.conformance.harness.python_harness import (
    ACCUMULATED,
    AVERAGE,
    GROUPS,
    LIMITS,
    PROTOCOL,
    RULE,
    SCALED,
)
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import not_among
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.limits import hold_limits, limits_of
from optimetry.conformance.targets.program import beginning, steps_of
from optimetry.conformance.targets.session import kind_of
from optimetry.reference.errors import TargetError, TargetFault, TargetHung
from optimetry.reference.rules import RULES

LONGEST = 1 << 20
"""Bytes that an answer may have beside its arrays."""

LINGER = 0.05
"""Seconds that are waited for a second line behind each answer."""

STEPS = 3


@dataclass(frozen=True)
class Finding:
    """One answer.

    Attributes:
        what: what was asked.
        problems: what is wrong with the answer, in words; empty where nothing is.
        note: what the answer says, in a few words.
    """

    what: str
    problems: Sequence[str] = ()
    note: str = ""


class _Wrong(Exception):
    """The answer is not what was asked for; the texts say why."""


class Rehearsal:
    """A session with one program.

    Args:
        program: the program, which has not been started.
        seconds: how long an answer may take.

    Attributes:
        hello: what the program says of itself.
        runs: what two runs gave, by engine, optimizer and dtype.
    """

    def __init__(self, program: Program, seconds: float) -> None:
        self.program, self.seconds = program, seconds
        program.linger = LINGER
        self.hello: dict[str, Any] = {}
        self.runs: dict[tuple[str, str, str], tuple[bytes, bytes]] = {}
        self.hung = False

    def played(self) -> Iterator[Finding]:
        """Yield the finding on each answer, until there can be no more."""
        finding = self._found("hello", self._greet)
        yield finding
        if finding.problems:
            return
        for engine in self.hello.get("engines") or ["default"]:
            for optimizer, dtypes in self._offered().items():
                for dtype in dtypes:
                    where = f" on {engine}" if "engines" in self.hello else ""
                    yield self._found(
                        f"run of {optimizer} in {dtype}{where}", partial(self._runs, engine, optimizer, dtype)
                    )
                    if self.hung:
                        return
        if self.hello.get("stateful") and self.runs:
            yield from self._session()
        yield self._found("bye", self._leave)

    def _found(self, what: str, play: Callable[[], str]) -> Finding:
        """Play, and return what came of it."""
        try:
            return Finding(what, note=play())
        except _Wrong as wrong:
            return Finding(what, wrong.args)
        except TargetFault as fault:
            self.hung = isinstance(fault, TargetHung)
            last = fault.output.strip().splitlines()[-1:] if "standard error" not in str(fault) else []
            return Finding(what, [str(fault), *(f"the last on standard error: {line}" for line in last)])

    def _asked(self, request: Mapping[str, Any], size: int = 0) -> dict[str, Any]:
        """Return an answer that is as the schema says.

        Raises:
            _Wrong: it is not, or is an error.
            TargetFault: there is none.
        """
        if not self.program.running and request["do"] != "hello":
            self._greet()
        answer = self.program.ask(request["do"], wire(request), self.seconds, LONGEST + 4 * size)
        wrong = list(violations(f"{request['do']} answer", answer))
        if "error" in answer:
            wrong = [f"answered with an error: {answer['error']}"]
        if wrong:
            raise _Wrong(*wrong)
        return answer

    def _greet(self) -> str:
        self.hello = hello = self._asked({"do": "hello", "protocol": PROTOCOL})
        wrong = []
        for optimizer, dtypes in hello.get("optimizers", {}).items():
            if optimizer not in SUBJECTS:
                wrong.append(f"optimizers: {not_among('optimizer', optimizer, SUBJECTS)}")
            elif kind_of(optimizer) == AVERAGE and not hello.get("stateful"):
                wrong.append(f"optimizers: {optimizer}: an average needs a stateful session, which is not offered")
            elif not dtypes:
                wrong.append(f"optimizers: {optimizer}: no dtype is listed, must be some of {', '.join(FORMATS)}")
        for engine in hello.get("engines", ["default"]):
            try:
                hold_limits(_Said(hello, engine), engine)
            except TargetError as error:
                wrong.append(str(error).removeprefix("target "))
        if wrong:
            raise _Wrong(*wrong)
        language = f" ({hello['language']})" if "language" in hello else ""
        offers = f"offers {', '.join(hello['optimizers'])}" if "optimizers" in hello else "lists no optimizers"
        return f"{hello['name']} {hello['version']}{language}, {offers}"

    def _offered(self) -> Mapping[str, Sequence[str]]:
        """Return the optimizers to ask for, with dtypes: those that the program lists, else all rules in float32."""
        listed: Mapping[str, Sequence[str]] = self.hello.get("optimizers", {name: ["float32"] for name in RULES})
        return listed

    def _runs(self, engine: str, optimizer: str, dtype: str) -> str:
        """Play a run, the same without steps, and one from other parameters, whose answer must be another."""
        case = example(optimizer, dtype, limits_of(_Said(self.hello, engine), optimizer).offered)
        found = self._run(engine, case)
        if isinstance(found, str):
            return found
        try:
            self._run(engine, case.replace(grads=(), learning_rates=()))
        except _Wrong as wrong:
            raise _Wrong(*(f"without steps: {text}" for text in wrong.args)) from None
        other = self._run(engine, elsewhere(case))
        if other == found or isinstance(other, str):
            raise _Wrong("gave the same for a run from other parameters: an answer belongs to its own request")
        self.runs[engine, optimizer, dtype] = found, other
        return f"{STEPS} steps"

    def _run(self, engine: str, case: Case) -> bytes | str:
        """Return the elements of the arrays after each step, or the reason why the run is not offered."""
        begin = beginning(case.optimizer, case.hyper, case.parameters, case.dtype)
        request = {"do": "run", "engine": engine, **begin, "steps": steps_of(case)}
        answer = self._asked(request, sent_size(case.parameters) * len(case.grads))
        if "unsupported" not in answer:
            return elements(rows(answer, len(case.grads), "run"), case.parameters)
        if "optimizers" in self.hello:
            raise _Wrong(f"says that what hello lists is unsupported: {answer['unsupported']}")
        return f"unsupported: {answer['unsupported']}"

    def _session(self) -> Iterator[Finding]:
        """Play two runs in turn, step by step, and resume one; they must give what the whole run gave."""
        (engine, optimizer, dtype), (first, second) = next(iter(self.runs.items()))
        case = example(optimizer, dtype, limits_of(_Said(self.hello, engine), optimizer).offered)
        parameters = {1: case.parameters, 2: elsewhere(case).parameters, 4: case.parameters, 5: case.parameters}
        whole, size = {1: first, 2: second, 3: second, 4: first, 5: first}, len(first) // STEPS
        resumable, takes = False, list[str]()

        def start(run: int) -> str:
            nonlocal resumable, takes
            begin = {"engine": engine, **beginning(optimizer, case.hyper, parameters[run], case.dtype)}
            answer = self._of({"do": "start", "run": run, **begin})
            resumable, takes = bool(answer.get("resumable")), answer.get("takes", [])
            return f"{optimizer} in {dtype}{', which can be resumed' if resumable else ''}"

        def after(request: Mapping[str, Any], expected: bytes, count: int = 1) -> str:
            given = case.parameters * count
            answer = self._of(request, sent_size(given))
            if elements([member(answer, "after", request["do"])], given) != expected:
                raise _Wrong("gave other parameters than the same run in one message")
            return ""

        def step(run: int, number: int) -> str:
            return after({"do": "step", "run": run, **steps_of(case)[number]}, whole[run][number * size :][:size])

        def scaled() -> str:
            start(4)
            given = steps_of(case.replace(grads=tuple(map(_fourfold, case.grads))))[0]
            return after({"do": SCALED, "run": 4, **given, "scale": 4.0}, first[:size])

        def accumulated() -> str:
            start(5)
            given = steps_of(case)[0]
            parts = [given["grads"]] * 2
            request = {"do": ACCUMULATED, "run": 5, "parts": parts, "learning_rate": given["learning_rate"]}
            return after(request, first[:size])

        def grouped() -> str:
            groups = [_group(optimizer, case, parameters[run]) for run in (1, 2)]
            begin = {"do": "start_groups", "engine": engine, "optimizer": optimizer, "dtype": dtype}
            self._of({**begin, "run": 6, "groups": groups[:1]})
            self._of({"do": "add_group", "run": 6, **groups[1]})
            given = steps_of(case)[0]
            rates = [given["learning_rate"]] * 2
            request = {"do": "step_groups", "run": 6, "grads": given["grads"] * 2, "learning_rates": rates}
            return after(request, first[:size] + second[:size], 2)

        def resume() -> str:
            state = self._of({"do": "state", "run": 2})["state"]
            parameters[3] = unflattened(second[size:][:size], case.parameters)
            start(3)
            self._of({"do": "load", "run": 3, "state": state})
            return f"slots {', '.join(state) or 'none'}"

        def finish() -> str:
            self._of({"do": "end", "run": 1})
            return ""

        plays: list[tuple[str, Callable[[], str]]] = [(f"start of run {run}", partial(start, run)) for run in (1, 2)]
        for number, run in ((0, 1), (0, 2), (1, 1), (1, 2), (2, 1)):
            plays.append((f"step {number + 1} of run {run}", partial(step, run, number)))
        for what, play in plays:
            yield self._found(what, play)
            if self.hung:
                return
        if resumable:
            yield self._found("state of run 2, loaded into run 3", resume)
            yield self._found("step 3 of run 3", partial(step, 3, 2))
        for kind, play in ((SCALED, scaled), (ACCUMULATED, accumulated)):
            if kind in takes:
                yield self._found(kind, play)
        offers = {**self.hello, **self.hello.get("limits", {}).get(engine, {})}.get("offers", ())
        if GROUPS in offers and kind_of(optimizer) == RULE:
            yield self._found("a step of two groups, one of them added", grouped)
        yield self._found("end of run 1", finish)

    def _of(self, request: Mapping[str, Any], size: int = 0) -> dict[str, Any]:
        """Return an answer that is about the run that was asked for."""
        answer = self._asked(request, size)
        if "unsupported" in answer:
            raise _Wrong(f"says that what it has run is unsupported: {answer['unsupported']}")
        if answer["run"] != request["run"]:
            raise _Wrong(
                f"answered with run = {answer['run']}, must be {request['run']}: an answer belongs to its request"
            )
        return answer

    def _leave(self) -> str:
        status = self.program.close() if self.program.running else 0
        if status is None:
            raise _Wrong("did not end: a program must end when it is told bye, or its input ends")
        if status != 0:
            raise _Wrong(f"ended with exit status {status}, must be 0")
        return ""


class _Said:
    """What a program says of an engine, as the attributes of a target."""

    def __init__(self, hello: Mapping[str, Any], engine: str) -> None:
        for name, value in {**hello, **hello.get("limits", {}).get(engine, {})}.items():
            if name in LIMITS:
                setattr(self, name, value)


def elsewhere(case: Case) -> Case:
    """Return the run from other parameters."""
    return case.replace(parameters=_fourfold(case.parameters))


def _fourfold(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Return four times the arrays, which is exact; None stays None."""
    return tuple(None if array is None else np.asarray(4 * array, array.dtype) for array in arrays)


def _group(optimizer: str, case: Case, parameters: Sequence[Array]) -> dict[str, Any]:
    """Return a group of parameters as it is sent."""
    begin = beginning(optimizer, case.hyper, parameters, case.dtype)
    return {name: begin[name] for name in ("hyper", "parameters")}


def unflattened(raw: bytes, parameters: Sequence[Array]) -> tuple[Array, ...]:
    """Return arrays like the parameters with these elements, one behind the other."""
    ends = np.cumsum([param.nbytes for param in parameters])
    return tuple(
        np.frombuffer(raw[end - param.nbytes : end], param.dtype).reshape(param.shape)
        for end, param in zip(ends, parameters, strict=True)
    )


def example(optimizer: str, dtype: str, offered: Callable[[Case], Case]) -> Case:
    """Return a small run: a matrix, a 0-d and an empty parameter, a missing gradient, as far as they are offered."""
    subject = SUBJECTS[optimizer]
    kind = FORMATS[dtype].dtype
    rng = np.random.default_rng(0)
    shapes: Sequence[tuple[int, ...]] = ((2, 3), (), (0,))

    def drawn() -> tuple[Array, ...]:
        return tuple(np.asarray(rng.standard_normal(shape), kind) for shape in shapes)

    grads: list[tuple[Array | None, ...]] = [drawn() for _ in range(STEPS)]
    if kind_of(optimizer) == RULE:
        grads[1] = (grads[1][0], None, grads[1][2])
    hyper = {x.name: x.corners[0] if x.default is None else x.default for x in subject.hyperparameters()}
    return offered(Case(optimizer, dtype, hyper, (0.1,) * STEPS, drawn(), tuple(grads)))
