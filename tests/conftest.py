"""What all tests share."""

import gc
from multiprocessing import forkserver

import pytest

from tests.sample import one_in


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option for less than all."""
    meaning = "run every test with one in N of its parameters, but those marked whole, and none that is marked slow"
    parser.addoption("--one-in", metavar="N", type=int, default=1, help=meaning)


@pytest.hookimpl(trylast=True)  # behind `-k`
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what ``--one-in`` does not choose."""
    number = config.getoption("--one-in")
    if number < 1:
        raise pytest.UsageError(f"--one-in {number}: must be at least 1")
    if number == 1:
        return
    by_position = one_in(number, [item.nodeid.partition("[")[0] for item in items])
    flags = [
        not item.get_closest_marker("slow") and (chosen or item.get_closest_marker("whole") is not None)
        for item, chosen in zip(items, by_position, strict=True)
    ]
    config.hook.pytest_deselected(items=[item for item, chosen in zip(items, flags, strict=True) if not chosen])
    items[:] = [item for item, chosen in zip(items, flags, strict=True) if chosen]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what has been collected, which lives to the end, out of later passes of the garbage collector.

    Small arrays come and go by the million, and few are in a cycle: passes that begin later take a twentieth less time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


@pytest.fixture(scope="session", autouse=True)
def new_processes() -> None:
    """Begin all new processes where the judge's begin, in one that has imported the suite.

    There is one such process, and it imports what is asked for by whichever test needs it first: behind one of
    `optimetry.accelerated.distributed`, each of a hundred judges would import the suite by itself.
    """
    from optimetry.conformance.commands.workers import worker  # behind collection, for which it is not needed

    if worker.new_processes().get_start_method() == "forkserver":
        forkserver.ensure_running()


@pytest.fixture
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``optimetry check`` try few cases, which lead to the same words."""
    from optimetry.conformance.cases.effort import Effort
    from optimetry.conformance.commands import check

    for name in ("quick", "standard"):
        monkeypatch.setitem(check.ALL_EFFORTS, name, Effort(name, 12, 2))
