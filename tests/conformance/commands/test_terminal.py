"""What is printed on a terminal and what in a pipe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from optimetry.conformance.commands.text.progress import ending_searches, progress_bar
from optimetry.conformance.commands.text.terminal import filled, shown, terminal_width
from optimetry.conformance.commands.workers.worker import inherited

TABLE = """\
optimizer  verdict   reason
---------  --------  ------
adam       diverges  [1]
sgd        conforms

[1]  it diverges"""


def test_a_pipe_has_no_colours_and_a_fixed_width() -> None:
    assert shown(TABLE) == TABLE
    assert terminal_width() == 120


def test_a_line_is_broken_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    line = " ".join(["word"] * 30)
    assert filled(line) == line
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    assert [len(piece) for piece in filled(line).split("\n")] == [79, 69]


@pytest.mark.parametrize("name", ["NO_COLOR", "TERM"])
def test_outcomes_are_coloured_on_a_terminal_that_wants_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    red, green, end = "\033[31m", "\033[32m", "\033[0m"
    assert shown(TABLE) == TABLE.replace("diverges  [1]", f"{red}diverges{end}  [1]").replace(
        "conforms", f"{green}conforms{end}"
    )
    monkeypatch.setenv(name, "dumb")
    assert shown(TABLE) == TABLE


def test_progress_is_shown_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    with progress_bar(1) as bar:
        bar.set_postfix_str("searching")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar(1) as bar:
        bar.set_postfix_str("searching")
    assert "searching" in capsys.readouterr().err


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What a shell starts in the background inherits that Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_the_first_ctrl_c_ends_searches_and_the_next_one_the_command() -> None:
    with ending_searches(lambda: True) as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with ending_searches(lambda: False) as interrupted, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert not interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_while_a_process_starts_ends_the_command_behind_it() -> None:
    """It was lost, and the run went on: a worker takes most of a second to start."""
    child = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"

    def started() -> None:
        with inherited():
            held.append(subprocess.run([sys.executable, "-c", child], check=True, stdout=subprocess.PIPE).stdout)
            held.append(os.environ["OMP_NUM_THREADS"])
            signal.raise_signal(signal.SIGINT)  # to this thread: one of pytest-xdist's would take it at any time
            held.append("held back")

    held: list[object] = []
    threads = os.environ.get("OMP_NUM_THREADS")
    with pytest.raises(KeyboardInterrupt):
        started()
    assert held == [b"True\n", threads or "1", "held back"]
    assert os.environ.get("OMP_NUM_THREADS") == threads
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
