"""Lists the edits of a program that are about no single part: where slots begin, what is counted, what is kept.

Each is a choice that implementations make once, and that shows in several places of a formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations

from optimetry.conformance.naming.edits.corrections import edits_of_corrections
from optimetry.conformance.naming.edits.moves import moves, parts_of_lines
from optimetry.conformance.naming.edits.rewritten import ProgramEdit, Rewritten, rewriting
from optimetry.conformance.naming.edits.single import Edit, powers
from optimetry.conformance.naming.edits.usual import GUARDS
from optimetry.conformance.naming.formulas.programs import (
    EVERY,
    FIRST,
    GRAD,
    OVER_ALL,
    PARAM,
    RATE,
    Program,
    is_norm,
    parts_of,
    replaced,
    slots_of,
    summed_over,
)

INITIAL = (0.1, 1e-6)
"""What squares begin with in libraries: those of Adagrad, and those of Yogi."""

BY_THE_FIRST = (GRAD, ("square", GRAD), ("absolute", GRAD), PARAM)
"""What slots begin with that is no number: something of the first gradient, or the parameter before it."""


def edits_throughout(program: Program, hyperparameters: Sequence[str]) -> Iterator[ProgramEdit]:
    """Yield the edits that replace no single part."""
    yield from _beginnings(program, hyperparameters)
    yield from _begun_by_what_is_added(program)
    yield from _exchanges(program, hyperparameters)
    yield from _of_other_tensors(program)
    yield from edits_of_corrections(program)
    for lines, words in moves(program, hyperparameters):
        moved = rewriting(program, {}, words, lines)
        if moved.lines:
            yield moved


def _beginnings(program: Program, hyperparameters: Sequence[str]) -> Iterator[Edit]:
    """Yield what slots may begin with, and after how many steps a slot with several entries begins anew.

    A product may begin just below 1, so that one less it is never zero.
    """
    for name, expression in program.items():
        if name.startswith(FIRST):
            numbers = (0.0, 1.0, *INITIAL, *hyperparameters, *(x for part in hyperparameters for x in powers(part)))
            below = [1.0 - small for small in GUARDS] * (expression == 1)
            others = (*numbers, *below, *BY_THE_FIRST)
            yield from (Edit(expression, new, (name,)) for new in others if new != expression)
        if name.startswith(EVERY):
            fewer = ("maximum", ("subtract", expression, 1), 1)
            yield from (Edit(expression, new, (name,)) for new in (1, fewer))


def _begun_by_what_is_added(program: Program) -> Iterator[Rewritten]:
    """Yield slots that begin with what is first added to them, where it is not the gradient alone."""
    slots = slots_of(program)
    for slot in slots:
        match program[slot]:
            case ("add", ("multiply", _, old), added) if old == slot and GRAD in parts_of(added) and added != GRAD:
                at_first = reduce(lambda part, other: replaced(part, other, program[FIRST + other]), slots, added)
                yield Rewritten(((FIRST + slot, at_first),), f"{slot} begins with what is first added to it")


def _exchanges(program: Program, hyperparameters: Sequence[str]) -> Iterator[Edit]:
    """Yield two expressions of one kind in each other's place."""
    parts = parts_of_lines(program)
    norms = [part for part in parts if is_norm(part)]
    outputs = tuple(program)
    for kind in ([x for x in hyperparameters if x in parts], norms, slots_of(program)):
        yield from (Edit(a, b, outputs, exchanged=True) for a, b in combinations(kind, 2))


def _of_other_tensors(program: Program) -> Iterator[Edit]:
    """Yield the norm of all tensors in the place of that of one, and the reverse.

    A rule, which knows a learning rate, updates one tensor at a time; a wrapper sees all.
    """
    parts = parts_of_lines(program)
    for part in parts if RATE not in parts else ():
        if is_norm(part):
            others = (summed_over(part, over) for over in (OVER_ALL, "sum"))
            yield from (Edit(part, other, tuple(program)) for other in others if other != part)
