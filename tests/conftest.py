"""What all tests share."""

import gc

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what has been collected, which lives to the end, out of every later pass of the garbage collector."""
    gc.collect()
    gc.freeze()
