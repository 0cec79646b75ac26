"""Plays the code blocks of a page in a folder, in order, as a reader would; what is shown must be what happens.

A ``python`` block that begins with a file's name in a comment is written to that file, any other is run. An ``sh``
block is run line by line, each with the status that its comment gives (``# status 1``), else 0. A ``text`` block that
begins with a file's name is written, too; any other shows lines of what was printed last. Figures are not compared:
they depend on the machine.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optimetry.conformance.commands.cli import main

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w./]+\.\w+)\n")
STATUS = re.compile(r"\s+# status (\d)$")

IN_THIS_PROCESS = {"check": ("-n", "1")}
"""Options that a command is given here: starting workers takes longer than what they would do."""


def blocks(text: str) -> list[tuple[str, str]]:
    """The code blocks of a page, each with its language."""
    return BLOCK.findall(text)


def play(text: str, folder: Path, names: Mapping[str, Any] | None = None) -> None:
    """Play a page in a folder, which must be the current one.

    Args:
        text: the page.
        folder: where its files are written.
        names: what blocks of Python may use before they define it.

    Raises:
        AssertionError: something else happens than what is shown.
    """
    space, printed = dict(names or {}), ""
    for language, code in blocks(text):
        file = FILE.match(code)
        if file and language in ("python", "text"):
            (folder / file[1]).write_text(code, encoding="utf-8")
        elif language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, "<page>", "exec"), space)
            printed = out.getvalue()
        elif language == "sh":
            printed = "".join(_run(line, folder) for line in code.splitlines() if line.startswith("optimetry "))
        elif language == "text" and printed:
            missing = [line for line in code.splitlines() if _plain(line) not in _plain(printed)]
            assert not missing, f"not printed: {missing}, but\n{printed}"


def _run(line: str, folder: Path) -> str:
    """Run one command, and return what it printed."""
    for name, module in list(sys.modules.items()):  # files of the page may have changed
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]
    status = STATUS.search(line)
    words = shlex.split(STATUS.sub("", line))[1:]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        returned = main([*words, *IN_THIS_PROCESS.get(words[0], ())])
    assert returned == int(status[1] if status else 0), f"{line}\n{out.getvalue()}"
    return out.getvalue()


def _plain(text: str) -> str:
    """Leave out what differs between machines: figures, and how wide columns are."""
    return " ".join(re.sub(r"(?<![\w.*])[\d.,]+(e[+-]\d+)?(?!\w)", "#", text).split())
