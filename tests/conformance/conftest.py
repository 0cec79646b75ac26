from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def miniatures(monkeypatch):
    """Make `miniatures:Name` a target, here and in worker processes."""
    monkeypatch.syspath_prepend(Path(__file__).parent)


@pytest.fixture
def quietly():
    """Overflow and division by zero are part of the subject; what they lead to is checked."""
    with np.errstate(all="ignore"):
        yield
