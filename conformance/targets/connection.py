"""The conversation with a target program: who it is, the answers to requests, and the time that they may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from optimetry.conformance.harness.messages import sent_size, violations
from optimetry.conformance.harness.program import Program, wire
from optimetry.conformance.harness.python_harness import PROTOCOL
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetError, TargetFault

LOADING_LIMIT = 300.0
"""Seconds that loading a target may take: frameworks are large, and disks cold."""

SHORT = 1 << 20
"""Bytes that any answer may have, beside the arrays that are asked for."""

LINES = 20
"""Lines that a program has printed which are shown where it cannot be loaded."""

ROOM = 4
"""How many times the size of the expected arrays an answer may have: another dtype is a fault that has words."""


class Unoffered(Exception):
    """The program does not offer what is asked; the text is its reason."""


class Connection:
    """A conversation with a program, started again after each fault.

    Args:
        program: the process.
        guard: what watches over each run.
        spec: what error texts call the target.

    Attributes:
        hello: what the program says of itself.
        finished: the numbers of runs that are needed no more.
    """

    def __init__(self, program: Program, guard: Guard, spec: str) -> None:
        self.program, self.guard = program, guard
        self.finished: list[int] = []
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
            hello = self.program.ask("hello", wire(request), LOADING_LIMIT, SHORT)
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
        return self.ask_line(request["do"], wire(request), expected, steps)

    def ask_line(self, do: str, line: bytes, expected: Sequence[Array], steps: int, times: int = 1) -> dict[str, Any]:
        """Return the answer to a request, from a program that is started again if need be.

        Args:
            do: what is requested.
            line: the message.
            expected: what the answer has for each step, in shape and dtype.
            steps: how many steps it has.
            times: how many times the time limit it may take.

        Raises:
            Unoffered: the program does not offer it.
            TargetFault: the program says that there is an error, or does not answer.
        """
        if not self.program.running:
            self._greeted()
        longest = SHORT + ROOM * sent_size(expected) * steps
        answer = self.program.ask(do, line, self.guard.time_limit * times, longest)
        if "error" in answer:
            fault = TargetFault(str(answer["error"]))
            fault.output = self.program.printed
            raise fault
        if "unsupported" in answer:
            raise Unoffered(str(answer["unsupported"]))
        return answer

    def next_run(self) -> int:
        """Return the number of a new run, and let the program forget those that are finished."""
        while self.finished and self.program.running:
            self.ask({"do": "end", "run": self.finished.pop()})
        self.finished.clear()
        return next(self._numbers)

    def close(self) -> None:
        """End the program."""
        self.program.close()
