"""The pytest plugin: ``pytest --pyargs optimetry.conformance.suite --optimizer-target torch``.

pytest loads this file wherever optimetry is installed. Nothing heavy is imported before a target is named.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from optimetry.conformance.plugin.checks import Judging

ARGUMENT = "optimetry_check"
"""The argument of a test through which it gets its checks."""

NO_TARGET = (
    "optimetry: no target to judge: add --optimizer-target TARGET, a built-in name or module:object "
    "(`optimetry targets` lists what is built in)"
)
EXPECT = "optimizer_expect"
"""The entry of the configuration file that names the ledger."""

SEED = "optimetry_seed"
SUITE = "optimetry.conformance.suite"

JUDGING: pytest.StashKey[Judging] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--optimizer-…``."""
    group = parser.getgroup("optimetry", "conformance of optimizers (pytest --pyargs optimetry.conformance.suite)")
    group.addoption("--optimizer-target", metavar="TARGET", help="target to judge: a built-in name, or module:object")
    group.addoption("--optimizer-effort", metavar="EFFORT", default="quick", help="quick (default), standard, thorough")
    group.addoption("--optimizer-seed", metavar="N", default="0", help="seed of the cases (0), or `random`")
    group.addoption("--optimizer-book", metavar="NAME", default="fluid", help="whose document is the judge (fluid)")
    group.addoption("--optimizer-rule", metavar="NAME", action="append", help="one optimizer; repeatable (all)")
    group.addoption(
        "--optimizer-with",
        metavar="ARGUMENT=VALUE",
        action="append",
        default=[],
        help="what an argument of your class is given, such as eps=epsilon; repeatable",
    )
    group.addoption(
        "--optimizer-dtype", metavar="NAME", action="append", help="one dtype; repeatable (float32 and float64)"
    )
    group.addoption(
        "--optimizer-expect", metavar="LEDGER", help="expected verdicts: lines `optimizer dtype verdict[:name] reason`"
    )
    parser.addini(EXPECT, "expected verdicts, as --optimizer-expect; relative to this file's folder", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark; load the target that is named, so that an error ends the session before it begins."""
    config.addinivalue_line("markers", "optimetry: judges one engine of a target on one optimizer in one dtype.")
    spec = config.getoption("--optimizer-target")
    if spec is None:
        if any(argument.startswith(SUITE) for argument in config.args):
            raise pytest.UsageError(NO_TARGET)
        return
    from optimetry.conformance.commands.workers.worker import SINGLE_THREADED

    for variable in SINGLE_THREADED:  # before a framework reads them
        os.environ.setdefault(variable, "1")
    from optimetry.conformance.commands.arguments import DEFAULT_DTYPES, seed_of
    from optimetry.conformance.plugin.checks import Judging
    from optimetry.reference.errors import OptimetryError

    seed = getattr(config, "workerinput", {}).get(SEED, config.getoption("--optimizer-seed"))
    try:
        config.stash[JUDGING] = Judging.of(
            spec,
            config.getoption("--optimizer-rule"),
            config.getoption("--optimizer-dtype") or DEFAULT_DTYPES,
            config.getoption("--optimizer-effort"),
            seed_of(seed, "--optimizer-seed"),
            ledger_of(config),
            config.getoption("--optimizer-book"),
            config.getoption("--optimizer-with"),
        )
    except OptimetryError as error:
        raise pytest.UsageError(f"optimetry: {error}") from None
    if config.stash[JUDGING].ledger.path is None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_NothingJudged())


def ledger_of(config: pytest.Config) -> Path | None:
    """Return the path of the ledger that an option or else the configuration file names."""
    option: str | None = config.getoption("--optimizer-expect")
    if option is not None:
        return config.invocation_params.dir / option
    entry: str = config.getini(EXPECT)
    return (config.inipath.parent if config.inipath else config.rootpath) / entry if entry else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the seed, which may be random, to a worker of pytest-xdist, so that all judge the same cases."""
    if JUDGING in node.config.stash:
        node.workerinput[SEED] = str(node.config.stash[JUDGING].seed)


def pytest_report_header(config: pytest.Config) -> list[str] | None:
    """Report what is judged, and how, so that the run can be repeated."""
    judging = config.stash.get(JUDGING, None)
    if judging is None:
        return None
    target, ledger = judging.target, judging.ledger.path
    expected = f", expected verdicts in {ledger}" if ledger else ""
    how = f"optimetry: {target.name} {target.version}, effort {judging.effort.name}, seed {judging.seed}{expected}"
    note = getattr(target, "note", "")  # what the arguments of a class are given
    return [how, f"optimetry: {note}"] if note else [how]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test that has the argument ``optimetry_check`` with all checks."""
    if ARGUMENT in metafunc.fixturenames:
        judging = metafunc.config.stash.get(JUDGING, None)
        if judging is None:
            metafunc.parametrize(ARGUMENT, [pytest.param(_no_target, id="no-target", marks=pytest.mark.optimetry)])
        else:
            from optimetry.conformance.plugin.checks import parameters

            metafunc.parametrize(ARGUMENT, parameters(judging))


class _NothingJudged:
    """Fails a session of which every check was skipped, as ``optimetry check`` fails, unless a ledger expects that."""

    def __init__(self) -> None:
        self.reasons: dict[str, None] = {}
        self.judged = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of a check."""
        if "optimetry" in report.keywords and report.when != "teardown":
            if isinstance(report.longrepr, tuple):
                self.reasons[report.longrepr[2].removeprefix("Skipped: ")] = None
            elif report.when == "call" or report.failed:
                self.judged = True

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Change the exit status of a session that would have passed."""
        if self.reasons and not self.judged and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say why."""
        if self.reasons and not self.judged:
            text = f"optimetry: nothing was judged, every check was skipped: {'; '.join(self.reasons)}"
            terminalreporter.write_line(text, red=True)


class _NoTarget:
    """Stands in for a check where no target is named."""

    def __call__(self) -> None:
        raise pytest.UsageError(NO_TARGET)

    draw = __call__


_no_target = _NoTarget()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """End a session that has checks and no target; in a worker of pytest-xdist, which cannot, each check fails."""
    judges = any(ARGUMENT in getattr(item, "fixturenames", ()) for item in items)
    if judges and JUDGING not in config.stash and not hasattr(config, "workerinput"):
        _no_target()
