"""Lists the edits that move a factor or a term from one line of a program to another.

Whoever keeps the learning rate out of a velocity, or decays the parameter apart from the step, makes one choice, which
shows in two lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from optimetry.conformance.naming.edits.factors import DECAY
from optimetry.conformance.naming.edits.single import ASIDE
from optimetry.conformance.naming.edits.usual import GUARDS
from optimetry.conformance.naming.formulas.notation import text_of
from optimetry.conformance.naming.formulas.programs import (
    EVERY,
    FIRST,
    GRAD,
    PARAM,
    RATE,
    Expression,
    Program,
    parts_of,
    replaced,
    simplified,
    slots_of,
)

SMALL = 2e-6
"""Up to where an epsilon is small: it only guards a divisor. Dr.Jit's limit is 1e-6, and cases have few between."""

Move = tuple[Program, str]
"""The lines after a move, and what it does in words."""


def moves(program: Program, hyperparameters: Sequence[str]) -> Iterator[Move]:
    """Yield every move of a program."""
    yield from _out_of_slots(program)
    yield from _rate_at_gradient(program)
    yield from _decays(program, hyperparameters)
    yield from _terms_out_of_slots(program, hyperparameters)
    yield from _decays_by_condition(program, hyperparameters)
    yield from _divided_before(program)
    yield from _small_number_at_two(program, hyperparameters)
    yield from _overwritten_early(program)
    yield from _overwritten_in_use(program)
    yield from _squared_under_roots(program, hyperparameters)


def _out_of_slots(program: Program) -> Iterator[Move]:
    """Yield a factor of what is added to a slot, the learning rate or all of them, where the slot is used."""
    for slot in slots_of(program):
        match program[slot]:
            case ("add", ("multiply", str(), old) as kept, pushed) if old == slot:
                if RATE in parts_of(pushed):
                    new = ("add", kept, _without_rate(pushed))
                    yield _with_slot(program, slot, new, ("multiply", RATE, new)), f"lr outside {slot}"
                for core, around in _factors(pushed):
                    new = ("add", kept, core)
                    words = f"the factors of what is added to {slot} outside it"
                    yield _with_slot(program, slot, new, replaced(around, ASIDE, new)), words


def _without_rate(product: Expression) -> Expression:
    """Divide an expression by the learning rate, which each of its terms is a multiple of, or the limit of."""
    for part in parts_of(product):
        match part:
            case ("minimum", limited, "lr") if RATE not in parts_of(limited):
                product = replaced(product, part, ("minimum", ("divide", limited, ASIDE), 1.0))
    return replaced(simplified(replaced(product, RATE, 1.0)), ASIDE, RATE)


def _factors(product: Expression) -> Iterator[tuple[Expression, Expression]]:
    """Yield each factor of a product that holds the gradient, and the product with `ASIDE` in its place."""
    match product:
        case (("multiply" | "divide") as name, a, b):
            for core, around in ((a, (name, ASIDE, b)), (b, (name, a, ASIDE))):
                if GRAD in parts_of(core) and (name == "multiply" or core is a):
                    yield core, around
                    yield from ((inner, replaced(around, ASIDE, outer)) for inner, outer in _factors(core))


def _with_slot(program: Program, slot: str, new: Expression, used: Expression) -> Program:
    """Return the program with another line of a slot, and what the parameter uses in its place."""
    return {**program, slot: new, PARAM: replaced(program[PARAM], program[slot], used)}


def _overwritten_early(program: Program) -> Iterator[Move]:
    """Yield a slot that is overwritten before another line takes its old number.

    That of another slot computes the new number once more from it; that of the parameter has the new number.
    """
    for slot in slots_of(program):
        for other in slots_of(program):
            if slot != other and slot in parts_of(program[other]):
                new = replaced(program[other], slot, program[slot])
                yield _with_slot(program, other, new, new), f"{slot} overwritten before it enters new {other}"
        old = replaced(program[PARAM], program[slot], ASIDE)
        if slot in parts_of(old):
            new = replaced(replaced(old, slot, program[slot]), ASIDE, program[slot])
            yield {**program, PARAM: new}, f"{slot} overwritten before it enters the parameter"


def _rate_at_gradient(program: Program) -> Iterator[Move]:
    """Yield the learning rate at the gradient, wherever that stands, in the place of that at the step."""
    match program[PARAM]:
        case ("subtract", "param", ("multiply", "lr", step)):
            lines = {**program, PARAM: ("subtract", PARAM, step)}
            yield replaced_in(lines, GRAD, ("multiply", RATE, GRAD)), "lr at the gradient"


def _decays(program: Program, hyperparameters: Sequence[str]) -> Iterator[Move]:
    """Yield a weight decay at another place: at the gradient, at the parameter, beside the step."""
    for plain, decay, words in _without_decays(program, hyperparameters):
        param = plain[PARAM]
        per_step = ("multiply", RATE, decay)
        before = ("subtract", PARAM, ("multiply", per_step, PARAM))
        for new, place in (
            ({**plain, PARAM: ("subtract", param, ("multiply", per_step, PARAM))}, "beside the step"),
            (replaced_in(plain, PARAM, before), "of the parameter before the step"),
            ({**plain, PARAM: ("subtract", param, ("multiply", per_step, param))}, "of the parameter after the step"),
            ({**plain, PARAM: ("subtract", param, ("multiply", decay, PARAM))}, "beside the step, without lr"),
            (replaced_in(plain, GRAD, ("add", GRAD, ("multiply", decay, PARAM))), "at the gradient"),
        ):
            yield new, f"{words} {place}"


def _divided_before(program: Program) -> Iterator[Move]:
    """Yield a parameter that is divided before its step and not with it, as the divisor of a proximal decay may do."""
    match program[PARAM]:
        case ("divide", ("subtract", "param", step), below):
            lines = {**program, PARAM: ("subtract", ("divide", PARAM, below), step)}
            yield lines, "the parameter divided before the step, not with it"


def _without_decays(program: Program, hyperparameters: Sequence[str]) -> Iterator[tuple[Program, Expression, str]]:
    """Yield the program without each of its decays, and that decay; where it has none, itself and a usual one."""
    decayed = list(_weight_decays(program, hyperparameters))
    for part, remaining, decay in decayed:
        yield replaced_in(program, part, remaining), decay, decay
    if not decayed:
        yield program, DECAY, f"a decay of {DECAY}"


def _weight_decays(program: Program, hyperparameters: Sequence[str]) -> Iterator[tuple[Expression, Expression, str]]:
    """Yield each sum with a weight decay, or the decayed parameter, what is decayed in it, and the hyperparameter."""
    for part in parts_of_lines(program):
        match part:
            case ("add", remaining, ("multiply", str() as decay, "param")) if decay in hyperparameters:
                yield part, remaining, decay
            case ("subtract", "param", ("multiply", ("multiply", "lr", str() as decay), "param")) if (
                decay in hyperparameters
            ):
                yield part, PARAM, decay


def parts_of_lines(program: Program) -> dict[Expression, None]:
    """Return every part of every line once."""
    return {part: None for line in program.values() for part in parts_of(line)}


def replaced_in(program: Program, old: Expression, new: Expression) -> Program:
    """Put one expression in the place of another in every line."""
    return {name: replaced(line, old, new) for name, line in program.items()}


def _terms_out_of_slots(program: Program, hyperparameters: Sequence[str]) -> Iterator[Move]:
    """Yield a hyperparameter that is added in the line of a slot where the parameter uses the slot."""
    for slot in slots_of(program):
        for part in parts_of(program[slot]):
            match part:
                case ("add", remaining, str() as term) if term in hyperparameters:
                    new = replaced(program[slot], part, remaining)
                    yield _with_slot(program, slot, new, ("add", new, term)), f"{term} beside new {slot}, not in it"


def _decays_by_condition(program: Program, hyperparameters: Sequence[str]) -> Iterator[Move]:
    """Yield a decay that is left out where a condition of the formula does not hold."""
    decayed = list(_weight_decays(program, hyperparameters))
    conditions = [part[1] for part in parts_of_lines(program) if isinstance(part, tuple) and part[0] == "where"]
    for condition in dict.fromkeys(x for x in conditions if isinstance(x, tuple)):
        for part, remaining, decay in decayed:
            if part not in parts_of(condition):
                lines = replaced_in(program, part, ("where", condition, part, remaining))
                yield lines, f"{decay} only where the condition holds"


def _small_number_at_two(program: Program, hyperparameters: Sequence[str]) -> Iterator[Move]:
    """Yield the same small number added to two hyperparameters."""
    for a, b in combinations(hyperparameters, 2):
        for small in GUARDS:
            lines = {
                x: line
                if x.startswith((FIRST, EVERY))
                else replaced(replaced(line, a, ("add", a, small)), b, ("add", b, small))
                for x, line in program.items()
            }
            yield lines, f"{small:g} added to {a} and to {b}"


def _overwritten_in_use(program: Program) -> Iterator[Move]:
    """Yield a slot that keeps what the parameter's line makes of it, as a root does that is taken in place."""
    other = {GRAD, PARAM, RATE, *slots_of(program)}
    for slot in slots_of(program):
        for part in parts_of(program[PARAM]):
            made_of_it = part != program[slot] and program[slot] in parts_of(part)
            if made_of_it and other.isdisjoint(parts_of(replaced(part, program[slot], ASIDE))):
                text = text_of(part, {program[slot]: f"new {slot}"})
                yield {**program, slot: part}, f"{slot} overwritten by {text}"


def _squared_under_roots(program: Program, hyperparameters: Sequence[str]) -> Iterator[Move]:
    """Yield the square of a term beside a root under it, for one root of both: always, or where the term is small.

    The term is a hyperparameter, or one that is divided as the root is, so that it stands beside another root.
    """
    for part in parts_of_lines(program):
        match part:
            case ("add", ("sqrt", radicand), (str() as name) | ("divide", str() as name, _) as term) if (
                name in hyperparameters
            ):
                under, words = ("sqrt", ("add", radicand, ("square", term))), f"the square of {name} under the root"
                yield replaced_in(program, part, under), words
                small = ("where", ("greater", name, SMALL), part, under)
                yield replaced_in(program, part, small), f"{words} where {name} is small"
