"""Follows every branch of a function of symbols, and joins what it computes on them.

A formula that asks with ``if`` is run once for each answer; where the answers lead to different expressions, the joined
one chooses by the condition.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

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


class _Followed(NamedTuple):
    """The path that is followed, and the input that questions are about; None where they may be about all."""

    path: Path
    about: str | None


_FOLLOWED: ContextVar[_Followed | None] = ContextVar("followed", default=None)
"""What is followed; None outside of `on_every_path`."""


def answered(condition: Expression) -> bool:
    """Answer a question of a formula about symbols.

    Of two numbers that may be equal, such as one that may be zero, the general case is traced: outside of
    `on_every_path` every question is of that kind, and so are those that it does not follow.
    """
    followed = _FOLLOWED.get()
    if followed is None or (followed.about and not (isinstance(condition, tuple) and followed.about in condition)):
        return True
    if followed.about is None and isinstance(condition, tuple) and condition[0] in ("equal", "not_equal"):
        return bool(condition[0] == "not_equal")
    for known, answer in followed.path:
        if known == condition:
            return answer
    raise _Asked(condition)


def on_every_path(compute: Callable[[], Lines], path: Path = (), *, about: str | None = None) -> Lines:
    """Run a function of symbols once for each path through its branches, and join what it computes.

    Args:
        compute: the function, always the same.
        path: what is answered already.
        about: the input that questions must be about to be followed; None follows all but those of equality.
    """
    token = _FOLLOWED.set(_Followed(path, about))
    try:
        return compute()
    except _Asked as asked:
        condition = asked.condition
    finally:
        _FOLLOWED.reset(token)
    true, false = (on_every_path(compute, (*path, (condition, answer)), about=about) for answer in (True, False))
    joined = _chosen if about is None else _chosen_within
    return {name: joined(condition, true[name], false[name]) for name in true}


def _chosen(condition: Expression, true: Expression, false: Expression) -> Expression:
    """Choose by a condition; where both conditions of two choices must hold, by both together."""
    if true == false:
        return true
    match true:
        case ("where", other, inner, outer) if outer == false:
            return ("where", ("bitwise_and", condition, other), inner, false)
    return ("where", condition, true, false)


def _chosen_within(condition: Expression, true: Expression, false: Expression) -> Expression:
    """Choose by a condition as far inside as both expressions do the same, so that an edit of that is one of both."""
    if true == false:
        return true
    if isinstance(true, tuple) and isinstance(false, tuple) and (true[0], len(true)) == (false[0], len(false)):
        operands = zip(true[1:], false[1:], strict=True)
        return (true[0], *(_chosen_within(condition, *pair) for pair in operands))
    return ("where", condition, true, false)
