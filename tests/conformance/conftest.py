from pathlib import Path

import pytest


@pytest.fixture
def miniatures(monkeypatch):
    """Make `miniatures:Name` a target, here and in worker processes."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
