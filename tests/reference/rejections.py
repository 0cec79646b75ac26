"""Laws as functions of an implementation and a case, so that a faulty implementation can be shown to break them."""

from collections.abc import Callable
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

DETERMINISTIC = settings(deadline=None, derandomize=True, database=None, max_examples=50)
BUILDING = settings(DETERMINISTIC, max_examples=20)
"""For cases that build programs."""

SEARCH = settings(DETERMINISTIC, phases=[Phase.explicit, Phase.generate], report_multiple_bugs=False)


def rejected(law: Callable[[Any, Any], None], faulty: Any, cases: st.SearchStrategy[Any]) -> bool:
    """Whether the law, which the true implementation keeps, fails for a faulty one on some case."""

    @SEARCH
    @given(cases)
    def search(case: Any) -> None:
        law(faulty, case)

    try:
        search()
    except AssertionError:
        return True
    return False
