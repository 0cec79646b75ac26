"""Lists the edits of the bias corrections of averages: counted otherwise, left out, added, or put somewhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from optimetry.conformance.naming.edits.moves import parts_of_lines
from optimetry.conformance.naming.edits.rewritten import Rewritten, rewriting
from optimetry.conformance.naming.formulas.programs import (
    FIRST,
    GRAD,
    PARAM,
    RATE,
    STEP,
    Expression,
    Program,
    parts_of,
    replaced,
    simplified,
    slots_of,
)


def edits_of_corrections(program: Program) -> Iterator[Rewritten]:
    """Yield the edits of bias corrections."""
    yield from _counted_from_zero(program)
    yield from _corrected_as_at_first(program)
    yield from _corrected_by_a_power(program)
    yield from _begun_uncorrected(program)
    yield from _corrected_elsewhere(program)
    yield from _kept_corrected(program)
    yield from _uncorrected(program)
    yield from _corrected_unasked(program)


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
        yield rewriting(program, before, "t -> t - 1, and no correction in the first step")


def _one_before(correction: Expression) -> Expression:
    return replaced(correction, STEP, ("subtract", STEP, 1))


def _corrected_as_at_first(program: Program) -> Iterator[Rewritten]:
    """Yield the program whose corrections stay those of the first step, where one is of a product that a slot holds.

    Where all are of powers, it is a count of steps that never advances, which is known as such.
    """
    factors = dict(_products(program))
    if factors:
        first = {correction: replaced(correction, STEP, 1) for correction in _corrections(program)}
        yield rewriting(program, {**factors, **first}, "corrected in every step as in the first")


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
        yield rewriting(program, {product: ("power", factor, STEP)}, words)


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


def _uncorrected(program: Program) -> Iterator[Rewritten]:
    """Yield the program without its bias corrections, where it has several; one alone is an edit of a part."""
    corrections = _corrections(program)
    if len(corrections) > 1:
        yield Rewritten(((PARAM, _without_corrections(program[PARAM], corrections)),), "no bias correction")


def _corrected_unasked(program: Program) -> Iterator[Rewritten]:
    """Yield the program with the bias correction of its averages, all or one, where it corrects none."""
    if _corrections(program):
        return
    lines = {slot: _updated(program, slot) for slot in slots_of(program)}
    averages = dict(averages_of({**program, **lines}))
    weighted = tuple(slot for slot in averages if _weighs_to_one(lines[slot]))
    for slots in dict.fromkeys([*[weighted] * bool(weighted), *((slot,) for slot in averages)]):
        used = {name: line for name, line in program.items() if name not in slots}
        corrected = {lines[slot]: _mean_of(lines[slot], averages[slot]) for slot in slots}
        yield rewriting(program, corrected, f"{' and '.join(slots)} corrected for the bias", used)


def _updated(program: Program, slot: str) -> Expression:
    """Return the new value of a slot, which may be updated under a condition alone."""
    line = program[slot]
    return line[2] if isinstance(line, tuple) and line[0] == "where" and line[3] == slot else line


def _weighs_to_one(line: Expression) -> bool:
    """Whether what is added to an average is weighed by one less its decay."""
    match line:
        case ("add", ("multiply", decay, _), added):
            return _first_factor(added) == ("subtract", 1, decay)
    return True


def _mean_of(line: Expression, correction: Expression) -> Expression:
    """Return an average without its bias; of a sum that is weighed by powers of its decay, the mean."""
    match line:
        case ("add", ("multiply", decay, _), _) if not _weighs_to_one(line):
            line = ("multiply", ("subtract", 1, decay), line)
    return ("divide", line, correction)


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
            yield rewriting(program, corrected, f"{names} kept corrected", {**program, PARAM: uncorrected})
        yield rewriting(program, corrected, f"{names} kept corrected, and corrected again")


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
