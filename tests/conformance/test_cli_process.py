"""The command as a process: at a terminal, interrupted, and read by who has seen enough."""

import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from optimetry.reports.results import read

MINIATURES = str(Path(__file__).parent)
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
    """Whether every process of a group has ended, soon."""
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
        while not (tmp_path / "out" / "results.jsonl").exists():
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=20)
    assert (running.returncode, err) == (130, "optimetry: interrupted\n")
    assert gone(running.pid)
    with pytest.raises(ValueError, match="unfinished"):
        read(tmp_path / "out" / "results.jsonl")


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


def test_ctrl_c_ends_a_search_and_what_is_known_is_reported():
    """The terminal shows what the search does; the report says that it was interrupted, and there is no traceback."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 200))
    *python, code = COMMAND
    asked = ("diagnose", "miniatures:BeyondTheSearch", "--optimizer", "rmsprop", "--dtype", "float32")
    with subprocess.Popen(
        (*python, INTERRUPTIBLE + code, *asked),
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env=environment(),
        start_new_session=True,
    ) as running:
        os.close(theirs)
        seen = ""
        while "formulas with 2 edits, none is near" not in seen:
            seen += os.read(ours, 10_000).decode()
        os.killpg(running.pid, signal.SIGINT)
        out, _ = running.communicate(timeout=60)
        seen += os.read(ours, 10_000).decode()
    os.close(ours)
    assert running.returncode == 130
    assert seen.endswith("optimetry: interrupted\r\n")
    assert "Traceback" not in seen
    said = " ".join(out.split())
    assert "float32: DIVERGES, nothing known explains it" in said
    assert "; the search was interrupted after " in said
    assert gone(running.pid)
