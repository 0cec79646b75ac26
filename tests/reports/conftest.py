import pytest

from optimetry.reports.results import Writer
from tests.reports.written import ABSENT, BAD, GOOD, HEADER


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "results.jsonl"
    with Writer(path, HEADER) as writer:
        for verdict in (GOOD, BAD, ABSENT):
            writer.write(verdict)
    return path
