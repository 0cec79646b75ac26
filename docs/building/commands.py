"""Writes the reference of the command line as Markdown: what ``--help`` of every command prints."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from unittest import mock

from optimetry.conformance.commands.cli import parser

WIDTH = 92
"""Columns of a help text, however wide the terminal of the build is."""


def page() -> str:
    """Write one page: a section for each command, and for each command of a command."""
    with mock.patch.dict(os.environ, {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}):
        return "\n\n".join(_sections(parser())) + "\n"


def _sections(command: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## {command.prog}"
    yield f"```text\n{command.format_help().rstrip()}\n```"
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _sections(below)
