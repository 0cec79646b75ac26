"""Follows every branch of a function of symbols, and joins what it computes on them.

A formula that asks with ``if`` is run once for each answer; where the answers lead to different expressions, the joined
one chooses by the condition.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

Expression = Any
"""An expression of `programs`, of which a branch need only know whether two are equal."""

Lines = dict[str, Expression]
"""What a function computes, by name."""


class _Asked(Exception):
    """Ends a run at a question that has no answer yet."""

    def __init__(self, condition: Expression) -> None:
        super().__init__(condition)
        self.condition = condition


Path = tuple[tuple[Expression, bool], ...]
"""Conditions, each with its answer."""

_PATH: ContextVar[Path | None] = ContextVar("path", default=None)
"""The path that is followed; None outside of `on_every_path`."""


def answered(condition: Expression) -> bool:
    """Answer a question of a formula about symbols.

    Of two numbers that may be equal, such as one that may be zero, the general case is traced: outside of
    `on_every_path` every question is of that kind.
    """
    path = _PATH.get()
    if path is None:
        return True
    if isinstance(condition, tuple) and condition[0] in ("equal", "not_equal"):
        return bool(condition[0] == "not_equal")
    for known, answer in path:
        if known == condition:
            return answer
    raise _Asked(condition)


def on_every_path(compute: Callable[[], Lines], path: Path = ()) -> Lines:
    """Run a function of symbols once for each path through its branches, and join what it computes.

    Args:
        compute: the function, always the same.
        path: what is answered already.
    """
    token = _PATH.set(path)
    try:
        return compute()
    except _Asked as asked:
        condition = asked.condition
    finally:
        _PATH.reset(token)
    true, false = (on_every_path(compute, (*path, (condition, answer))) for answer in (True, False))
    return {name: _chosen(condition, true[name], false[name]) for name in true}


def _chosen(condition: Expression, true: Expression, false: Expression) -> Expression:
    """Choose by a condition; where both conditions of two choices must hold, by both together."""
    if true == false:
        return true
    match true:
        case ("where", other, inner, outer) if outer == false:
            return ("where", ("bitwise_and", condition, other), inner, false)
    return ("where", condition, true, false)
