from collections.abc import Iterator

import pytest

from optimetry import fluid, paddle
from tests.reference.small import fresh


@pytest.fixture(autouse=True)
def _fresh_programs() -> Iterator[None]:
    """Every test has default programs, names and a fluid scope of its own."""
    with fresh(), fluid.scope_guard(fluid.Scope()):
        paddle.seed(0)
        yield
    paddle.disable_static()
