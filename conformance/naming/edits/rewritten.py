"""Holds an edit that changes several lines of a program together, and what is done with edits of every kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from optimetry.conformance.naming.edits.single import Edit
from optimetry.conformance.naming.edits.usual import GUARDS
from optimetry.conformance.naming.formulas.programs import Expression, Program, parts_of, replaced


@dataclass(frozen=True)
class Rewritten:
    """One choice that changes several lines of a program together.

    Attributes:
        lines: the lines that differ, by output.
        words: what it does, as a reader compares it.
    """

    lines: tuple[tuple[str, Expression], ...]
    words: str

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs whose lines differ."""
        return tuple(name for name, _ in self.lines)

    @property
    def guards(self) -> list[float]:
        """The small numbers of `GUARDS` in its lines."""
        return [small for small in GUARDS if any(small in parts_of(line) for _, line in self.lines)]

    @property
    def size(self) -> tuple[int, int]:
        """As of an edit that adds as many parts as there are lines, and one more."""
        return 1 + len(self.lines), -len(self.lines)

    def with_number(self, number: float, other: float) -> Rewritten:
        """Return the same choice in lines with another number."""
        return replace(self, lines=tuple((name, replaced(line, number, other)) for name, line in self.lines))

    def applied(self, program: Program) -> Program:
        """Return the program with these lines."""
        return {**program, **dict(self.lines)}


ProgramEdit = Edit | Rewritten
"""One edit of a program."""


def with_edits(program: Program, edits: Sequence[ProgramEdit]) -> Program:
    """Return a program with several edits, made one after the other."""
    return reduce(lambda edited, edit: edit.applied(edited), edits, program)


def size_of(edits: Sequence[ProgramEdit]) -> tuple[int, int]:
    """Return how much edits add together, as `Edit.size`."""
    added, spread = (sum(sizes) for sizes in zip(*(edit.size for edit in edits), strict=True))
    return added, spread


def rewriting(
    program: Program, changes: Mapping[Expression, Expression], words: str, base: Program | None = None
) -> Rewritten:
    """Put several expressions in the places of others, in the program or in ``base``."""
    lines = []
    for name, expression in (base or program).items():
        new = expression
        for i, old in enumerate(changes):
            new = replaced(new, old, f"aside {i}")
        for i, (_, other) in enumerate(changes.items()):
            new = replaced(new, f"aside {i}", other)
        if new != program[name]:
            lines.append((name, new))
    return Rewritten(tuple(lines), words)
