"""Plays a stateful session with a target program: interleaved runs by steps, which must give what whole runs give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.commands.harness.interview import DeclaredEngine, Interview, Remark, Wrong
from optimetry.conformance.harness.messages import elements, member, sent_size
from optimetry.conformance.harness.python_harness import ACCUMULATED, GROUPS, RULE, SCALED
from optimetry.conformance.numerics.arrays import Array, apart
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.program import beginning, steps_of
from optimetry.conformance.targets.session import kind_of

STEPS = 3


class StatefulSession:
    """Eight runs of one optimizer, each compared with one of two whole runs.

    Args:
        interview: with the program.
        engine: the engine.
        optimizer: the optimizer.
        dtype: the dtype.
        first: the elements of the run of `example` after each step, one behind the other.
        second: those of the run `elsewhere`.
    """

    def __init__(
        self, interview: Interview, engine: str, optimizer: str, dtype: str, first: bytes, second: bytes
    ) -> None:
        self.interview, self.engine, self.optimizer, self.dtype = interview, engine, optimizer, dtype
        self.declared = DeclaredEngine(interview.hello, engine)
        self.case = example(self.declared, optimizer, dtype)
        other = elsewhere(self.case)
        self.begins = {1: self.case, 2: other, 4: self.case, 5: self.case, 7: self.case, 8: other}
        self.whole = {1: first, 2: second, 3: second, 4: first, 5: first, 7: first, 8: second}
        self.size = len(first) // STEPS
        self.resumable, self.takes = False, list[str]()

    def played(self) -> Iterator[Remark]:
        """Yield the finding on each answer, until there can be no more."""
        plays: list[tuple[str, Callable[[], str]]] = [
            (f"start of run {run}", partial(self._start, run)) for run in (1, 2)
        ]
        for number, run in ((0, 1), (0, 2), (1, 1), (1, 2), (2, 1)):
            plays.append((f"step {number + 1} of run {run}", partial(self._step, run, number)))
        for question, play in plays:
            yield self.interview.finding(question, play)
            if self.interview.hung:
                return
        if self.resumable:
            yield self.interview.finding("state of run 2, loaded into run 3", self._resume)
            yield self.interview.finding("step 3 of run 3", partial(self._step, 3, 2))
        for kind, play in ((SCALED, self._scaled), (ACCUMULATED, self._accumulated)):
            if kind in self.takes:
                yield self.interview.finding(kind, play)
        if GROUPS in self.declared.offers and kind_of(self.optimizer) == RULE:
            yield self.interview.finding("a step of two groups, one of them added", self._grouped)
        if self.interview.hello.get("several"):
            yield self.interview.finding("several steps of two runs at once", self._several)
        yield self.interview.finding("end of run 1", self._end)

    def _start(self, run: int) -> str:
        begin = beginning(self.optimizer, self.case.hyper, self.begins[run].parameters, self.dtype)
        answer = self.interview.about_run({"do": "start", "run": run, "engine": self.engine, **begin})
        self.resumable, self.takes = bool(answer.get("resumable")), answer.get("takes", [])
        return f"{self.optimizer} in {self.dtype}{', which can be resumed' if self.resumable else ''}"

    def _step(self, run: int, number: int) -> str:
        request = {"do": "step", "run": run, **steps_of(self.begins[run])[number]}
        return self._after(request, self.whole[run][number * self.size :][: self.size])

    def _scaled(self) -> str:
        self._start(4)
        step = steps_of(self.case.mapped(grad=fourfold))[0]
        return self._after({"do": SCALED, "run": 4, **step, "scale": 4.0}, self.whole[4][: self.size])

    def _accumulated(self) -> str:
        self._start(5)
        step = steps_of(self.case)[0]
        request = {"do": ACCUMULATED, "run": 5, "parts": [step["grads"]] * 2, "learning_rate": step["learning_rate"]}
        return self._after(request, self.whole[5][: self.size])

    def _grouped(self) -> str:
        groups = [_group(self.begins[run]) for run in (1, 2)]
        begin = {"do": "start_groups", "engine": self.engine, "optimizer": self.optimizer, "dtype": self.dtype}
        self.interview.about_run({**begin, "run": 6, "groups": groups[:1]})
        self.interview.about_run({"do": "add_group", "run": 6, **groups[1]})
        step = steps_of(self.case)[0]
        rates = [step["learning_rate"]] * 2
        request = {"do": "step_groups", "run": 6, "grads": step["grads"] * 2, "learning_rates": rates}
        return self._after(request, self.whole[1][: self.size] + self.whole[2][: self.size], 2)

    def _several(self) -> str:
        runs = (7, 8)
        for run in runs:
            self._start(run)
        steps = {run: steps_of(self.begins[run]) for run in runs}
        requests = [{"do": "step", "run": run, **steps[run][number]} for number in range(STEPS) for run in runs]
        size = sent_size(self.case.parameters) * len(requests)
        answers = self.interview.asked({"do": "several", "requests": requests}, size)["answers"]
        if len(answers) != len(requests):
            raise Wrong(f"answered `several` with {len(answers)} answers, must be {len(requests)}")
        for i, (request, answer) in enumerate(zip(requests, answers, strict=True)):
            run, step = request["run"], i // len(runs)
            self.interview.hold(request, answer)
            self._compare(request, answer, self.whole[run][step * self.size :][: self.size], self.case.parameters)
        return f"{len(requests)} steps"

    def _resume(self) -> str:
        state = self.interview.about_run({"do": "state", "run": 2})["state"]
        self.begins[3] = self.begins[2]
        if kind_of(self.optimizer) == RULE:
            after = np.frombuffer(self.whole[2][self.size :][: self.size], self.case.form.dtype)
            self.begins[3] = self.case.replace(parameters=tuple(apart(after, self.case.parameters)))
        self._start(3)
        self.interview.about_run({"do": "load", "run": 3, "state": state})
        return f"slots {', '.join(state) or 'none'}"

    def _end(self) -> str:
        self.interview.about_run({"do": "end", "run": 1})
        return ""

    def _after(self, request: Mapping[str, Any], expected: bytes, groups: int = 1) -> str:
        """Ask for a step, after which the parameters must have the elements expected."""
        parameters = self.case.parameters * groups
        answer = self.interview.about_run(request, sent_size(parameters))
        return self._compare(request, answer, expected, parameters)

    @staticmethod
    def _compare(
        request: Mapping[str, Any], answer: Mapping[str, Any], expected: bytes, parameters: Sequence[Array]
    ) -> str:
        if elements([member(answer, "after", request["do"])], parameters) != expected:
            raise Wrong("gave other parameters than the same run in one message")
        return ""


def elsewhere(case: Case) -> Case:
    """Return a run that must give another result: a rule's from other parameters, a wrapper's fed the negatives.

    A clip or an average does not depend on parameters, and limits or signs may be the same of four times an array.
    """
    if kind_of(case.optimizer) == RULE:
        return case.mapped(param=fourfold)
    return case.mapped(grad=np.negative)


def fourfold(array: Array) -> Array:
    """Return four times an array, which is exact."""
    return np.asarray(4 * array, array.dtype)


def _group(case: Case) -> dict[str, Any]:
    """Return a group of parameters as it is sent."""
    begin = beginning(case.optimizer, case.hyper, case.parameters, case.dtype)
    return {name: begin[name] for name in ("hyper", "parameters")}


def example(engine: DeclaredEngine, optimizer: str, dtype: str) -> Case:
    """Return a small run: a matrix, a 0-d and an empty parameter, a missing gradient, as far as the engine has them."""
    kind = FORMATS[dtype].dtype
    rng = np.random.default_rng(0)
    shapes: Sequence[tuple[int, ...]] = ((2, 3), (), (0,))

    def drawn() -> tuple[Array, ...]:
        return tuple(np.asarray(rng.standard_normal(shape), kind) for shape in shapes)

    grads: list[tuple[Array | None, ...]] = [drawn() for _ in range(STEPS)]
    if kind_of(optimizer) == RULE:
        grads[1] = (grads[1][0], None, grads[1][2])
    hyper = SUBJECTS[optimizer].declaration.typical().hyper()
    case = Case(optimizer, dtype, hyper, (0.1,) * STEPS, drawn(), tuple(grads))
    return limits_of(engine, optimizer).offered(case)
