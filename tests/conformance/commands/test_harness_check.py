"""`optimetry harness check` on miniature harnesses: an honest one passes, and each lie is told in words of its own."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from optimetry.conformance.commands.cli import main
from optimetry.conformance.commands.harness import interview
from optimetry.conformance.commands.harness.command import Rehearsal
from optimetry.conformance.commands.harness.interview import Remark
from optimetry.conformance.harness import program as program_module
from optimetry.conformance.harness.program import ProtocolProgram

MINIATURE = (sys.executable, "-S", str(Path(__file__).parents[1] / "lying_harness.py"))

LIES = [
    ("says another protocol", "hello", r"protocol: 1 was expected"),
    ("has no name", "hello", r"the answer: 'name' is a required property"),
    (
        "offers what there is not",
        "hello",
        r"optimizers: unknown optimizer 'sdg', must be one of: .*; did you mean sgd\?",
    ),
    ("offers nothing of an optimizer", "hello", r"optimizers: sgd: no dtype is listed, must be some of float16, .*"),
    ("pins what there is not", "hello", r"default: pinned: sgd: unknown hyperparameter 'beta', must be one of: .*"),
    ("averages without a session", "hello", r"optimizers: exponential_moving_average: an average needs a stateful .*"),
    ("log before JSON", "hello", r"answered `hello` with a line that is no JSON: 'Loading the library' .*"),
    (
        "wrong shape",
        "run",
        r"step 3 returned parameter 0 as float64 of shape \(6,\), must be float64 of shape \(2, 3\)",
    ),
    (
        "wrong dtype",
        "run",
        r"step 3 returned parameter 0 as float32 of shape \(2, 3\), must be float64 of shape \(2, 3\)",
    ),
    ("wrong size", "run", r"step 3 returned parameter 0 as 40 bytes, must be 48: float64 of shape \(2, 3\)"),
    ("wrong letters", "run", r"after\[2\]\[0\]\.data: '\*.*' does not match .*"),
    ("too few steps", "run", r"answered `run` with 2 steps, must be 3"),
    ("too few parameters", "run", r"step 2 returned 2 parameters, must be 3"),
    ("a list of numbers", "run", r".*\[1\.0, 2\.0\] is not of type 'object'.*"),
    ("another member", "run", r".*'took' was unexpected.*"),
    ("fails", "run", r"answered with an error: out of luck"),
    ("declines", "run", r"says that what hello lists is unsupported: not today"),
    (
        "answers another run",
        "run",
        r"gave the same for a run from other parameters: an answer belongs to its own request",
    ),
    ("needs steps", "run", r"without steps: answered with an error: no steps"),
    ("late", "run", r"hung: one run took longer than 1 s"),
    ("never answers", "run", r"hung: one run took longer than 1 s"),
    (
        "truncated line",
        "run",
        r"its process ended with exit status 0 .*, after the beginning of a line: '\{\"after\": .*",
    ),
    ("half a line", "run", r"hung: one run took longer than 1 s, after the beginning of a line: '\{\"after\": .*"),
    ("two lines", "run", r"answered `run` with more than one line: then came '\{\"after\": .*"),
    ("a second line later", "run", r"answered `run` with more than one line: then came '\{\"after\": .*"),
    ("garbage before JSON", "run", r"answered `run` with a line that is no JSON: 'INFO step done \{.*"),
    ("a list", "run", r"answered `run` with '\[1, 2\]', must be a JSON object"),
    ("lists without end", "run", r"answered `run` with a line that is no JSON: '\[\[\[.*"),
    (
        "a line without end",
        "run",
        r"answered `run` with a line of more than \d+ bytes, which is more than any answer .*",
    ),
    ("closes its output", "run", r"closed its standard output without an answer to `run`"),
    (
        "dies after hello",
        "run",
        r"its process ended with exit status 1 .*; the last on standard error: 'licence expired'",
    ),
    ("stateful, another number", "step 1 of run 1", r"answered with run = 7, must be 1: an answer belongs .*"),
    ("stateful, mixes runs up", "step 1 of run 2", r"gave other parameters than the same run in one message"),
    ("stateful, does not resume", "state of run 2, loaded", r"answered with an error: cannot load"),
    ("stateful, forgets the scale", "step_scaled", r"gave other parameters than the same run in one message"),
    ("stateful, sums the parts", "step_accumulated", r"gave other parameters than the same run in one message"),
    ("stateful, adds the first group", "a step of two groups", r"gave other parameters than the same run .*"),
    ("stateful, leaves an answer out", "several steps", r"answered `several` with 5 answers, must be 6"),
    ("stateful, answers in another order", "several steps", r"answered with run = 8, must be 7: an answer belongs .*"),
    ("stateful, fails among several", "several steps", r"answered with an error: out of luck"),
    ("packed, too few bytes", "run_packed", r"hung: one run took longer than 1 s, after 160 of 168 bytes"),
    ("packed, too many bytes", "run_packed", r"answered `run_packed` with more than 168 bytes: then came '.*"),
    (
        "packed, says fewer bytes",
        "run_packed",
        r"answered `run_packed` with 160 bytes, must be 168: 3 steps of 7 elements in float64",
    ),
    ("packed, says more bytes", "run_packed", r"answered `run_packed` with bytes = '176', must be at most 168"),
    ("packed, bytes as text", "run_packed", r"answered `run_packed` with bytes = \"'168'\", must be at most 168"),
    ("packed, other bytes", "run_packed", r"gave other parameters than the same run in a line"),
    ("packed, dies in the middle", "run_packed", r"its process ended with exit status 0 .*, after 16 of 168 bytes"),
    ("stays", "bye", r"did not end: a program must end when it is told bye, or its input ends"),
    ("fails at the end", "bye", r"ended with exit status 3, must be 0"),
]


def findings(lie: str, seconds: float = 60.0) -> list[Remark]:
    program = ProtocolProgram([*MINIATURE, lie])
    try:
        return list(Rehearsal(program, seconds).played())
    finally:
        program.end()


@pytest.mark.parametrize("honest", ["honest", "stateful", "packed"])
def test_an_honest_harness_passes(honest: str) -> None:
    played = findings(honest)
    assert [finding for finding in played if finding.problems] == []
    plays = [finding.question for finding in played]
    assert plays[:2] == ["hello", "run of sgd in float64"]
    assert plays[-1] == "bye"
    assert ("step 3 of run 3" in plays) == (honest == "stateful")
    assert ("several steps of two runs at once" in plays) == (honest == "stateful")
    assert ("run_packed of sgd in float64" in plays) == (honest == "packed")


WRAPPING = """
from optimetry.conformance.harness import python_harness
from optimetry.conformance.subjects.wrappers import WRAPPERS

class Player(python_harness.Player):
    def hello(self, request):
        return {**super().hello(request), "optimizers": {name: ["float64"] for name in FIRST or WRAPPERS}}

python_harness.converse(Player("numpy"))
"""
"""A harness of the reference's wrappers."""


@pytest.mark.parametrize("first", ["", "model_average", "l2_decay"])
def test_a_harness_of_wrappers_passes(first: str) -> None:
    """The first that is offered is also played step by step, and an average resumed."""
    program = ProtocolProgram([sys.executable, "-c", f"FIRST = {[first] if first else []}\n{WRAPPING}"])
    try:
        played = list(Rehearsal(program, 60.0).played())
    finally:
        program.end()
    assert [finding for finding in played if finding.problems] == []
    assert ("step 3 of run 3" in [finding.question for finding in played]) == (first != "l2_decay")


@pytest.mark.parametrize(("lie", "where", "pattern"), LIES, ids=[lie for lie, _, _ in LIES])
def test_a_lie_is_told_in_words_of_its_own(lie: str, where: str, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "hung" in pattern
    if lie.startswith("stateful"):  # dozens of answers, whose lies are no second lines
        monkeypatch.setattr(interview, "LINGER", 0.001)
    elif lie in ("a second line later", "dies after hello"):  # which a slow machine may be late to do
        monkeypatch.setattr(interview, "LINGER", 1.0)
    elif lie in ("stays", "closes its output"):
        monkeypatch.setattr(program_module, "PATIENCE", 0.3)
    wrong = [finding for finding in findings(lie, 1.0 if slow else 60.0) if finding.problems]
    assert wrong
    assert wrong[0].question.startswith(where)
    assert any(re.fullmatch(pattern, problem) for problem in wrong[0].problems), wrong[0].problems


def test_every_lie_of_the_miniature_is_tried() -> None:
    text = Path(MINIATURE[-1]).read_text(encoding="utf-8")
    assert set(re.findall(r'LIE == "([^"]+)"', text)) == {lie for lie, _, _ in LIES}


@pytest.mark.parametrize(("lie", "status"), [("honest", 0), ("wrong shape", 1)])
def test_the_command_prints_each_answer(lie: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["harness", "check", "--", *MINIATURE, lie]) == status
    out = capsys.readouterr().out
    assert "ok     hello: miniature 1.0, offers sgd\n" in out
    assert ("\nWRONG  run of sgd in float64\n       step 3 returned parameter 0" in out) == (status == 1)
    assert out.endswith("3 answers, 1 wrong\n" if status else "3 answers, all as the protocol says\n")


def test_a_program_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["harness", "check"]) == 2
    assert "no program: everything behind `--` is a program" in capsys.readouterr().err
