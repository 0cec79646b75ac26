"""What is printed on a terminal and what in a pipe."""

from __future__ import annotations

import sys

import pytest

from optimetry.conformance.commands.terminal import shown, terminal_width

TABLE = """\
optimizer  verdict   reason
---------  --------  ------
adam       diverges  [1]
sgd        conforms

[1]  it diverges"""


def test_a_pipe_has_no_colours_and_a_fixed_width() -> None:
    assert shown(TABLE) == TABLE
    assert terminal_width() == 120


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
