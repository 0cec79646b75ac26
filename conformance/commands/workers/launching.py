"""Parses which target is judged and how it is run: in the worker's process, in one of its own, or as a program."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from optimetry.conformance.harness.starting import python_command
from optimetry.conformance.subjects.registry import chosen_in
from optimetry.conformance.targets.loading import program_command
from optimetry.conformance.targets.own import MAKERS
from optimetry.conformance.targets.own_loading import Own, parsed
from optimetry.reference.errors import UsageError

OWN_HARNESS = "optimetry.conformance.targets.own_harness"
"""The module that plays a target, or an optimizer of a user, under the interpreter of the judge."""

SIZES = {"M": 2**20, "G": 2**30}

OWN = (
    f"TARGET is FRAMEWORK:module.Name, where the framework is one of {', '.join(MAKERS)}, and Name a class or a "
    "function that makes an optimizer (docs/your-own-class.md)"
)

PROGRAM = "everything behind `--` is a program that speaks the protocol, as in `-- node harness.js`"


class Launch(NamedTuple):
    """How a target is run.

    Attributes:
        spec: what it is called: a built-in name, ``module:object``, or the command.
        command: the program to start, None where the target is imported into the worker's process, beside the judge.
        memory: bytes that the program may hold, None for no limit.
        own: the user's optimizer that the target is made of, None where it is a whole library.
        options: the options of a command line that say how it is run.
        program: whether the command was named behind ``--``.
    """

    spec: str
    command: tuple[str, ...] | None = None
    memory: int | None = None
    own: Own | None = None
    options: tuple[str, ...] = ()
    program: bool = False


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the target and the options of how it is run to a command."""
    parser.add_argument("target", nargs="?", metavar="TARGET", help=f"a built-in name, or module:object; {PROGRAM}")
    add_own(parser)
    parser.add_argument(
        "--beside", action="store_true", help="run TARGET in the process of the judge, without one of its own"
    )
    parser.add_argument(
        "--python",
        metavar="PYTHON",
        help="run TARGET under this interpreter: an adapter needs NumPy there, a class with --as optimetry",
    )
    parser.add_argument(
        "--memory-limit", metavar="SIZE", help="memory that a process of its own may hold, such as 512M or 8G"
    )


class _Once(argparse.Action):
    """Takes the value of an option that is given once."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest)
        if before is not None:
            raise argparse.ArgumentError(self, f"{before} and {values}: must be one rule, each by its own command")
        setattr(namespace, self.dest, values)


def add_own(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what one optimizer of a user is to compute."""
    group = parser.add_argument_group("one optimizer of yours", OWN)
    about = "the rule that it is to compute, such as torch.nadam"
    group.add_argument("--as", dest="rule", metavar="RULE", action=_Once, help=about)
    group.add_argument(
        "--with",
        dest="arguments",
        nargs="+",
        action="extend",
        default=[],
        metavar="ARGUMENT=VALUE",
        help="which hyperparameter an argument is, where its name does not tell: eps=epsilon, betas=beta1,beta2, "
        "speed=learning_rate; or a fixed value, as in steps=100",
    )


def launch_of(options: Any) -> Launch:
    """Return how the target that the options name is run.

    Raises:
        UsageError: there is no target, or two, or an option that does not fit; the text says what is allowed.
    """
    memory = memory_of(options.memory_limit)
    _refuse(options)
    how = ("--beside",) if options.beside else ()
    how += ("--python", options.python) if options.python is not None else ()
    how += ("--memory-limit", options.memory_limit) if memory is not None else ()
    if options.program:
        return Launch(shlex.join(options.program), program_of(options.program), memory, options=how, program=True)
    own = own_of(options.target, options)
    if options.python is not None:
        program_of([options.python], "--python")
    return Launch(options.target, _command_of(options, own), memory, own, how)


def _refuse(options: Any) -> None:
    """Refuse options that exclude each other."""
    if options.beside:
        apart = {"--": options.program, "--python": options.python, "--memory-limit": options.memory_limit}
        for option, value in apart.items():
            if value:
                raise UsageError(f"--beside: must be left out with {option}, which is for a process of its own")
    if options.program:
        for_target = {
            f"target {options.target!r}: must be left out where a program is named behind `--`": options.target,
            f"--as {options.rule}: is for TARGET; a program says itself which optimizers it offers": options.rule,
            f"--python = {options.python!r}: is for TARGET; a program behind `--` names its own": options.python,
            f"--with {' '.join(options.arguments)}: is for TARGET and --as": options.arguments or None,
        }
        for text, value in for_target.items():
            if value is not None:
                raise UsageError(text)
    elif options.target is None:
        raise UsageError(f"no TARGET, must be a built-in name (`optimetry targets`), or module:object; {PROGRAM}")


def _command_of(options: Any, own: Own | None) -> tuple[str, ...] | None:
    """Return the command that plays TARGET; None where it is imported beside the judge.

    Raises:
        UsageError: TARGET is a program, and cannot be found, or is to run beside the judge.
    """
    played = None if own is not None else program_command(options.target, options.python)
    if played is not None:
        if options.beside:
            raise UsageError(f"--beside: must be left out with {options.target}, which is a program")
        return program_of(played, f"target {options.target}")
    if options.beside:
        return None
    if own is None and options.python is not None:
        return tuple(python_command(options.python, options.target))
    arguments = (options.target,) if own is None else (own.spec, own.rule, *own.arguments)
    return options.python or sys.executable, "-m", OWN_HARNESS, *arguments


def own_of(target: str, options: Any) -> Own | None:
    """Return the user's optimizer that the options describe; None where TARGET is a whole library.

    Raises:
        UsageError: the options do not fit together, or cannot be read.
    """
    if options.rule is None:
        if options.arguments:
            raise UsageError(f"--with {options.arguments[0]}: needs --as, the rule that TARGET stands for")
        return None
    (rule,) = chosen_in(options.book, [options.rule])
    parsed(options.arguments)
    return Own(target, rule, tuple(options.arguments))


def judged_as(own: Own | None, asked: Sequence[str] | None) -> list[str]:
    """Return, in a list, the rule that an optimizer of the user is to compute; nothing for a whole library.

    Raises:
        UsageError: optimizers are asked for beside it.
    """
    if own is None:
        return []
    if asked:
        raise UsageError(f"--optimizer {asked[0]}: must be left out, --as {own.rule} says which it is")
    return [own.rule]


def program_of(command: Sequence[str], option: str = "program") -> tuple[str, ...]:
    """Return a command whose program can be found.

    Raises:
        UsageError: it cannot; the text names it.
    """
    if shutil.which(command[0]) is None:
        why = "is no program that can be run" if Path(command[0]).exists() else "is not found"
        raise UsageError(f"{option} = {command[0]!r}: {why}, here or on the PATH")
    return tuple(command)


def memory_of(text: str | None) -> int | None:
    """Parse the argument of ``--memory-limit``.

    Raises:
        UsageError: it is no size.
    """
    if text is None:
        return None
    match = re.fullmatch(r"([1-9][0-9]*)([MG])", text)
    if match is None:
        raise UsageError(f"--memory-limit = {text!r}, must be a whole number with M or G behind it, such as 512M or 8G")
    return int(match[1]) * SIZES[match[2]]
