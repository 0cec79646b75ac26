"""Loads a target made of one optimizer of a user, as the command line names it: ``torch:package.Class``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

from optimetry.conformance.targets.loading import imported, load_target
from optimetry.conformance.targets.offers import documented_name
from optimetry.conformance.targets.own import OwnTarget, maker_of, own_target
from optimetry.conformance.targets.protocol import Target
from optimetry.reference.errors import TargetError, UsageError

INFINITIES = ("inf", "-inf")
"""Numbers that are no literals of Python; the first switches a limit off."""


class Own(NamedTuple):
    """A user's optimizer, and the rule that it stands for.

    Attributes:
        spec: the framework and where the optimizer is, ``torch:package.Class``.
        rule: the rule that it stands for.
        arguments: what its arguments are given, each as ``betas=beta1,beta2`` or ``eps=1e-8``.
    """

    spec: str
    rule: str
    arguments: tuple[str, ...] = ()

    @property
    def framework(self) -> str:
        """The name before the colon."""
        return self.spec.partition(":")[0]


def parsed(texts: Sequence[str], option: str = "--with") -> dict[str, Any]:
    """Parse what arguments are given: the name of a hyperparameter, several with commas, a Python literal, or ``inf``.

    ``1-beta1`` stands for the complement of a hyperparameter. Error texts name the option in which a text was given.

    Raises:
        UsageError: a text is not of that form.
    """
    arguments: dict[str, Any] = {}
    for text in texts:
        argument, equals, value = text.partition("=")
        names = tuple(value.split(","))
        if argument in arguments:
            raise UsageError(f"{option} {text}: {argument} is given twice")
        if not equals and "." in argument:
            raise UsageError(f"{option} took {text}: put TARGET before {option}, which takes every word behind it")
        if not equals or not argument.isidentifier():
            problem = "must be ARGUMENT=HYPERPARAMETER, ARGUMENT=ONE,OTHER or ARGUMENT=VALUE, such as eps=epsilon"
            raise UsageError(f"{option} {text}: {problem}")
        if value in INFINITIES:
            arguments[argument] = float(value)
            continue
        try:
            arguments[argument] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            if not all(documented_name(name).isidentifier() for name in names):
                problem = "must be a hyperparameter, several with commas, or a number, True, False or None"
                raise UsageError(f"{option} {text}: {value!r} {problem}") from None
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise UsageError(f"{option} {text}: {twice[0]} is named twice") from None
            arguments[argument] = names[0] if len(names) == 1 else names
    return arguments


def load_own(own: Own) -> OwnTarget:
    """Load an optimizer of a user.

    Raises:
        UsageError: as for `parsed`.
        TargetError: it is not found, or as for `own_target`.
    """
    framework, _, path = own.spec.partition(":")
    words = path.split(".")
    maker = maker_of(own.spec)
    if len(words) < 2 or not all(word.isidentifier() for word in words):
        hint = "" if path else f"; of the whole of {framework}, choose --optimizer {own.rule} in place of --as"
        raise TargetError(f"target {own.spec}: must be {framework}:module.Name, the place of {maker.kind}{hint}")
    maker.prepare()
    made, left = imported(words, own.spec)
    for attribute in left:
        if not hasattr(made, attribute):
            where = getattr(made, "__name__", made)
            raise TargetError(f"target {own.spec}: {where} has no attribute {attribute!r}")
        made = getattr(made, attribute)
    return own_target(framework, made, {own.rule: parsed(own.arguments)}, path)


def load(spec: str, own: Own | None) -> Target:
    """Load a whole library, or one optimizer of a user; raises what `load_target` and `load_own` do."""
    return load_target(spec) if own is None else load_own(own)
