"""The command as a process: at a terminal, interrupted, and read by who has seen enough."""

import os
import pty
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest

from optimetry.reports.results import read

MINIATURES = str(Path(__file__).parents[1])
QUICK = ("--effort", "quick", "--optimizer", "sgd", "--dtype", "float32")
COMMAND = (sys.executable, "-c", "import sys; from optimetry.conformance.commands.cli import main; sys.exit(main())")


def environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join([MINIATURES, *filter(None, sys.path)])}


def test_a_terminal_gets_a_progress_bar():
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    subprocess.run([*COMMAND, "check", "miniatures:Correct", *QUICK], stderr=theirs, env=environment(), check=True)
    os.set_blocking(ours, False)
    seen = os.read(ours, 10_000).decode()
    os.close(theirs)
    os.close(ours)
    assert "1/1" in seen or "0/1" in seen


def gone(group, patience=10.0):
    """Wait until every process of a group has ended; return whether that happened in time."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        states = subprocess.run(["ps", "-e", "-o", "pgid=,stat="], check=True, capture_output=True, text=True).stdout
        if not any(int(row.split()[0]) == group and row.split()[1][0] != "Z" for row in states.splitlines()):
            return True
        time.sleep(0.1)
    return False


# What a shell starts in the background inherits that Ctrl-C is ignored.
INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "


def test_ctrl_c_is_status_130_and_leaves_an_unfinished_file(tmp_path):
    *python, code = COMMAND
    arguments = (*python, INTERRUPTIBLE + code, "check", "miniatures:Hangs", *QUICK, "--out", str(tmp_path / "out"))
    with subprocess.Popen(
        arguments, stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True
    ) as running:
        file = tmp_path / "out" / "results.jsonl"
        while not file.exists() or '"kind": "document"' not in file.read_text(encoding="utf-8"):
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=20)
    kept = f"what is finished is kept in {tmp_path / 'out'}: the same command with --resume goes on"
    assert (running.returncode, err) == (130, f"optimetry: interrupted; {kept}\n")
    assert gone(running.pid)
    with pytest.raises(ValueError, match="unfinished"):
        read(file)


@pytest.mark.slow
def test_ctrl_c_ends_the_museum_and_its_processes_at_once():
    *python, code = COMMAND
    with subprocess.Popen(
        (*python, INTERRUPTIBLE + code, "museum", "-n", "2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment() | {"PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline()  # the other process is busy
        os.killpg(running.pid, signal.SIGINT)
        try:
            _, err = running.communicate(timeout=20)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, err.endswith("optimetry: interrupted\n"), "Traceback" in err) == (130, True, False)
    assert gone(running.pid)


def test_a_reader_that_has_seen_enough_is_no_traceback():
    running = subprocess.Popen(
        [*COMMAND, "targets"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    assert running.stderr.read() == ""
    assert running.wait() == 141
    running.stderr.close()


@pytest.mark.parametrize(
    ("words", "redirected", "said"),
    [
        ("rules", ">/dev/full", "optimetry: error: standard output cannot be written: No space left on device\n"),
        ("targets", ">/dev/full", "optimetry: error: standard output cannot be written: No space left on device\n"),
        ("check no.such:Target", ">&-", "no module 'no'"),
    ],
)
def test_output_that_cannot_be_written_is_no_verdict(words, redirected, said):
    shell = f'"$@" {words} {redirected}'
    ended = subprocess.run(
        ["sh", "-c", shell, "sh", *COMMAND], stderr=subprocess.PIPE, text=True, env=environment(), check=False
    )
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_target_is_judged_where_standard_output_is_closed():
    shell = f'"$@" check miniatures:Correct {" ".join(QUICK)} >&-'
    ended = subprocess.run(
        ["sh", "-c", shell, "sh", *COMMAND], stderr=subprocess.PIPE, text=True, env=environment(), check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_fault_of_optimetry_is_status_2_with_its_traceback(optimetry, monkeypatch):
    monkeypatch.setattr("optimetry.conformance.commands.targets.builtin_names", lambda: 1 / 0)
    status, out, err = optimetry("targets")
    assert (status, out) == (2, "")
    assert err.startswith("Traceback ")
    assert err.endswith("ZeroDivisionError: division by zero\n")


def interrupted_in_a_search(*asked):
    """Run a command, end its first search of two edits by Ctrl-C, and return what it prints.

    The terminal shows what the search does, and that it was interrupted, without a traceback.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 200))
    *python, code = COMMAND
    with subprocess.Popen(
        (*python, INTERRUPTIBLE + code, *asked),
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env=environment(),
        start_new_session=True,
    ) as running:
        os.close(theirs)
        seen = b""
        while b"formulas with 2 edits, none is near" not in seen:
            seen += os.read(ours, 10_000)
        os.killpg(running.pid, signal.SIGINT)
        out, _ = running.communicate(timeout=60)
        while b"optimetry: interrupted" not in seen or not seen.endswith(b"\r\n"):
            seen += os.read(ours, 10_000)  # an error once there is no more
    os.close(ours)
    assert running.returncode == 130
    kept = b"; what is finished is kept in" in seen
    assert kept == ("--out" in asked)
    assert b"Traceback" not in seen
    assert gone(running.pid)
    return " ".join(out.split())


BEYOND = ("miniatures:BeyondTheSearch", "--optimizer", "rmsprop", "--dtype", "float32")


@pytest.mark.slow
def test_ctrl_c_ends_a_search_and_what_is_known_is_reported():
    printed = interrupted_in_a_search("diagnose", *BEYOND)
    assert "float32: DIVERGES, nothing known explains it" in printed
    assert "; the search was interrupted after " in printed


def test_ctrl_c_in_a_check_writes_the_verdict_on_what_was_searched_and_no_other(tmp_path):
    """It is the last one of the file, which is unfinished: a run with --resume goes on behind it."""
    asked = ("--effort", "quick", "--search", "60", "-n", "1", "--optimizer", "ftrl", "--out", str(tmp_path))
    printed = interrupted_in_a_search("check", *BEYOND, *asked)
    assert "rmsprop float32 diverges" in printed
    (verdict,) = read(tmp_path / "results.jsonl", unfinished=True).verdicts
    assert (verdict.optimizer, verdict.verdict) == ("rmsprop", "diverges")
    assert "; the search was interrupted after " in verdict.reason
    with pytest.raises(ValueError, match="unfinished"):
        read(tmp_path / "results.jsonl")
