"""The conversation with a target program: who it is, the answers to requests, and the time that they may take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from optimetry.conformance.harness.messages import member, sent_size, violations
from optimetry.conformance.harness.program import LOADING_LIMIT, ProtocolProgram
from optimetry.conformance.harness.python_harness import BYTES, PROTOCOL
from optimetry.conformance.harness.wire import quoted, wire
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetError, TargetFault

SHORT = 1 << 20
"""Bytes that any answer may have, beside the arrays that are asked for."""

LINES = 20
"""The most lines printed by a program that are shown where it cannot be loaded."""

ROOM = 4
"""How many times the size of the expected arrays an answer may have, so that another dtype is reported by name."""


class Unoffered(Exception):
    """The program does not offer what is asked; the text is its reason."""


class Gathered(NamedTuple):
    """A request that is to be sent together with others.

    Attributes:
        request: the message.
        read: reads its answer, and the bytes behind that.
        expected: arrays of the shapes and dtypes that its answer must have.
        elements: what follows the request.
        size: how many bytes follow the answer at most, None where nothing is packed.
    """

    request: dict[str, Any]
    read: Callable[[dict[str, Any], bytes], Any]
    expected: Sequence[Array] = ()
    elements: bytes = b""
    size: int | None = None


class Connection:
    """A conversation with a program, started again after each fault.

    Args:
        program: the process.
        guard: what watches over each run.
        spec: what error texts call the target.

    Attributes:
        hello: what the program says of itself.
        finished: the runs that are needed no more: their numbers, and which process has begun them.
        gathered: requests that are to be sent together; None where each is sent alone.
    """

    def __init__(self, program: ProtocolProgram, guard: Guard, spec: str) -> None:
        self.program, self.guard = program, guard
        self.finished: list[tuple[int, int]] = []
        self.gathered: list[Gathered] | None = None
        self._numbers = count(1)
        try:
            self.hello = self._greeted()
        except TargetFault as fault:
            printed = [f"\n  {line}" for line in fault.output.strip().splitlines()[-LINES:]]
            raise TargetError(f"target {spec}: {fault}{''.join(printed if len(printed) > 1 else ())}") from fault
        program.beat = guard.heartbeat

    def _greeted(self) -> dict[str, Any]:
        request = {"do": "hello", "protocol": PROTOCOL}
        try:
            hello, _ = self.program.ask("hello", wire(request), LOADING_LIMIT, SHORT)
            if "error" in hello:
                raise TargetFault(str(hello["error"]))
            wrong = list(violations("hello answer", hello))
            if wrong:
                raise TargetFault(f"answered `hello` wrongly: {'; '.join(wrong)}")
        except TargetFault:
            self.program.end()
            raise
        return hello

    def ask(self, request: Mapping[str, Any], expected: Sequence[Array] = (), steps: int = 1) -> dict[str, Any]:
        """Return the answer to a request, as `ask_line` does."""
        return self.ask_line(request["do"], wire(request), expected, steps)[0]

    def ask_line(
        self, do: str, line: bytes, expected: Sequence[Array], steps: int, times: int = 1, size: int | None = None
    ) -> tuple[dict[str, Any], bytes]:
        """Return the answer to a request, and the bytes behind it, from a program that is started again if need be.

        Args:
            do: what is requested.
            line: the message, and what comes behind it.
            expected: arrays of the shapes and dtypes that the answer's line must have for each step.
            steps: how many steps it has.
            times: how many times the time limit it may take.
            size: how many bytes come behind its line, None where none may.

        Raises:
            Unoffered: the program does not offer it.
            TargetFault: the program says that there is an error, or does not answer.
        """
        if not self.program.running:
            self._greeted()
        longest = SHORT + ROOM * sent_size(expected) * steps
        answer, behind = self.program.ask(do, line, self.guard.time_limit * times, longest, size)
        return self._held(answer), behind

    def _held(self, answer: dict[str, Any]) -> dict[str, Any]:
        if "error" in answer:
            fault = TargetFault(str(answer["error"]))
            fault.output = self.program.printed
            raise fault
        if "unsupported" in answer:
            raise Unoffered(str(answer["unsupported"]))
        return answer

    def ask_together(self, gathered: Sequence[Gathered]) -> Iterator[Callable[[], Any]]:
        """Send requests in one message, and yield a function for each that reads its answer; it raises as `ask_line`.

        Raises:
            TargetFault: there are not as many answers, or none.
        """
        if not gathered:
            return
        elements = b"".join(each.elements for each in gathered)
        sizes = [each.size for each in gathered if each.size is not None]
        message = {"do": "several", "requests": [each.request for each in gathered]}
        line = wire({**message, BYTES: len(elements)} if sizes else message) + elements
        expected = [array for each in gathered for array in each.expected]
        answer, behind = self.ask_line("several", line, expected, 1, size=sum(sizes) if sizes else None)
        answers = member(answer, "answers", "several")
        if not isinstance(answers, list) or not all(isinstance(each, dict) for each in answers):
            raise TargetFault(f"answered `several` with {quoted(json.dumps(answers))}, must be a list of answers")
        if len(answers) != len(gathered):
            raise TargetFault(f"answered `several` with {len(answers)} answers, must be {len(gathered)}")
        for asked, reply in zip(gathered, answers, strict=True):
            size = reply.get(BYTES, 0)
            if type(size) is not int or not 0 <= size <= (asked.size or 0):
                raise TargetFault(
                    f"answered `several` with {BYTES} = {size!r} of one, must be at most {asked.size or 0}"
                )
            own, behind = behind[:size], behind[size:]
            yield partial(self._read, asked, reply, own)

    def _read(self, asked: Gathered, reply: dict[str, Any], elements: bytes) -> Any:
        return asked.read(self._held(reply), elements)

    def next_run(self) -> int:
        """Return the number of a new run, and let the program forget those that are finished."""
        while self.finished and self.program.running:
            run, starts = self.finished.pop()
            if starts == self.program.starts:  # else its process is gone, and this one has not begun it
                self.ask({"do": "end", "run": run})
        self.finished.clear()
        return next(self._numbers)
