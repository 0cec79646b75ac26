"""The project's commands: ``nox -l`` lists them, CONTRIBUTING.md says when to use which."""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2026.7.11"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["conformance"]

ROOT = Path(__file__).parent
PYPROJECT: dict[str, Any] = nox.project.load_toml(ROOT / "pyproject.toml")
EXTRAS: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]
FOLDERS: dict[str, str] = PYPROJECT["tool"]["setuptools"]["package-dir"]
EXPECTED = Path("reports", "expected")
PUBLISHED = Path("reports", "published")
SPEED_PAGE = (
    "(test_one_tensor and 10000000 and not 100000000 and not float64) or test_many_tensors"
    " or bench_process or bench_dgc or bench_recompute"
)
CUDA_PAGE = "test_cuda and False and (100000000 and not float64 or float32 and (1000-10000 or 10000-100))"
PAGES = {"published": SPEED_PAGE, "cuda12": CUDA_PAGE, "cuda13": CUDA_PAGE}
"""The benchmarks whose figures stand on the pages of speed, as pytest's ``-k`` selects them."""
TABLE = Path("conformance", "targets", "table.py")
FRAMEWORKS: dict[str, Any] = runpy.run_path(str(ROOT / TABLE))["FRAMEWORKS"]
TOGETHER: tuple[str, ...] = runpy.run_path(str(ROOT / TABLE))["TOGETHER"]


def install(session: nox.Session, *groups: str, extras: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> None:
    """Install the checkout, editable, with extras and dependency groups.

    Versions are those of constraints.txt, and for frameworks those of their table, in a file of the same form.
    """
    project = f".[{','.join(extras)}]" if extras else "."
    dependencies = nox.project.dependency_groups(PYPROJECT, *groups)
    frameworks = Path(session.virtualenv.location, "frameworks.txt").resolve()
    pins = dict.fromkeys(f"{row.distribution}=={row.version}\n" for row in FRAMEWORKS.values() if row.extra)
    frameworks.write_text("".join(pins))
    constraints = ("--constraint", "constraints.txt", "--constraint", str(frameworks))
    # Modules are compiled as they are imported: most that frameworks bring never are.
    session.install("--no-compile", *constraints, *options, "--editable", project, *dependencies)


def install_from_npm(session: nox.Session, targets: Iterable[str]) -> None:
    """Install those targets that come from npm, where Node finds them from every folder."""
    rows = [FRAMEWORKS[target] for target in targets if target in FRAMEWORKS]
    packages = [f"{row.distribution}@{row.version}" for row in rows if row.registry == "npm"]
    if packages:
        folder = Path(session.create_tmp(), "npm").resolve()
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        session.run("npm", "install", "--prefix", str(folder), *quiet, *packages, external=True)
        session.env["NODE_PATH"] = str(folder / "node_modules")


def extras_of(targets: Iterable[str]) -> tuple[str, ...]:
    """The extras of those targets that have one."""
    return tuple(target for target in targets if target in EXTRAS)


@nox.session
def conformance(session: nox.Session) -> None:
    """Judge targets: ``nox -s conformance -- [TARGET]... [option of optimetry check]...``.

    Targets come first, options after them; without a target our own is judged. A target that is a framework with an
    extra in pyproject.toml, or one of npm's, is installed. ``--out DIR`` is the folder that gets one folder for each
    target. Verdicts listed in ``reports/expected/TARGET.txt`` are expected, unless ``--expect`` names another ledger.

    Every target is judged before the session ends. It fails if one could not be judged (status 2), or has a verdict
    that neither conforms nor is expected (status 1).
    """
    targets, options, out = split_arguments(session.posargs)
    install(session, extras=extras_of(targets))
    install_from_npm(session, targets)
    statuses = {target: check(session, target, options, out / folder_name(target)) for target in targets}

    unexpected = [target for target, status in statuses.items() if status == 1]
    broken = [f"{target} (status {status})" for target, status in statuses.items() if status not in (0, 1)]
    if unexpected:
        session.warn(
            f"{', '.join(unexpected)}: some verdicts neither conform nor are expected. This is what was measured; to "
            f"accept it, list it in {EXPECTED}/TARGET.txt as `optimizer dtype verdict[:name] reason`."
        )
    if broken:
        session.error(f"not judged: {', '.join(broken)}")
    if unexpected:
        session.error(f"unexpected verdicts: {', '.join(unexpected)}")


def split_arguments(
    posargs: list[str], targets: Iterable[str] = ("accelerated",), out: Path = Path("results")
) -> tuple[list[str], list[str], Path]:
    """Split the arguments after ``--`` into targets, options of ``optimetry check``, and the folder for results."""
    first_option = next((i for i, word in enumerate(posargs) if word.startswith("-")), len(posargs))
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.add_argument("--out", type=Path, default=out)
    known, options = parser.parse_known_args(posargs[first_option:])
    return posargs[:first_option] or list(targets), options, known.out


def folder_name(target: str) -> str:
    """Name a target's folder: not every system allows ``mypackage.adapter:Target``."""
    return re.sub(r"[^\w.-]", "-", target)


def check(session: nox.Session, target: str, options: list[str], out: Path) -> int:
    """Run ``optimetry check`` on one target and return its exit status."""
    ledger = EXPECTED / f"{folder_name(target)}.txt"
    has_ledger = any(option.partition("=")[0] == "--expect" for option in options)
    expect = ["--expect", str(ledger)] if ledger.is_file() and not has_ledger else []
    return status_of(session, ["optimetry", "check", target, "--out", str(out), *expect, *options])


def status_of(session: nox.Session, command: list[str]) -> int:
    """Run a command and return its exit status, instead of ending the session when it is not 0."""
    try:
        session.run(*command)
    except CommandFailed as failed:
        if failed.return_code is None:  # the command did not even start
            raise
        return failed.return_code
    return 0


def run_all(session: nox.Session, *commands: list[str]) -> None:
    """Run every command, even after one that fails, and then fail for all that did."""
    failed = [" ".join(command) for command in commands if status_of(session, command)]
    if failed:
        session.error(f"failed: {'; '.join(failed)}")


@nox.session
def tests(session: nox.Session) -> None:
    """Run our own tests, the frameworks installed: ``nox -s tests -- [option of pytest]...``.

    Without options it is a part of them: every planted fault, and of all others but slow ones each with one in eight of
    its parameters. ``-- --one-in 1`` runs all.
    """
    install(session, "test", extras=extras_of(TOGETHER))
    # A worker of one thread and two gigabytes for each core, and one more; neighbours among tests share evaluations.
    # Hundreds of tests wait for processes, whose imports take longest: modules are compiled once, not by each of them.
    environment = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    workers = str(min(8, 1 + (os.cpu_count() or 1)))
    chosen = session.posargs or ("--one-in", "8")
    session.run("pytest", "-n", workers, "--dist", "worksteal", *chosen, env=environment)


@nox.session
def mutants(session: nox.Session) -> None:
    """Change functions and run their tests: ``nox -s mutants -- [FOLDER]... [--sample N] [--seed S] [--fresh]``.

    ``nox -s mutants -- named`` makes the mutants of ``tests/mutation/named.toml`` instead, which once survived.

    Folders are those of ``tests/mutation/folders.toml``; all without one. Prints each change that no test notices and
    the score of each folder, and fails below 95 %, or where a sample proves that the folder is below. What no test can
    notice stands in ``tests/mutation/equivalent.toml``, with the reason. A run that was ended goes on where it stopped.
    """
    install(session, "test", "mutants")
    workspace = str(Path(session.create_tmp()).resolve())
    named = session.posargs[:1] == ["named"]
    module, options = ("named", session.posargs[1:]) if named else ("run", session.posargs)
    session.run("python", "-m", f"tests.mutation.{module}", "--workspace", workspace, *options)


@nox.session
def bench(session: nox.Session) -> None:
    """Time the accelerated backend against the frameworks installed: ``nox -s bench -- [option of pytest]...``.

    ``nox -s bench -- published`` times what the page in ``reports/published/speed`` holds, and no other size or dtype;
    ``nox -s bench -- cuda13``, or ``cuda12``, what that of CUDA holds, on a device. All takes an hour, which
    ``OPTIMETRY_BENCH_SECONDS=0.2`` shortens. Writes to ``results/speed``: tables, pictures, and ``results.jsonl``, of
    which ``optimetry report results/speed --site site`` makes pages.
    """
    word, *rest = session.posargs or [""]
    install(session, "test", extras=(word, "torch") if word.startswith("cuda") else extras_of(TOGETHER))
    run, benchmarks = Path(session.create_tmp(), "speed.json").resolve(), "accelerated/benchmarks"
    options = ("-o", "python_files=bench_*.py", "-p", "no:xdist", "--benchmark-only", f"--benchmark-json={run}")
    chosen = ("-k", PAGES[word], *rest) if word in PAGES else session.posargs
    session.run("pytest", benchmarks, *options, *chosen)
    session.run("python", "-m", "optimetry.accelerated.benchmarks.tables", str(run), "--out", "results/speed")


@nox.session
def publish(session: nox.Session) -> None:
    """Judge the frameworks and write ``reports/published``: ``nox -s publish -- [FRAMEWORK]... [option of check]...``.

    Each framework gets a folder named after it and its version, and all share the matrix of rule by framework and the
    page of effects. Takes about ten minutes on two cores; those that are installed apart, or are programs, are judged
    only if they are named: under the interpreter that ``--python FRAMEWORK=PYTHON`` gives, or else beside the others.
    Those from npm are installed. Then ledgers and ``docs/findings.md`` may need correction, which tests report. Results
    hold all counterexamples; files are kept of those that findings link to.
    """
    frameworks, others, out = split_arguments(session.posargs, TOGETHER, PUBLISHED)
    pythons, options = split_pythons(others)
    if not set(frameworks) <= set(FRAMEWORKS):
        session.error(f"{' '.join(frameworks)}: must be among {', '.join(FRAMEWORKS)}, the frameworks of {TABLE}")
    for name, python in pythons.items():
        if name not in frameworks or not python:
            session.error(f"--python {name}: must be FRAMEWORK=PYTHON, for one of {', '.join(frameworks)}")
    install(session, extras=("site", *extras_of(name for name in frameworks if name not in pythons)))  # draws effects
    install_from_npm(session, frameworks)
    for framework in frameworks:
        scratch = Path(session.create_tmp(), framework).resolve()
        dtypes = [f"--dtype={dtype}" for dtype in FRAMEWORKS[framework].dtypes]
        everything = ["--effort", "quick", "--book", "all", "--wrappers"]
        under = [f"--python={pythons[framework]}"] if framework in pythons else []
        if check(session, framework, [*everything, *dtypes, *under, *options], scratch) not in (0, 1):
            session.error(f"{framework} could not be judged")
        header = json.loads((scratch / "results.jsonl").read_text(encoding="utf-8").split("\n", 1)[0])
        for older in out.glob(f"{framework}-*"):
            shutil.rmtree(older)
        folder = out / f"{framework}-{header['target_version']}"
        shutil.copytree(scratch, folder)
        keep_linked(folder / "counterexamples")
    folders = [str(folder) for framework in FRAMEWORKS for folder in sorted(out.glob(f"{framework}-*"))]
    session.run("optimetry", "report", *folders, "--out", str(out), silent=True)
    for copy in ("table.md", "table.csv"):  # every framework has them in its folder
        (out / copy).unlink()
    named = [f"--python={name}={python}" for name, python in pythons.items()]
    effects = "optimetry.conformance.commands.effects"  # measures those of the folders that are new
    session.run("python", "-m", effects, *folders, "--out", str(out / "effects.md"), *named)


def split_pythons(options: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split options into the interpreters that frameworks run under, by framework, and the others."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.add_argument("--python", action="append", default=[])
    known, others = parser.parse_known_args(options)
    return {name: python for name, _, python in (each.partition("=") for each in known.python)}, others


def keep_linked(folder: Path) -> None:
    """Delete the counterexamples that no finding links to."""
    findings = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    for file in folder.glob("*"):  # there is no folder where nothing differs
        if f"{folder.parent.name}/{folder.name}/{file.name})" not in findings:
            file.unlink()


@nox.session
def field(session: nox.Session) -> None:
    """Judge third-party libraries and write ``docs/field.md``: ``nox -s field -- [option of examples.field.study]...``.

    Versions are those of ``examples/field/requirements.txt`` and ``apart.toml``, which says what needs another Python
    or npm. Downloads four gigabytes, and takes ten minutes a round; ``-- --round second`` judges one. Fails where a
    verdict contradicts ``examples/field/truth.toml``, or less than 90 % of what can be named is named.
    """
    install(session, extras=extras_of(TOGETHER))
    session.install("pip<24.1")  # later ones refuse the metadata of some releases
    session.install("--no-deps", "--requirement", "examples/field/requirements.txt")
    quiet = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    session.run("python", "-m", "examples.field.study", "--out", "docs/field.md", *session.posargs, env=quiet)


@nox.session
def museum(session: nox.Session) -> None:
    """Judge real bugs and write ``docs/museum.md``: ``nox -s museum -- [option of optimetry museum]...``.

    Takes some minutes; ``-- --case ID`` judges one of them anew. Fails where a bug is not rejected or is named
    wrongly, or where a correct optimizer is not accepted.
    """
    install(session)
    session.run("optimetry", "museum", "--out", "docs", *session.posargs, env={"OMP_NUM_THREADS": "1"})


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site: ``nox -s docs -- [option of sphinx-build]...``; open ``results/docs/index.html``.

    Pages are those of ``docs``, and references made of rules, commands and docstrings. Every warning is an error.
    """
    install(session, "docs", extras=("site",))
    strict = ("-W", "--keep-going", "-d", str(Path(session.create_tmp(), "trees").resolve()))
    shown = strict if sys.stdout.isatty() else (*strict, "--quiet")  # bars are for a terminal
    session.run("sphinx-build", "-b", "html", *shown, *session.posargs, "docs", "results/docs")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, formatting and the import order of the folders."""
    session.install("--constraint", "constraints.txt", *nox.project.dependency_groups(PYPROJECT, "lint"))
    session.install("--no-deps", "--editable", ".")  # imports are read, not run
    run_all(session, ["ruff", "check"], ["ruff", "format", "--check"], ["lint-imports"])


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly. An editable install of mode strict lays out the packages as a type checker expects."""
    install(session, "types", options=("--config-settings", "editable_mode=strict"))
    packages = [word for package in FOLDERS for word in ("-p", package)]
    run_all(session, ["mypy", *packages], ["mypy", "noxfile.py"])


@nox.session
def build(session: nox.Session) -> None:
    """Build the archives, check what is in them, and run the command from the wheel, outside the checkout."""
    session.install(*nox.project.dependency_groups(PYPROJECT, "build"))
    with tempfile.TemporaryDirectory() as scratch:
        session.run("python", "-m", "build", "--outdir", scratch, silent=True)
        (wheel,) = Path(scratch).glob("*.whl")
        (sdist,) = Path(scratch).glob("*.tar.gz")
        session.run("python", "tests/archives.py", str(wheel), str(sdist))
        session.install("--force-reinstall", "--no-deps", str(wheel))
        session.install(str(wheel))
        with session.chdir(scratch):
            session.run("optimetry", "targets")
