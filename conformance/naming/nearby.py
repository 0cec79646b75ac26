"""Finds the edited programs that are nearest to a target, thousands of them together, in double precision.

A program is dropped at the first step in which it does not agree with the target in most digits; all edits of one part
are evaluated together as far as they change the parameter's line alone, and what programs share is evaluated once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from optimetry.conformance.naming.budget import Budget
from optimetry.conformance.naming.edits import ASIDE, Edit, choices, lines_of_slots, others_of, others_within
from optimetry.conformance.naming.fed import Fed
from optimetry.conformance.naming.programs import EVERY, FIRST, PARAM, Expression, Program, slots_of
from optimetry.conformance.naming.terms import Number, Step, Terms
from optimetry.conformance.naming.throughout import Change, Rewritten, edits_throughout, size_of

NEAREST = 16
"""How many classes of programs, the nearest to the target, are held against the bound."""

MEMBERS = 12
"""How many of each class, the simplest, are kept."""

MOST_TERMS = 400_000
"""The most expressions that are kept at a time."""

Numbered = tuple[Number, ...]
"""A program: the numbers of its expressions, the parameter first, then the slots, then where each slot begins."""

Edits = tuple[Change, ...]


class Nearby:
    """The search from one formula.

    Args:
        program: the formula.
        hyperparameters: the names of the real ones.
        fed: what the target was fed, and gave.
        budget: what the search may cost.
        named: the name of a formula with edits.
    """

    def __init__(
        self,
        program: Program,
        hyperparameters: Sequence[str],
        fed: Sequence[Fed],
        budget: Budget,
        named: Callable[[Edits], str],
    ) -> None:
        self.program, self.hyperparameters, self.fed = program, hyperparameters, fed
        self.budget, self.named = budget, named
        self.slots = slots_of(program)
        self.held = [slot for slot in self.slots if EVERY + slot in program]
        self.names = (PARAM, *self.slots, *(FIRST + slot for slot in self.slots), *(EVERY + slot for slot in self.held))
        self._clear()

    def _clear(self) -> None:
        """Forget every expression and every value."""
        self.terms = Terms()
        self._others: dict[Number, list[Number]] = {}
        self._starts: dict[tuple[int, Numbered], Step] = {}

    def single(self) -> list[list[Edits]]:
        """Search one edit away."""
        same = self._digits(self._numbered(self.program))
        return self._nearest(
            (apart, digits, (edit,)) for edit, apart, digits in self._agreeing(self.program) if digits != same
        )

    def double(self) -> list[list[Edits]]:
        """Search two edits away: every edit of each of the classes of edited programs.

        Two edits that leave each other alone come to the same in either order: the second is not tried in the parts of
        the formula that come before that of the first, nor are those of no single part, which come before all.
        """
        order = [self.terms.expressions[part] for part in reversed(self._holders(self._numbered(self.program)))]
        return self._nearest(
            (apart, digits, (first, second))
            for first, place in list(self._classes())
            if self.budget.left()
            for second, apart, digits in self._agreeing(
                first.applied(self.program), order[: max(place - 1, 0)], throughout=place == 0
            )
        )

    def _nearest(self, found: Iterable[tuple[float, bytes, Edits]]) -> list[list[Edits]]:
        members: dict[bytes, list[Edits]] = {}
        distances: dict[bytes, float] = {}
        for apart, digits, edits in found:
            self.budget.saw(apart, partial(self.named, edits))
            distances[digits] = apart
            members[digits] = sorted([*members.get(digits, []), edits], key=size_of)[:MEMBERS]
        chosen = heapq.nsmallest(NEAREST, distances, key=lambda digits: distances[digits])
        return sorted((members[digits] for digits in chosen), key=lambda each: size_of(each[0]))

    def _classes(self) -> Iterator[tuple[Change, int]]:
        """Yield the simplest edit of every class that differs from the formula, with the place of its first part."""
        simplest: dict[bytes, Change] = {self._digest(self._numbered(self.program)): Edit(0, 0, ())}
        base = self._numbered(self.program)
        places: dict[bytes, int] = {}
        for edit, place in self._edits(self.program, base):
            digest = self._digest(self._edited(base, edit))
            simplest[digest] = min(simplest.get(digest, edit), edit, key=lambda edit: edit.size)
            places.setdefault(digest, place)
        yield from ((edit, places[digest]) for digest, edit in simplest.items() if edit.outputs)

    def _edits(self, program: Program, base: Numbered) -> Iterator[tuple[Change, int]]:
        """Yield every edit of a program, with the place of its part, from 1; 0 for those of no single one."""
        new = lines_of_slots(program)
        yield from ((edit, 0) for edit in edits_throughout(program, self.hyperparameters))
        for place, (part, outputs) in enumerate(reversed(self._holders(base).items()), 1):
            for other in self._others_of(part, new):
                yield from ((edit, place) for edit in self._as_edits(part, other, outputs))

    def _as_edits(self, part: Number, other: Number, outputs: tuple[int, ...]) -> Iterator[Change]:
        old, new = self.terms.expressions[part], self.terms.expressions[other]
        for chosen in choices(outputs):
            yield Edit(old, new, tuple(self.names[i] for i in chosen))

    def _holders(self, base: Numbered) -> dict[Number, tuple[int, ...]]:
        """Return every part of a program, with the outputs that hold it."""
        found: dict[Number, tuple[int, ...]] = {}
        for i in range(1 + len(self.slots)):
            for part in self.terms.parts(base[i]):
                found[part] = (*found.get(part, ()), i)
        return found

    def _others_of(self, part: Number, new: Program) -> list[Number]:
        """Return what may stand in the place of a part of a program with these new slots."""
        expression, known = self.terms.expressions[part], self._others.get(part)
        if known is None:
            others = others_of(expression, self.slots, self.hyperparameters)
            known = self._others[part] = [x for x in dict.fromkeys(map(self.terms.number, others)) if x != part]
        within = map(self.terms.number, others_within(expression, new))
        return [*known, *(x for x in within if x != part)]

    def _agreeing(
        self, program: Program, left_out: Sequence[Expression] = (), *, throughout: bool = True
    ) -> Iterator[tuple[Change, float, bytes]]:
        """Yield the edits of a program that agree with the target in every step, with distance and class."""
        if len(self.terms.expressions) > MOST_TERMS:
            self._clear()
        base = self._numbered(program)
        edits = self._possible(program, base, set(map(self.terms.number, left_out)))
        for edit in chain(edits, self._throughout(program) if throughout else ()):
            numbered = self._edited(base, edit)
            apart = self._apart(numbered)
            if apart is not None:
                yield edit, apart, self._digits(numbered)

    def _possible(self, program: Program, base: Numbered, left_out: set[Number]) -> Iterator[Change]:
        """Yield the edits that agree with the target as far as all edits of one part can be evaluated together.

        The first step shows an edit of the parameter's line, and every step one of that line alone; of a slot's line it
        shows nothing.
        """
        new = lines_of_slots(program)
        states = [self._states(fed, base) for fed in self.fed]
        unedited = all(fed.agree(0, steps[0].value(base[0])).all() for fed, steps in zip(self.fed, states, strict=True))
        for part, outputs in reversed(self._holders(base).items()):
            others = [] if part in left_out else self._others_of(part, new)
            self.budget.programs += len(others) * len(choices(outputs))
            if not others:
                continue
            agreeing: list[Number] = []
            if 0 in outputs:
                alive = np.ones(len(others), bool)
                for fed, steps in zip(self.fed, states, strict=True):
                    if alive.any():
                        alive &= fed.agree(0, steps[0].with_each(base[0], part, others, fed.shape))
                alone = agreeing = [others[i] for i in np.flatnonzero(alive)]
                for at in range(1, max(len(fed.after) for fed in self.fed)):
                    for fed, steps in zip(self.fed, states, strict=True):
                        if alone and at < len(fed.after):
                            agree = fed.agree(at, steps[at].with_each(base[0], part, alone, fed.shape))
                            alone = [other for other, one in zip(alone, agree, strict=True) if one]
                for other in alone:
                    yield Edit(self.terms.expressions[part], self.terms.expressions[other], (PARAM,))
            for chosen in choices(outputs):
                names = tuple(self.names[i] for i in chosen)
                here = agreeing if 0 in chosen else others
                if names != (PARAM,) and (unedited or PARAM in names):
                    for other in self._through_slots(base, part, here, chosen):
                        yield Edit(self.terms.expressions[part], self.terms.expressions[other], names)

    def _through_slots(
        self, base: Numbered, part: Number, others: list[Number], chosen: Sequence[int]
    ) -> Sequence[Number]:
        """Return those of other expressions for a part with which every step agrees, as the first is known to.

        All are evaluated together. A slot with several entries is left to `_apart`.
        """
        for fed in self.fed if not self.held else ():
            step = self._start(fed, base)
            for at in range(len(fed.after)):
                if not others:
                    return []
                new = [
                    step.with_each(x, part, others, fed.shape) if i in chosen else _full(step.value(x), fed)
                    for i, x in enumerate(base[: 1 + len(self.slots)])
                ]
                if at:
                    agree = fed.agree(at, np.broadcast_to(new[0], (len(others), *fed.shape)))
                    others = [other for other, one in zip(others, agree, strict=True) if one]
                    new = [value[agree] if value.ndim > fed.after[at].ndim else value for value in new]
                if at + 1 < len(fed.after):
                    step = Step(self.terms, {**fed.inputs[at + 1], **dict(zip(self.slots, new[1:], strict=True))})
        return others

    def _throughout(self, program: Program) -> list[Change]:
        found = list(edits_throughout(program, self.hyperparameters))
        self.budget.programs += len(found)
        return found

    def _numbered(self, program: Program) -> Numbered:
        return tuple(self.terms.number(program[name]) for name in self.names)

    def _edited(self, base: Numbered, edit: Change) -> Numbered:
        if isinstance(edit, Rewritten):
            lines = dict(edit.lines)
            known = zip(self.names, base, strict=True)
            return tuple(self.terms.number(lines[name]) if name in lines else root for name, root in known)
        old, new = self.terms.number(edit.old), self.terms.number(edit.new)
        if edit.exchanged:
            aside = self.terms.number(ASIDE)
            for a, b in ((old, aside), (new, old), (aside, new)):
                base = tuple(self.terms.replaced(root, a, b) for root in base)
            return base
        return tuple(
            self.terms.replaced(root, old, new) if name in edit.outputs else root
            for name, root in zip(self.names, base, strict=True)
        )

    def _start(self, fed: Fed, numbered: Numbered) -> Step:
        """Return the first step of a program."""
        first = numbered[1 + len(self.slots) : 1 + 2 * len(self.slots)]
        key = (id(fed), first)
        if key not in self._starts:
            before = Step(self.terms, fed.inputs[0])
            slots = {slot: _full(before.value(x), fed) for slot, x in zip(self.slots, first, strict=True)}
            self._starts[key] = Step(self.terms, {**fed.inputs[0], **slots})
        return self._starts[key]

    def _next(self, fed: Fed, step: Step, at: int, numbered: Numbered) -> Step:
        """Return the step behind one."""
        slots, every = numbered[1 : 1 + len(self.slots)], numbered[1 + 2 * len(self.slots) :]
        found = step.following.get(slots + every)
        if found is None:
            if len(step.following) > 500:
                step.following.clear()
            new = {slot: _full(step.value(x), fed) for slot, x in zip(self.slots, slots, strict=True)}
            numbers = dict(zip(self.slots, slots, strict=True))
            for slot, between in zip(self.held, every, strict=True):
                new[slot] = self._held(fed, step, slot, numbers[slot], step.value(between))
            found = step.following[slots + every] = Step(
                self.terms, {**fed.inputs[at + 1], **new}, step if self.held else None
            )
        return found

    def _held(self, fed: Fed, step: Step, slot: str, number: Number, between: Any) -> Any:
        """Return the entry of a slot that the next step uses: what the last step wrote that had the same turn."""
        steps = [step]
        while steps[-1].before is not None:
            steps.append(steps[-1].before)
        value = steps[-1].inputs[slot]
        for back, earlier in enumerate(steps, 1):
            value = np.where(between == back, _full(earlier.value(number), fed), value)
        return value

    def _states(self, fed: Fed, numbered: Numbered) -> list[Step]:
        steps = [self._start(fed, numbered)]
        for at in range(len(fed.after) - 1):
            steps.append(self._next(fed, steps[-1], at, numbered))
        return steps

    def _apart(self, numbered: Numbered) -> float | None:
        """The largest distance of a program from the target; None where it disagrees."""
        largest = 0.0
        for fed in self.fed:
            step = self._start(fed, numbered)
            for at in range(len(fed.after)):
                step = self._next(fed, step, at - 1, numbered) if at else step
                value = step.value(numbered[0])
                if not fed.agree(at, np.broadcast_to(value, fed.shape)).all():
                    return None
                largest = max(largest, fed.apart(at, value))
        return largest

    def _values(self, numbered: Numbered) -> list[Any]:
        """The parameter and the slots in every step."""
        return [
            _full(step.value(x), fed)
            for fed in self.fed
            for step in self._states(fed, numbered)
            for x in numbered[: 1 + len(self.slots)]
        ]

    def _digest(self, numbered: Numbered) -> bytes:
        """Return what programs share that do the same in every step."""
        return b"".join(value.astype(np.float32).tobytes() for value in self._values(numbered))

    def _digits(self, numbered: Numbered) -> bytes:
        """Return what programs share that return the same: twelve digits of every value of the parameter."""
        values = np.concatenate([value.reshape(-1) for value in self._values(numbered)[:: 1 + len(self.slots)]])
        exponents = np.where(values == 0, 0, np.floor(np.log10(np.abs(values))))
        return np.round(values / 10.0**exponents, 11).tobytes() + exponents.tobytes()


def _full(value: Any, fed: Fed) -> Any:
    value = np.asarray(value, np.float64)  # that of several formulas together has the shape, and an axis more
    return value if value.ndim > len(fed.shape) else np.broadcast_to(value, fed.shape)
