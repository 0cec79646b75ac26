"""Every documented class and method is implemented and held by a test, and docs/api-coverage.md says so."""

from optimetry import reference
from tests.reference import coverage_table


def test_every_documented_method_is_there():
    for key, entry in coverage_table.documented().items():
        for method in entry:
            assert callable(getattr(getattr(reference, key.split()[1]), method)), f"{key}.{method}"


def test_every_test_that_the_page_names_exists():
    assert coverage_table.tests_named() - coverage_table.tests_there() == set()


def test_every_documented_class_is_public():
    names = {key.split()[1] for key in coverage_table.documented()}
    assert names <= set(reference.__all__)
    assert names | {"AdadeltaOptimizer"} == set(coverage_table.CLASSES)


def test_the_page_is_not_stale():
    assert coverage_table.PAGE.read_text(encoding="utf-8") == coverage_table.page(), (
        "docs/api-coverage.md is stale: run `python -m tests.reference.coverage_table`"
    )
