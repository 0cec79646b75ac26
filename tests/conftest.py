"""What all tests share."""

import gc
from multiprocessing import forkserver

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of tests that take longest, and of which a part is run otherwise."""
    meaning = "name what every planted mutation computes, in place of every fifth: six minutes more of one core"
    parser.addoption("--name-all-faults", action="store_true", help=meaning)


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
    from optimetry.conformance.commands import worker  # behind collection, for which it is not needed

    if worker.new_processes().get_start_method() == "forkserver":
        forkserver.ensure_running()


@pytest.fixture
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``optimetry check`` try few cases, which lead to the same words."""
    from optimetry.conformance.cases.effort import Effort
    from optimetry.conformance.commands import check

    for name in ("quick", "standard"):
        monkeypatch.setitem(check.ALL_EFFORTS, name, Effort(name, 12, 2))
