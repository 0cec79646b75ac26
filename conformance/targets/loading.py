"""Loads the target that a ``TARGET`` argument names: a built-in name, or ``module:object``."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
import weakref
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from optimetry.conformance import targets
from optimetry.conformance.harness import python_harness
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.subjects.names import near_miss
from optimetry.conformance.targets.limits import hold_limits
from optimetry.conformance.targets.own import MAKERS
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard
from optimetry.conformance.targets.table import FRAMEWORKS, Framework
from optimetry.reference.errors import TargetError, UsageError

NOT_INSTALLED = "not installed"


def builtin_names() -> list[str]:
    """Return the names of the targets that come with optimetry: one for each folder in ``conformance/targets``."""
    return sorted(module.name for module in iter_modules(targets.__path__) if module.ispkg)


def extras() -> Mapping[str, list[str]]:
    """Return the requirements of each extra of optimetry, such as ``torch>=2.6``. An extra is named as its target."""
    needed: dict[str, list[str]] = {}
    for requirement in metadata.requires("optimetry") or ():
        asked, _, condition = requirement.partition(";")
        extra = re.search(r"""extra == ['"]([\w.-]+)['"]""", condition)
        if extra:
            needed.setdefault(extra[1], []).append(asked.strip())
    return needed


def requirements(name: str) -> list[str]:
    """Return what a built-in target needs: its extra, or the distribution alone; nothing for our own targets."""
    row = FRAMEWORKS.get(name)
    if row is None:
        return []
    return extras().get(name, [row.distribution]) if row.extra else [pin(row), *row.beside]


def pin(row: Framework) -> str:
    """Return what a framework's registry calls the version that its table was written for."""
    return f"{row.distribution}{'==' if row.registry == 'pip' else '@'}{row.version}"


def install_hint(name: str) -> str:
    """Return the command that installs what a built-in target needs, and what else will do."""
    row = FRAMEWORKS.get(name)
    command = install_command(name)
    if row and row.python:
        return f"{command}, and --python {name}-env/bin/python"
    return f"{command}, or name a Python that has it by --python" if row and row.apart else command


def install_command(name: str) -> str:
    """Return the command that installs what a built-in target needs, into an environment of its own if it must."""
    row = FRAMEWORKS.get(name)
    registry = row.registry if row else "pip"
    command = f"{registry} install " + " ".join(f'"{requirement}"' for requirement in requirements(name))
    return f"python{row.python} -m venv {name}-env && {name}-env/bin/{command}" if row and row.python else command


def version_note(name: str, version: str) -> str:
    """Return a note where a framework's installed version is not the one its adapter is for, else an empty text."""
    row = FRAMEWORKS.get(name)
    if row is None or version.split("+", maxsplit=1)[0] == row.version:
        return ""
    return (
        f"Note: the adapter was written for {name} {row.version} and has not been checked against {version}. "
        f'For verdicts as published: {row.registry} install "{pin(row)}"'
    )


def distribution_of(requirement: str) -> str:
    """Return the name that a requirement begins with."""
    match = re.match(r"[\w.-]+", requirement)
    return match[0] if match else requirement


def builtin_version(name: str) -> str:
    """Return the version of a built-in target's framework, without importing it, or what else has it."""
    row = FRAMEWORKS.get(name)
    if row is None:  # our own targets, which need nothing more
        try:
            return load_target(name).version
        except TargetError as error:
            return f"not available: {error}"
    if not row.extra:
        return f"of {f'Python {row.python}' if row.python else row.registry}"
    try:
        first, *_ = (metadata.version(distribution_of(each)) for each in requirements(name))  # all must be there
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED
    version = first.split("+")[0]
    return version if version == row.version else f"{version}, adapter for {row.version}"


def is_missing(name: str) -> bool:
    """Return whether this Python lacks a built-in target's framework."""
    row = FRAMEWORKS.get(name)
    return row is not None and (not row.extra or builtin_version(name) == NOT_INSTALLED)


def builtin_meaning(name: str) -> str:
    """Return the first line of the docstring of a built-in target's package, which is not imported."""
    spec = importlib.util.find_spec(f"{targets.__name__}.{name}")
    source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    return (ast.get_docstring(ast.parse(source)) or "").split("\n")[0].rstrip(".").replace("`", "")


def load_target(spec: str) -> Target:
    """Load the target that ``spec`` names.

    Args:
        spec: a built-in name, or ``module:object`` where the object is a class, an instance or a function without
            arguments that returns one; a module of the current directory is found.

    Raises:
        TargetError: with ``spec``, what is wrong with it, and a remedy where there is one.
    """
    hold_name(spec)
    name, colon, path = spec.partition(":")
    if not colon:
        command = program_command(name)
        return made(_builtin(name), spec) if command is None else program_target(name, command)
    candidate = _imported(name, spec)
    for attribute in path.split("."):
        try:
            candidate = getattr(candidate, attribute)
        except AttributeError as error:
            remedy = "needs the rule that it stands for: --as, in pytest --optimizer-rule"
            hint = f"; one optimizer of yours {remedy}" if name in MAKERS else ""
            raise TargetError(f"target {spec}: {error}{hint}") from None
    return made(candidate, spec)


def hold_name(spec: str) -> None:
    """Check that ``spec`` can name a target.

    Raises:
        TargetError: it cannot; the text says what may stand there.
    """
    name, colon, path = spec.partition(":")
    names = builtin_names()
    file = _file_hint(name, path) if all(word.isidentifier() for word in path.split(".") if path) else ""
    if not colon and name not in names:
        raise TargetError(
            f"unknown target {name!r}, must be one of: {', '.join(names)}, or your own as module:object"
            f"{file or near_miss(name, names)}"
        )
    if colon and not all(word.isidentifier() for word in [*name.split("."), *path.split(".")]):
        raise TargetError(f"target {spec!r}: must be the name of a built-in target, or module:object{file}")


def _file_hint(name: str, path: str) -> str:
    """Return ``; did you mean adapter:MyTarget?`` where the name is that of a Python file here, else nothing."""
    stem = name.removesuffix(".py")
    module = stem.replace("/", ".")
    if not all(word.isidentifier() for word in module.split(".")) or not Path(f"{stem}.py").is_file():
        return ""
    return f"; did you mean {module}:{path}?" if path else f"; did you mean {module}:NAME, with what {stem}.py defines?"


def program_command(name: str, python: str | None = None) -> list[str] | None:
    """Return the command that plays a framework whose adapter is a program; None for any other target.

    Args:
        name: the target's.
        python: the interpreter to use where Python runs it, by default this one.

    Raises:
        UsageError: it is not run by Python, and an interpreter is named.
    """
    row = FRAMEWORKS.get(name)
    if row is None or not row.program:
        return None
    runner, file = row.program
    if runner == "python":
        runner = python or sys.executable
    elif python is not None:
        raise UsageError(f"--python = {python!r}: must be left out with {name}, which {runner} runs")
    return [runner, str(Path(targets.__path__[0], name, file))]


def program_target(name: str, command: Sequence[str]) -> ProgramTarget:
    """Start a framework whose adapter is a program, which ends with its target."""
    program = ProtocolProgram(command)
    target = ProgramTarget.started(program, Guard(), name)
    weakref.finalize(target.connection, program.close)
    return target


def _builtin(name: str) -> Any:
    try:
        module = importlib.import_module(f"{targets.__name__}.{name}.target")
    except ModuleNotFoundError as error:
        hint = f": {install_hint(name)}" if requirements(name) else ""
        raise TargetError(f"target {name}: {error.name} is not installed{hint}") from error
    except Exception as error:
        raise TargetError(f"target {name}: importing it {python_harness.raised(error, most=None)}") from error
    return module.target


def _imported(module: str, spec: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:  # as `python -m` does
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise TargetError(
                f"target {spec}: no module {error.name!r} in the current directory or among what is installed"
                f"{_file_hint(module, spec.partition(':')[2]) if module.endswith('.py') else ''}"
            ) from error
        raise TargetError(f"target {spec}: importing {module} {python_harness.raised(error, most=None)}") from error
    except (Exception, SystemExit) as error:
        raise TargetError(f"target {spec}: importing {module} {python_harness.raised(error, most=None)}") from error


def imported(words: Sequence[str], spec: str) -> tuple[Any, Sequence[str]]:
    """Import the longest module that a dotted name begins with; return it and the words behind it.

    Raises:
        TargetError: it is not found, or cannot be imported.
    """
    for count in range(len(words) - 1, 0, -1):
        name = ".".join(words[:count])
        try:
            return _imported(name, spec), words[count:]
        except TargetError as error:
            cause = error.__cause__
            missing = cause.name if isinstance(cause, ModuleNotFoundError) else None
            if count == 1 or missing != name:  # a parent that is no package says so of its child, too
                raise
    raise ValueError("no module's name")


def made(candidate: Any, spec: str) -> Target:
    """Make a target from a class, an instance or a factory, which error texts call ``spec``.

    Raises:
        TargetError: it cannot be made, is no target, or says wrongly what it does not offer.
    """
    try:
        target: Target = python_harness.made(candidate)
        engines = python_harness.engines_of(target)
        python_harness.engines_not_run(target)
    except python_harness.Fault as fault:
        raise TargetError(f"target {spec}: {fault}") from fault
    for each in (target, *engines):
        hold_limits(each, spec)
    return target
