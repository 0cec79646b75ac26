"""Asks a target program questions, and says in words what is wrong with each answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.harness.messages import said_of, violations
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.python_harness import AVERAGE, LIMITS, PROTOCOL
from optimetry.conformance.harness.wire import wire
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.subjects.names import not_among
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.limits import hold_limits
from optimetry.conformance.targets.session import kind_of
from optimetry.reference.errors import TargetError, TargetFault, TargetHung

LONGEST = 1 << 20
"""Bytes that an answer may have beside its arrays."""

LINGER = 0.05
"""Seconds that are waited for a second line behind each answer."""


@dataclass(frozen=True)
class Remark:
    """The finding on one answer.

    Attributes:
        question: what was asked.
        problems: what is wrong with the answer, in words; empty where nothing is.
        note: what the answer says, in a few words.
    """

    question: str
    problems: Sequence[str] = ()
    note: str = ""


class Wrong(Exception):
    """The answer is not what was asked for; the texts say why."""


class Interview:
    """An interview with one program.

    Args:
        program: the program, which has not been started.
        seconds: how long an answer may take.

    Attributes:
        hello: what the program says of itself.
        hung: whether it left an answer out, so that nothing more can be asked.
    """

    def __init__(self, program: ProtocolProgram, seconds: float) -> None:
        self.program, self.seconds = program, seconds
        program.linger = LINGER
        self.hello: dict[str, Any] = {}
        self.hung = False

    def finding(self, question: str, play: Callable[[], str]) -> Remark:
        """Play, and return the finding on the answer."""
        try:
            return Remark(question, note=play())
        except Wrong as wrong:
            return Remark(question, wrong.args)
        except TargetFault as fault:
            self.hung = isinstance(fault, TargetHung)
            last = fault.output.strip().splitlines()[-1:] if "standard error" not in str(fault) else []
            return Remark(question, [str(fault), *(f"the last on standard error: {line}" for line in last)])

    def asked(self, request: Mapping[str, Any], size: int = 0) -> dict[str, Any]:
        """Send a request; return its answer, which is as the schema says.

        Raises:
            Wrong: it is not, or is an error.
            TargetFault: there is none.
        """
        return self.asked_packed(request, b"", LONGEST + 4 * size)[0]

    def asked_packed(
        self, request: Mapping[str, Any], elements: bytes, longest: int, most: int | None = None
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request; return its answer, and the bytes that follow; raises as `asked` does.

        Args:
            request: the message.
            elements: what follows it.
            longest: the most bytes that the line of the answer may have.
            most: the most bytes that may follow that line, None where none may.
        """
        if not self.program.running and request["do"] != "hello":
            self.greet()
        answer, behind = self.program.ask(request["do"], wire(request) + elements, self.seconds, longest, most)
        wrong = list(violations(f"{request['do']} answer", answer))
        if "error" in answer:
            wrong = [f"answered with an error: {answer['error']}"]
        if wrong:
            raise Wrong(*wrong)
        return answer, behind

    def about_run(self, request: Mapping[str, Any], size: int = 0) -> dict[str, Any]:
        """Return an answer that is about the run that was asked for."""
        answer = self.asked(request, size)
        self.hold(request, answer)
        return answer

    @staticmethod
    def hold(request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Check that an answer is about the run that was asked for.

        Raises:
            Wrong: it is not.
        """
        if "error" in answer:
            raise Wrong(f"answered with an error: {answer['error']}")
        if "unsupported" in answer:
            raise Wrong(f"says that what it has run is unsupported: {answer['unsupported']}")
        if answer["run"] != request["run"]:
            raise Wrong(
                f"answered with run = {answer['run']}, must be {request['run']}: an answer belongs to its request"
            )

    def greet(self) -> str:
        """Say hello, and return what the program says of itself, in a few words.

        Raises:
            Wrong: it says what cannot be.
        """
        self.hello = hello = self.asked({"do": "hello", "protocol": PROTOCOL})
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
                hold_limits(DeclaredEngine(hello, engine), engine)
            except TargetError as error:
                wrong.append(str(error).removeprefix("target "))
        if wrong:
            raise Wrong(*wrong)
        language = f" ({hello['language']})" if "language" in hello else ""
        offers = f"offers {', '.join(hello['optimizers'])}" if "optimizers" in hello else "lists no optimizers"
        return f"{hello['name']} {hello['version']}{language}, {offers}"

    def leave(self) -> str:
        """Say bye.

        Raises:
            Wrong: the program does not end as it must.
        """
        status = self.program.close() if self.program.running else 0
        if status is None:
            raise Wrong("did not end: a program must end when it is told bye, or its input ends")
        if status != 0:
            raise Wrong(f"ended with exit status {status}, must be 0")
        return ""


class DeclaredEngine:
    """What a program says of an engine: its limits, as the attributes of a target, and what it offers beside runs."""

    def __init__(self, hello: Mapping[str, Any], engine: str) -> None:
        declared = said_of(hello, engine)
        self.offers: Sequence[str] = declared.get("offers", ())
        for name in LIMITS:
            if name in declared:
                setattr(self, name, declared[name])
