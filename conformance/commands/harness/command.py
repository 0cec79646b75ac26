"""Runs ``optimetry harness check``, which plays a session with a program and says what is wrong with each answer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.commands.arguments import seconds
from optimetry.conformance.commands.harness.interview import LONGEST, DeclaredEngine, Interview, Remark, Wrong
from optimetry.conformance.commands.harness.stateful_session import STEPS, StatefulSession, elsewhere, example
from optimetry.conformance.commands.text.terminal import counted
from optimetry.conformance.commands.workers.launching import PROGRAM, memory_of, program_of
from optimetry.conformance.harness.messages import elements, rows, sent_size
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.python_harness import RULE
from optimetry.conformance.targets.packed import RUN, answered_size, parts_of, unpacked
from optimetry.conformance.targets.program import beginning, steps_of
from optimetry.conformance.targets.session import kind_of
from optimetry.reference.errors import UsageError
from optimetry.reference.rules import RULES


class Rehearsal(Interview):
    """An interview that asks for all that the program offers.

    Args:
        program: the program, which has not been started.
        seconds: how long an answer may take.

    Attributes:
        runs: what two runs gave, by engine, optimizer and dtype.
    """

    def __init__(self, program: ProtocolProgram, seconds: float) -> None:
        super().__init__(program, seconds)
        self.runs: dict[tuple[str, str, str], tuple[bytes, bytes]] = {}

    def played(self) -> Iterator[Remark]:
        """Yield the finding on each answer, until there can be no more."""
        finding = self.finding("hello", self.greet)
        yield finding
        if finding.problems:
            return
        for engine in self.hello.get("engines") or ["default"]:
            for optimizer, dtypes in self._offered().items():
                for dtype in dtypes:
                    where = f" on {engine}" if "engines" in self.hello else ""
                    yield self.finding(
                        f"run of {optimizer} in {dtype}{where}", partial(self._runs, engine, optimizer, dtype)
                    )
                    if self.hung:
                        return
                    if self.hello.get("packed") and (engine, optimizer, dtype) in self.runs:
                        play = partial(self._packed, engine, optimizer, dtype)
                        yield self.finding(f"{RUN} of {optimizer} in {dtype}{where}", play)
        if self.hello.get("stateful") and self.runs:
            known, elements_after = next(iter(self.runs.items()))
            yield from StatefulSession(self, *known, *elements_after).played()
        yield self.finding("bye", self.leave)

    def _offered(self) -> Mapping[str, Sequence[str]]:
        """Return the optimizers to ask for, with dtypes: those that the program lists, else all rules in float32."""
        listed: Mapping[str, Sequence[str]] = self.hello.get("optimizers", {name: ["float32"] for name in RULES})
        return listed

    def _runs(self, engine: str, optimizer: str, dtype: str) -> str:
        """Play a run, the same without steps, and one of other inputs, which must give another answer."""
        case = example(DeclaredEngine(self.hello, engine), optimizer, dtype)
        run = self._run(engine, case)
        if isinstance(run, str):
            return run
        try:
            self._run(engine, case.replace(grads=(), learning_rates=()))
        except Wrong as wrong:
            raise Wrong(*(f"without steps: {text}" for text in wrong.args)) from None
        other = self._run(engine, elsewhere(case))
        if other == run or isinstance(other, str):
            inputs = "from other parameters" if kind_of(optimizer) == RULE else "that was fed other arrays"
            raise Wrong(f"gave the same for a run {inputs}: an answer belongs to its own request")
        self.runs[engine, optimizer, dtype] = run, other
        return f"{STEPS} steps"

    def _packed(self, engine: str, optimizer: str, dtype: str) -> str:
        """Play a run whose arrays follow the line as bytes; it must give the same as the run in a line."""
        case = example(DeclaredEngine(self.hello, engine), optimizer, dtype)
        line, packed = parts_of(case)
        request = {"do": RUN, "engine": engine, **line}
        answer, behind = self.asked_packed(request, packed, LONGEST, answered_size(case))
        if "unsupported" in answer:
            raise Wrong(f"says that what it has run is unsupported: {answer['unsupported']}")
        if unpacked(answer, behind, case).tobytes() != self.runs[engine, optimizer, dtype][0]:
            raise Wrong("gave other parameters than the same run in a line")
        return f"{STEPS} steps"

    def _run(self, engine: str, case: Case) -> bytes | str:
        """Return the elements of the arrays after each step, or the reason why the run is not offered."""
        begin = beginning(case.optimizer, case.hyper, case.parameters, case.dtype)
        request = {"do": "run", "engine": engine, **begin, "steps": steps_of(case)}
        answer = self.asked(request, sent_size(case.parameters) * len(case.grads))
        if "unsupported" not in answer:
            return elements(rows(answer, len(case.grads), "run"), case.parameters)
        if "optimizers" in self.hello:
            raise Wrong(f"says that what hello lists is unsupported: {answer['unsupported']}")
        return f"unsupported: {answer['unsupported']}"


EXAMPLES = """\
examples:
  optimetry harness check -- node harness.js
  optimetry harness check --time-limit 60 -- java -jar harness.jar

exit status: 0 every answer is as the protocol says; 1 some is not; 2 wrong usage.
Whether the optimizers are right is for `optimetry check`; docs/protocol.md has every message."""


def add_harness(commands: Any) -> None:
    """Add the command to the subparsers of ``optimetry``."""
    harness = commands.add_parser(
        "harness",
        help="check that a program speaks the protocol",
        description="Play a session with a program, and say what is wrong with its answers.",
        epilog=EXAMPLES,
    )
    harness.add_argument("action", choices=["check"], help=f"play a session with a program: {PROGRAM}")
    harness.add_argument("--time-limit", default="10", metavar="S", help="seconds one answer may take (default 10)")
    harness.add_argument("--memory-limit", metavar="SIZE", help="memory that it may hold, such as 512M or 8G")
    harness.set_defaults(command=harness_command)


def harness_command(options: argparse.Namespace) -> int:
    """Run ``optimetry harness check``."""
    if not options.program:
        raise UsageError(f"no program: {PROGRAM}")
    limit, memory = seconds("--time-limit", options.time_limit), memory_of(options.memory_limit)
    program = ProtocolProgram(program_of(options.program), memory=memory)
    try:
        answers = wrong = 0
        for finding in Rehearsal(program, limit).played():
            answers, wrong = answers + 1, wrong + bool(finding.problems)
            print(
                f"{'WRONG' if finding.problems else 'ok   '}  {finding.question}{finding.note and ': '}{finding.note}"
            )
            for problem in finding.problems:
                print(f"       {problem}")
    finally:
        program.end()
    print(f"\n{counted(answers, 'answer')}, {f'{wrong} wrong' if wrong else 'all as the protocol says'}")
    return 1 if wrong else 0
