from pathlib import Path

import numpy as np
import pytest

from optimetry.conformance.commands.cli import main


@pytest.fixture
def miniatures(monkeypatch):
    """Make `miniatures:Name` a target, here and in worker processes."""
    monkeypatch.syspath_prepend(Path(__file__).parent)


@pytest.fixture
def quietly():
    """Overflow and division by zero are part of the subject; what they lead to is checked."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def optimetry(capsys):
    """Run the command; its exit status, standard output and standard error."""

    def ran(*arguments):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            status = ended.code
        return status, *capsys.readouterr()

    return ran


@pytest.fixture
def refused(optimetry):
    """Run the command wrongly: status 2, nothing on standard output, and the one line on standard error."""

    def error(*arguments):
        status, out, err = optimetry(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("optimetry: error: ")
        assert err.count("\n") == 1
        return err

    return error
