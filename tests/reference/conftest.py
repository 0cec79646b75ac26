from collections.abc import Iterator

import pytest

from optimetry.reference.programs import Program, program_guard


@pytest.fixture(autouse=True)
def _fresh_programs() -> Iterator[None]:
    """Every test has default programs of its own."""
    with program_guard(Program(), Program()):
        yield
