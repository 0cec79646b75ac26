"""Lists the edits of a program that are about no single part: where slots begin, what is counted, what is kept.

Each is a choice that implementations make once, and that shows in several places of a formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

from optimetry.conformance.naming.edits.moves import moves, parts_of_lines
from optimetry.conformance.naming.edits.single import Edit, powers
from optimetry.conformance.naming.edits.usual import GUARDS
from optimetry.conformance.naming.formulas.programs import (
    EVERY,
    FIRST,
    GRAD,
    OVER_ALL,
    PARAM,
    RATE,
    STEP,
    Expression,
    Program,
    is_norm,
    parts_of,
    replaced,
    simplified,
    slots_of,
    summed_over,
)

INITIAL = (0.1, 1e-6)
"""What squares begin with in libraries: those of Adagrad, and those of Yogi."""

BY_THE_FIRST = (GRAD, ("square", GRAD), ("absolute", GRAD), PARAM)
"""What slots begin with that is no number: something of the first gradient, or the parameter before it."""


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


def edits_throughout(program: Program, hyperparameters: Sequence[str]) -> Iterator[ProgramEdit]:
    """Yield the edits that replace no single part."""
    yield from _beginnings(program, hyperparameters)
    yield from _begun_by_what_is_added(program)
    yield from _exchanges(program, hyperparameters)
    yield from _of_other_tensors(program)
    yield from _counted_from_zero(program)
    yield from _corrected_as_at_first(program)
    yield from _corrected_by_a_power(program)
    yield from _begun_uncorrected(program)
    yield from _corrected_elsewhere(program)
    yield from _kept_corrected(program)
    yield from _uncorrected_or_corrected(program)
    for lines, words in moves(program, hyperparameters):
        moved = _rewritten(program, {}, words, lines)
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


def _corrections(program: Program) -> list[Expression]:
    """Return the bias corrections of a program: one less a power of the step number."""
    parts = parts_of_lines(program)
    corrections: list[Expression] = []
    for part in parts:
        match part:
            case ("subtract", 1, ("power", _, count)) if count == STEP:
                corrections.append(part)
    return corrections


def _counted_from_zero(program: Program) -> Iterator[Rewritten]:
    """Yield the program that counts from 0, and corrects nothing in the first step, where the correction would be 0."""
    corrections = _corrections(program)
    if corrections:
        before = {correction: ("where", ("greater", STEP, 1), _one_before(correction), 1) for correction in corrections}
        yield _rewritten(program, before, "t -> t - 1, and no correction in the first step")


def _one_before(correction: Expression) -> Expression:
    return replaced(correction, STEP, ("subtract", STEP, 1))


def _corrected_as_at_first(program: Program) -> Iterator[Rewritten]:
    """Yield the program whose corrections stay those of the first step, where one is of a product that a slot holds.

    Where all are of powers, it is a count of steps that never advances, which is known as such.
    """
    factors = dict(_products(program))
    if factors:
        first = {correction: replaced(correction, STEP, 1) for correction in _corrections(program)}
        yield _rewritten(program, {**factors, **first}, "corrected in every step as in the first")


def _products(program: Program) -> Iterator[tuple[Expression, Expression]]:
    """Yield the new value of each slot that is a product of one factor of every step, with the factor of this step."""
    for slot in slots_of(program):
        match program[slot]:
            case ("multiply", a, b) if slot in (a, b) and program[FIRST + slot] == 1:
                yield program[slot], b if a == slot else a


def _corrected_by_a_power(program: Program) -> Iterator[Rewritten]:
    """Yield the program with a power of this step's factor in the place of the product of all steps'."""
    for product, factor in _products(program):
        words = "a power of the last factor in the place of the product of all"
        yield _rewritten(program, {product: ("power", factor, STEP)}, words)


def _begun_uncorrected(program: Program) -> Iterator[Rewritten]:
    """Yield the programs whose average begins with a value, and so has no bias to correct; the product is left over."""
    for product, _ in _products(program):
        line = replaced(program[PARAM], ("subtract", 1, product), 1.0)
        averages = [slot for slot in slots_of(program) if program[slot] != product]
        for first, words in ((GRAD, "what it is first fed"), (PARAM, "the parameter before")):
            lines = ((PARAM, line), *((FIRST + slot, first) for slot in averages))
            begun = f"{' and '.join(averages)} begins with {words}, and is not corrected"
            if line != program[PARAM] and averages:
                yield Rewritten(lines, begun)


def _corrected_elsewhere(program: Program) -> Iterator[Rewritten]:
    """Yield the program that corrects the learning rate for the bias in place of both moments."""
    corrections = _corrections(program)
    of_roots = [correction for correction in corrections if _is_under_a_root(correction, program[PARAM])]
    others = [correction for correction in corrections if correction not in of_roots]
    if len(of_roots) == len(others) == 1:
        without = _without_corrections(program[PARAM], corrections)
        rate = ("divide", ("multiply", RATE, ("sqrt", of_roots[0])), others[0])
        words = "bias corrected in the learning rate, not in the moments"
        yield Rewritten(((PARAM, replaced(without, RATE, rate)),), words)


def _uncorrected_or_corrected(program: Program) -> Iterator[Rewritten]:
    """Yield the program without its bias corrections; where it has none, with that of every average."""
    corrections, averages = _corrections(program), dict(averages_of(program))
    if len(corrections) > 1:
        yield Rewritten(((PARAM, _without_corrections(program[PARAM], corrections)),), "no bias correction")
    if not corrections and len(averages) > 1:
        corrected = {program[slot]: ("divide", program[slot], correction) for slot, correction in averages.items()}
        yield _rewritten(program, corrected, "averages corrected for their bias", {PARAM: program[PARAM]})


def _is_under_a_root(correction: Expression, line: Expression) -> bool:
    """Whether a line has the root of something divided by a correction."""
    for part in parts_of(line):
        match part:
            case ("sqrt", ("divide", _, divisor)) if divisor == correction:
                return True
    return False


def _kept_corrected(program: Program) -> Iterator[Rewritten]:
    """Yield the programs that keep averages corrected, all or one: as the step uses them, or corrected in it again."""
    averages = dict(averages_of(program))
    for slots in dict.fromkeys([tuple(averages), *((slot,) for slot in averages)]) if averages else ():
        corrected = {program[slot]: ("divide", program[slot], averages[slot]) for slot in slots}
        names = " and ".join(slots)
        uncorrected = _without_corrections(program[PARAM], [averages[slot] for slot in slots])
        if uncorrected != program[PARAM]:
            yield _rewritten(program, corrected, f"{names} kept corrected", {**program, PARAM: uncorrected})
        yield _rewritten(program, corrected, f"{names} kept corrected, and corrected again")


def averages_of(program: Program) -> Iterator[tuple[str, Expression]]:
    """Yield the slots that are averages with a decay, each with its bias correction.

    An average may be formed as an increment, as is Yogi's of squares, which has a sign.
    """
    for slot in slots_of(program):
        match program[slot]:
            case ("add", ("multiply", str(decay), old), _) if old == slot:
                yield slot, ("subtract", 1, ("power", decay, STEP))
            case ("add" | "subtract", old, increment) if old == slot:
                match _first_factor(increment):
                    case ("subtract", 1, str(decay)):
                        yield slot, ("subtract", 1, ("power", decay, STEP))


def _first_factor(part: Expression) -> Expression:
    match part:
        case ("multiply", factor, _):
            return _first_factor(factor)
    return part


def _without_corrections(expression: Expression, corrections: Sequence[Expression]) -> Expression:
    """Put 1 in the place of bias corrections."""
    return simplified(reduce(lambda line, correction: replaced(line, correction, 1.0), corrections, expression))


def _rewritten(
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
