"""Targets that do to their process what they like: one verdict each, and the judge goes on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.cli import main
from optimetry.conformance.harness.program import KEPT, ProtocolProgram
from optimetry.conformance.harness.starting import python_command
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault
from optimetry.reports.results import read

FEW = Effort("few", 4, 1)
GIB = 2**30
INTEL = pytest.mark.skipif(
    not (sys.platform.startswith("linux") and platform.machine() == "x86_64"),
    reason="the layout of the environment is that of x86-64 on Linux",
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are ended by their group, which POSIX has")


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[1])


def started(name: str) -> tuple[ProtocolProgram, ProgramTarget]:
    program = ProtocolProgram(python_command(None, f"hostile:{name}"), memory=GIB)
    return program, ProgramTarget.started(program, Guard(1.0))


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def gone(pid: int, patience: float = 10.0) -> bool:
    deadline = time.monotonic() + patience
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


DEEDS = [
    (
        "Segfault",
        r"its process was killed by SIGSEGV without an answer to `run_packed`; the last .*: 'about to read .*'",
    ),
    ("LeavesQuietly", r"its process ended with exit status 0 without an answer to `run_packed`"),
    ("LoopsDeaf", r"hung: one run took longer than 1 s"),
    ("ForkBomb", r"its process ended with exit status 1 without an answer to `run_packed`; the last .*: 'child \d+'"),
    ("Allocates", r"raised MemoryError: Unable to allocate 64\.0 GiB .*"),
    ("ClosesDescriptors", r"its process ended with exit status 1 without an answer to `run_packed`"),
    ("PrintsWithoutEnd", r"hung: one run took longer than 1 s"),
    (
        "LineWithoutEnd",
        r"answered `run_packed` with a line of more than \d+ bytes, which is more than any answer .*: 'xxx.*",
    ),
    ("HalfALine", r"hung: one run took longer than 1 s, after the beginning of a line: '\{\"after\": \[\[.*"),
    ("RaisesFloatErrors", r"changed how this process computes: np\.seterr\(divide='raise', .*"),
    pytest.param("FlushesToZero", r"changed how this process computes: subnormals are flushed to zero", marks=INTEL),
]


@pytest.mark.parametrize(("name", "reason"), DEEDS, ids=lambda value: value if value.isalpha() else "")
def test_a_hostile_target_costs_one_verdict(name: str, reason: str) -> None:
    """What it started is ended, the little that is kept of its output is shown, and sgd is judged behind it."""
    program, target = started(name)
    try:
        (lost,) = judge([target], "momentum", "float32", effort=FEW, seed=0, guard=target.connection.guard)
        assert lost.verdict == "error"
        assert re.fullmatch(reason, lost.reason), lost.reason
        output = (lost.counterexample or {}).get("output", "")
        assert len(output) <= KEPT
        if name == "PrintsWithoutEnd":
            assert "noise of a target" in output
        assert all(gone(int(pid)) for pid in re.findall(r"child (\d+)", output))
        (kept,) = judge([target], "sgd", "float32", effort=FEW, seed=0, guard=target.connection.guard)
        assert (kept.verdict, kept.reason) == ("conforms", "")
    finally:
        program.close()


@INTEL
def test_a_library_that_sets_its_process_up_once_is_judged_by_what_it_computes() -> None:
    """Which is sgd for momentum, too: the run that changed the process is repeated."""
    program, target = started("FlushesOnce")
    try:
        (verdict,) = judge([target], "momentum", "float32", effort=FEW, seed=0)
    finally:
        program.close()
    assert verdict.reason.startswith("computes the documented rule with momentum = 0 whatever is given")


def test_a_run_of_the_command_ends_with_a_footer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--dtype", "float32", "--effort", "quick", "-n", "1", "--out", str(tmp_path)]
    assert main(["check", "hostile:Segfault", *options, "--optimizer", "momentum", "--optimizer", "sgd"]) == 1
    lost, kept = read(tmp_path / "results.jsonl").verdicts
    assert (lost.verdict, kept.verdict) == ("error", "conforms")
    assert lost.counterexample is not None
    assert lost.counterexample["output"] == "about to read address 0\n"
    assert "killed by SIGSEGV" in capsys.readouterr().out


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a process with its parent")
def test_a_killed_judge_leaves_no_target_behind() -> None:
    """In the middle of a run that never ends."""
    code = (
        "import sys\n"
        "from optimetry.conformance.harness.program import ProtocolProgram\n"
        "from optimetry.conformance.harness.starting import python_command\n"
        "from optimetry.conformance.targets.program import ProgramTarget\n"
        "from optimetry.conformance.targets.session import Guard\n"
        "program = ProtocolProgram(python_command(None, 'hostile:LoopsDeaf'))\n"
        "target = ProgramTarget.started(program, Guard(600.0))\n"
        "print(program.pid, flush=True)\n"
        "from tests.conformance.deeds import SGD\n"
        "target.run_whole(SGD.replace(optimizer='momentum', hyper={'momentum': 0.9, 'use_nesterov': False}), ())\n"
    )
    root = str(Path(__file__).parents[3])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as judge_:
        assert judge_.stdout is not None
        pid = int(judge_.stdout.readline())
        time.sleep(0.3)
        assert alive(pid)
        judge_.kill()
    assert gone(pid)


def test_what_cannot_be_loaded_shows_what_it_has_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import sys; print('one\\ntwo', file=sys.stderr); sys.exit(4)"
    assert main(["check", "--", sys.executable, "-S", "-c", code]) == 2
    printed = capsys.readouterr().err
    assert (
        ": its process ended with exit status 4 without an answer to `hello`" in printed or "before `hello`" in printed
    )
    assert printed.endswith("\n  one\n  two\n")


def test_a_program_is_ended_with_its_worker() -> None:
    program, _ = started("Honest")
    pid = program.pid
    assert pid is not None
    assert alive(pid)
    program.close()
    assert not alive(pid)
    assert program.pid is None


def test_starting_a_program_runs_no_python_between_fork_and_exec() -> None:
    """A judge that has imported JAX has threads: what Python does in a fork of it may wait for their locks for ever."""
    code = (
        "import os, sys\n"
        "os.register_at_fork(before=lambda: print('forked'), after_in_child=lambda: print('forked'))\n"
        "from optimetry.conformance.harness.starting import started\n"
        f"process = started([sys.executable, '-S', '-c', 'print(1)'], {GIB})\n"
        "print(process.communicate()[0])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("b'1\\n'\n", "")


@pytest.mark.parametrize(
    ("command", "reason"), [("no-such-program", "No such file or directory"), ("/", "Permission denied")]
)
def test_a_program_that_cannot_be_started_says_why(command: str, reason: str) -> None:
    with pytest.raises(TargetFault, match=f"^cannot start '{command}': {reason}$"):
        ProtocolProgram([command]).start()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is limited is Linux's")
def test_a_limit_above_that_of_this_process_leaves_the_tighter_one() -> None:
    code = "import resource, sys; sys.stdout.write(str(resource.getrlimit(resource.RLIMIT_DATA)))"
    again = (
        "import resource; resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))\n"
        "import sys; from optimetry.conformance.harness.starting import started\n"
        f"print(started([sys.executable, '-S', '-c', {code!r}], 2**40).communicate()[0].decode())"
    )
    ended = subprocess.run([sys.executable, "-c", again], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == (f"{(GIB, GIB)}\n", "")
