"""Parses the command ``optimetry``. Usage is checked in full before anything is written; main() returns the status.

A command is imported when it is called: who checks an optimizer waits for no campaign and no benchmark.
"""

from __future__ import annotations

import argparse
import difflib
import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple, NoReturn

from optimetry.conformance.commands.ci import annotation
from optimetry.conformance.subjects.names import not_among
from optimetry.reference.errors import OptimetryError, TargetError, UsageError
from optimetry.reports.results import ResultsError

EXAMPLES = """\
examples:
  optimetry check numpy --effort quick                     our own reference, which must conform
  optimetry check torch --optimizer adam --dtype float32   one optimizer of an installed framework
  optimetry check torch --book torch                       against torch's own document in place of fluid's
  optimetry check optax --book papers                      against the original publications
  optimetry check mypackage.adapter:Target --out results   your own, with counterexamples to keep
  optimetry check torch:mypackage.MyAdam --as adam         a class of yours, as one rule (docs/your-own-class.md)
  optimetry check -- node harness.js                       a program in any language (docs/another-language.md)
  optimetry targets                                        the built-in targets
  optimetry rules adam                                     what is documented of one optimizer; without a name, all
  optimetry accuracy adapter:MyTarget --optimizer adam     how far it drifts from the rule in ten thousand steps
  optimetry certify torch --optimizer adam --blocks 8      every pair of a parameter and a gradient, or a share
  optimetry campaign torch --scheduler local --out results  checks and certificates, as tasks of a cluster of Dask
  optimetry bench adapter:MyTarget --optimizer adam        how fast, beside our backend and the speed of memory
  optimetry report results --out page                      tables from kept results
  optimetry report results others --site site              pages to look at: open site/index.html

exit status: 0 all that is offered conforms or was expected; 1 some is not; 2 wrong usage, a target or file that cannot
be loaded or written, nothing judged since every verdict is unsupported and no ledger is given, or a fault of optimetry
itself; 130 after Ctrl-C; 141 the reader of the output has gone."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of standard output; those of a file in the folder for results name it."""


class Help(argparse.RawDescriptionHelpFormatter):
    """Breaks a text of one line where the terminal ends; keeps the lines of any other, such as examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text.strip():
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors as `UsageError`, in one line, and takes no abbreviated option."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "formatter_class": Help, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Raise an error that argparse would print before it exits."""
        raise UsageError(f"{message} (try `{self.prog} --help`)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments as `argparse` does, but refuse those that are unknown here, where the options are known."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = self._option_string_actions
            words = (word.partition("=")[0] for word in unknown)
            near = [other for word in words for other in difflib.get_close_matches(word, known, n=1, cutoff=0.75)]
            hint = f"; did you mean {' '.join(near)}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options, unknown


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status, which `EXAMPLES` describes."""
    _open_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a dash that the terminal cannot show must not fail the run
    options = None
    try:
        own, program = split(sys.argv[1:] if arguments is None else arguments)
        if own and own[0] not in COMMANDS and not own[0].startswith("-"):
            raise UsageError(not_among("command", own[0], COMMANDS))
        options = parser(own[0] if own and own[0] in COMMANDS else None).parse_args(own)
        options.program = program
        status = _status(options)
        sys.stdout.flush()
    except (OptimetryError, ResultsError) as error:
        if options is not None and getattr(options, "github", False):
            print(annotation(str(error), title="optimetry"))
        print(f"optimetry: error: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"optimetry: error: not enough memory{f': {error}' if str(error) else ''}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"optimetry: interrupted{_what_goes_on(options)}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has closed the pipe
        _discard_output()
        return 141
    except Exception as error:  # the status 1 is a verdict's
        if isinstance(error, OSError) and error.errno in FULL:
            print(f"optimetry: error: standard output cannot be written: {error.strerror}", file=sys.stderr)
            _discard_output()
        else:
            traceback.print_exc()
        return 2
    return status


def _status(options: argparse.Namespace) -> int:
    """Run a command.

    Raises:
        TargetError: a target that runs in this process ends it, by whatever status.
    """
    try:
        status: int = options.command(options)
    except SystemExit as error:
        raise TargetError(f"the target ended the process: SystemExit({error.code!r})") from error
    return status


def _open_streams() -> None:
    """Discard what is written to a stream that the caller has closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the process ends


def _discard_output() -> None:
    """Discard what standard output still holds, and all that follows."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _what_goes_on(options: argparse.Namespace | None) -> str:
    """Say how a run goes on that keeps what is finished in the folder of ``--out``; nothing of any other."""
    out, again = getattr(options, "out", None), getattr(options, "again", None)
    return f"; what is finished is kept in {out}: the same command{again} goes on" if out and again is not None else ""


def split(arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Split the arguments of a command that takes a program into its own and those of the program."""
    words = list(arguments)
    if not (words and words[0] in COMMANDS and COMMANDS[words[0]].program and "--" in words):
        return words, ()
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def parser(command: str | None = None) -> Parser:
    """Build the parser of the command line; with one command alone if it is named, so that no other is imported."""
    top = Parser(
        prog="optimetry",
        description="Does an optimizer compute what its document says, to the last rounding error?",
        epilog=EXAMPLES,
    )
    top.add_argument("--version", action="version", version=f"optimetry {metadata.version('optimetry')}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (where, _) in COMMANDS.items():
        if command in (None, name):
            resolve_name(f"{__package__}.{where}")(commands)
    return top


class Command(NamedTuple):
    """A command: the module and the function that add it to the parser, and whether it takes ``-- program``."""

    where: str
    program: bool = False


COMMANDS = {
    "check": Command("check:add_check", program=True),
    "diagnose": Command("diagnose:add_diagnose", program=True),
    "targets": Command("targets:add_targets"),
    "rules": Command("rules:add_rules"),
    "accuracy": Command("accuracy:add_accuracy_command", program=True),
    "bench": Command("bench:add_bench"),
    "certify": Command("certify:add_certify", program=True),
    "campaign": Command("campaigns.command:add_campaign", program=True),
    "harness": Command("harness.command:add_harness", program=True),
    "report": Command("report:add_report"),
    "vectors": Command("vectors:add_vectors"),
    "museum": Command("museum:add_museum"),
}
"""The commands by their names."""
