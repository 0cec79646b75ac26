"""Finds names written out in a list, which misses the next one that is added."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator


def lists_of(source: str, names: Collection[str], number: int) -> Iterator[int]:
    """The lines on which a list, tuple, set or dictionary is written that holds so many of these names."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(keys=parts):
                inside = [deeper for part in parts for deeper in (part, *getattr(part, "elts", ()))]
                strings = {each.value for each in inside if isinstance(each, ast.Constant)}
                if len(strings & set(names)) >= number:
                    yield node.lineno
