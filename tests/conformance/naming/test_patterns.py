"""Tables of formulas that expressions are rewritten by, and how they are read."""

from __future__ import annotations

import pytest

from optimetry.conformance.naming.formulas.notation import expression_of, text_of
from optimetry.conformance.naming.formulas.patterns import rewritten, rules_of


@pytest.mark.parametrize("formula", ["(a - b)*c", "a - b*c", "a/(b*c)", "a**2", "where(p, maximum(a, b), 0.5)"])
def test_a_formula_is_read_as_it_is_written(formula):
    assert text_of(expression_of(formula)) == formula


@pytest.mark.parametrize("text", ["a % b", "a > b", "'a'", "a.b", "a[b](c)"])
def test_what_is_no_formula_is_not_read(text):
    with pytest.raises(ValueError, match="is no formula that is read"):
        expression_of(text)


@pytest.mark.parametrize(
    ("row", "before", "after"),
    [
        ("(a - b)*c -> a - b*c", "(sqrt(x) - 1)*y", ["sqrt(x) - 1*y"]),
        ("a/b + c -> (a + c)/b or a/(b + c)", "x/y + z", ["(x + z)/y", "x/(y + z)"]),
        ("a*b/maximum(c, b) -> a", "x*y/maximum(z, y)", ["x"]),
        ("a*b/maximum(c, b) -> a", "x*y/maximum(z, x)", []),
        ("where(p, a, 0) -> a", "where(q, x, 0)", ["x"]),
        ("where(p, a, 0) -> a", "where(q, x, 1)", []),
        ("sqrt(a + b) -> sqrt(a) + b", "sqrt(x)", []),
        ("sqrt(a + b) -> sqrt(a) + b", "square(x + y)", []),
        ("sqrt(a + b) -> sqrt(a) + b", "x", []),
    ],
)
def test_an_expression_that_has_the_form_of_a_row_is_rewritten(row, before, after):
    assert [text_of(x) for x in rewritten(expression_of(before), rules_of(row))] == after
