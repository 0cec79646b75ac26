"""Every documented class, alias and method has the documented arguments, in the documented order, with the defaults."""

import ast
import inspect
from typing import Any

import pytest

import optimetry.reference
from optimetry.reference.fluid import Later
from optimetry.reference.rules import rule_named
from tests.reference import pages

TABLE = pages.committed()
CLASSES = [key for key in TABLE if key != "aliases"]
METHODS = [(key, method) for key in CLASSES for method in TABLE[key] if method != "__init__"]
LATER_PAGE = "003 RMSPropOptimizer"
"""Puts new arguments between those of page 000; here they are keywords, so that no position changes its meaning."""

USED_UNDER_SHORT_NAMES = {"RMSProp": "RMSPropOptimizer", "Lamb": "LambOptimizer"}
"""Short names that examples use though no page declares them."""

KEYWORD_ALIASES = {"parameters"}
"""What pages 001 and 002 call ``parameter_list``; taken by keyword."""


def documented(signature: str) -> list[tuple[str, Any]]:
    """Names and defaults of a signature as printed; ``inspect.Parameter.empty`` where there is no default."""
    (call,) = ast.parse(f"def f({signature}): ...").body
    assert isinstance(call, ast.FunctionDef)
    names = [argument.arg for argument in call.args.args]
    defaults = [ast.literal_eval(default) for default in call.args.defaults]
    return list(zip(names, [inspect.Parameter.empty] * (len(names) - len(defaults)) + defaults, strict=True))


def implemented(function: Any) -> list[tuple[str, Any]]:
    """Names and defaults of the positional arguments."""
    parameters = inspect.signature(function).parameters.values()
    return [
        (p.name, list(p.default) if isinstance(p.default, tuple) else p.default)
        for p in parameters
        if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and p.name != "self"
    ]


def class_of(key: str) -> Any:
    return getattr(optimetry.reference, key.split()[1])


def test_the_committed_table_is_what_the_pages_say() -> None:
    if not pages.SEEDS.is_dir():
        pytest.skip(f"the pages are not here: {pages.SEEDS}")
    assert pages.parsed(pages.SEEDS) == TABLE


@pytest.mark.parametrize("key", [key for key in CLASSES if key != LATER_PAGE])
def test_a_constructor_takes_the_documented_arguments(key: str) -> None:
    want = documented(TABLE[key]["__init__"])
    assert implemented(class_of(key).__init__)[: len(want)] == want


@pytest.mark.parametrize("key", [key for key in CLASSES if key != LATER_PAGE])
def test_a_constructor_takes_nothing_else_by_position(key: str) -> None:
    assert len(implemented(class_of(key).__init__)) == len(documented(TABLE[key]["__init__"]))


def test_what_a_later_page_adds_is_a_keyword_and_the_rest_is_where_it_was() -> None:
    first, later = (documented(TABLE[key]["__init__"]) for key in ("000 RMSPropOptimizer", LATER_PAGE))
    assert [pair for pair in later if pair in first] == first
    added = [name for name, _ in later if (name, None) not in first and name not in dict(first)]
    assert added == ["parameter_list", "grad_clip"]
    assert set(added) <= Later.__annotations__.keys()


@pytest.mark.parametrize(("key", "method"), METHODS)
def test_a_method_takes_the_documented_arguments(key: str, method: str) -> None:
    function = getattr(class_of(key), method)
    want = documented(TABLE[key][method])
    have = implemented(function)
    keywords = {p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY}
    names = ["parameter_list" if name in KEYWORD_ALIASES else name for name, _ in want]
    assert have[: len(want)] == list(zip(names, [default for _, default in want], strict=True))
    assert KEYWORD_ALIASES & dict(want).keys() <= keywords


@pytest.mark.parametrize(("short", "long"), sorted((TABLE["aliases"] | USED_UNDER_SHORT_NAMES).items()))
def test_an_alias_is_the_class(short: str, long: str) -> None:
    assert getattr(optimetry.reference, short) is getattr(optimetry.reference, long)


@pytest.mark.parametrize("name", optimetry.reference.__all__)
def test_every_public_name_is_there_and_has_a_docstring(name: str) -> None:
    assert getattr(optimetry.reference, name).__doc__


def test_defaults_of_classes_are_those_of_their_rules() -> None:
    for name in optimetry.reference.__all__:
        rule_name = getattr(getattr(optimetry.reference, name), "rule_name", None)
        if rule_name is not None:
            rule = rule_named(rule_name)
            defaults = dict(implemented(getattr(optimetry.reference, name).__init__))
            assert defaults["learning_rate"] == (rule.learning_rate or inspect.Parameter.empty)
            for declared in rule.hyperparameters():
                want = inspect.Parameter.empty if declared.default is None else declared.default
                assert defaults[declared.name] == want, (name, declared.name)
