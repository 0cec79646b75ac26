"""Finds the edited programs that are nearest to a target, thousands of them together, in double precision.

A program is dropped at the first step in which it does not agree with the target in most digits; all edits of one part
are evaluated together as far as they change the parameter's line alone, and what programs share is evaluated once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from optimetry.conformance.naming.edits.rewritten import ProgramEdit, size_of
from optimetry.conformance.naming.edits.single import (
    Edit,
    choices_of_outputs,
    lines_of_slots,
    replacements_by_slots,
    replacements_of,
)
from optimetry.conformance.naming.edits.throughout import edits_throughout
from optimetry.conformance.naming.formulas.input_names import InputNames
from optimetry.conformance.naming.formulas.programs import Expression, Program
from optimetry.conformance.naming.formulas.terms import Number, StateStep
from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.fed import Fed
from optimetry.conformance.naming.search.stepped import Numbered, Stepped, full

NEAREST = 16
"""How many classes of programs, the nearest to the target, are held against the bound."""

MEMBERS = 12
"""How many of each class, the simplest, are kept."""

MOST_TERMS = 400_000
"""The most expressions that are kept at a time."""

FAR = 3
"""The number of levels above a change from which a part's edits no longer depend on it."""

PARAM_LINE = 0
"""The place of the parameter's line among the outputs of a numbered program; those of the slots follow."""

Edits = tuple[ProgramEdit, ...]


class Nearby(Stepped):
    """The search from one formula.

    Args:
        program: the formula.
        hyperparameters: the names of the real ones.
        fed: the target's inputs and results.
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
        self.program, self.hyperparameters = program, hyperparameters
        self.budget, self.named = budget, named
        super().__init__(program, fed)
        self.inputs = InputNames(tuple(self.slots), tuple(hyperparameters))

    def _clear(self) -> None:
        super()._clear()
        self._replacements: dict[tuple[Number, bool], list[Number]] = {}
        self._agree_at_first: dict[tuple[Numbered, Number], dict[Number, bool]] = {}

    def at(self, count: int) -> list[list[Edits]]:
        """Search so many edits away, two at most."""
        if count:
            return self.single() if count == 1 else self.double()
        self.budget.programs += 1
        return [] if self._apart(self._numbered(self.program)) is None else [[()]]

    def single(self) -> list[list[Edits]]:
        """Search one edit away."""
        same = self._digits(self._numbered(self.program))
        return self._nearest(
            (apart, digits, (edit,)) for edit, apart, digits in self._agreeing(self.program) if digits != same
        )

    def double(self) -> list[list[Edits]]:
        """Search two edits away: every edit of each of the classes of edited programs.

        Independent edits give the same program in either order: the second is not tried in parts of the formula that
        come before the first's, nor are edits of no single part, which come before all. In the parts around the first
        edit only edits that depend on operands are tried, and none from `FAR` levels above it on.
        """
        order = [self.terms.expressions[part] for part in reversed(self._holders(self._numbered(self.program)))]
        return self._nearest(
            (apart, digits, (first, second))
            for first, place in list(self._classes())
            if self.budget.left()
            for second, apart, digits in self._agreeing(
                first.applied(self.program), order[: max(place - 1, 0)], first if place else None
            )
        )

    def _levels_above(self, base: Numbered, first: ProgramEdit | None) -> dict[Number, int]:
        """Return the parts that an edit changed by changing a part within them, each with its levels above that part.

        No level is more than `FAR`.
        """
        levels: dict[Number, int] = {}
        if isinstance(first, Edit):
            before, new = self._holders(self._numbered(self.program)), self.terms.number(first.new)
            for root in base[: 1 + len(self.slots)]:
                for part in self.terms.above(root, new):
                    if part not in before:
                        within = (0 if x == new else levels.get(x, FAR) for x in self.terms.operands[part])
                        levels[part] = min(FAR, 1 + min(within))
        return levels

    def _nearest(self, candidates: Iterable[tuple[float, bytes, Edits]]) -> list[list[Edits]]:
        members: dict[bytes, list[Edits]] = {}
        distances: dict[bytes, float] = {}
        for apart, digits, edits in candidates:
            self.budget.saw(apart, partial(self.named, edits))
            distances[digits] = apart
            members[digits] = sorted([*members.get(digits, []), edits], key=size_of)[:MEMBERS]
        chosen = heapq.nsmallest(NEAREST, distances, key=lambda digits: distances[digits])
        return sorted((members[digits] for digits in chosen), key=lambda each: size_of(each[0]))

    def _classes(self) -> Iterator[tuple[ProgramEdit, int]]:
        """Yield the simplest edit of every class that differs from the formula, with the place of its first part."""
        simplest: dict[bytes, ProgramEdit] = {self._digest(self._numbered(self.program)): Edit(0, 0, ())}
        base = self._numbered(self.program)
        places: dict[bytes, int] = {}
        for edit, place in self._edits(self.program, base):
            digest = self._digest(self._edited(base, edit))
            simplest[digest] = min(simplest.get(digest, edit), edit, key=lambda edit: edit.size)
            places.setdefault(digest, place)
        yield from ((edit, places[digest]) for digest, edit in simplest.items() if edit.outputs)

    def _edits(self, program: Program, base: Numbered) -> Iterator[tuple[ProgramEdit, int]]:
        """Yield every edit of a program, with the place of its part, from 1; 0 for those of no single one."""
        new = lines_of_slots(program)
        yield from ((edit, 0) for edit in edits_throughout(program, self.hyperparameters))
        for place, (part, outputs) in enumerate(reversed(self._holders(base).items()), 1):
            for replacement in self._replacements_of(part, new):
                yield from ((self._edit(part, replacement, chosen), place) for chosen in choices_of_outputs(outputs))

    def _edit(self, part: Number, replacement: Number, outputs: tuple[int, ...]) -> Edit:
        """Return the edit that puts an expression in the place of a part, in some outputs."""
        old, new = self.terms.expressions[part], self.terms.expressions[replacement]
        return Edit(old, new, tuple(self.names[i] for i in outputs))

    def _holders(self, base: Numbered) -> dict[Number, tuple[int, ...]]:
        """Return every part of a program, with the outputs that hold it."""
        holders: dict[Number, tuple[int, ...]] = {}
        for i in range(1 + len(self.slots)):
            for part in self.terms.parts(base[i]):
                holders[part] = (*holders.get(part, ()), i)
        return holders

    def _replacements_of(self, part: Number, new: Program, *, of_operands: bool = False) -> list[Number]:
        """Return what may replace a part of a program with these new slots.

        With ``of_operands``, only what depends on the operands of the part.
        """
        expression, known = self.terms.expressions[part], self._replacements.get((part, of_operands))
        if known is None:
            numbers = map(self.terms.number, replacements_of(expression, self.inputs, of_operands=of_operands))
            known = self._replacements[part, of_operands] = [x for x in dict.fromkeys(numbers) if x != part]
        by_slots = map(self.terms.number, replacements_by_slots(expression, new))
        return [*known, *(x for x in by_slots if x != part)]

    def _agreeing(
        self, program: Program, left_out: Sequence[Expression] = (), first: ProgramEdit | None = None
    ) -> Iterator[tuple[ProgramEdit, float, bytes]]:
        """Yield the edits of a program that agree with the target in every step, with distance and class.

        Args:
            program: the program.
            left_out: parts that are not edited.
            first: the edit of one part that led to it, if any: beside it only edits of one part are tried.
        """
        if len(self.terms.expressions) > MOST_TERMS:
            self._clear()
        base = self._numbered(program)
        levels = {**self._levels_above(base, first), **dict.fromkeys(map(self.terms.number, left_out), FAR)}
        edits = self._edits_of_parts(program, base, levels)
        for edit in chain(edits, () if first else self._throughout(program)):
            numbered = self._edited(base, edit)
            apart = self._apart(numbered)
            if apart is not None:
                yield edit, apart, self._digits(numbered)

    def _edits_of_parts(self, program: Program, base: Numbered, levels: Mapping[Number, int]) -> Iterator[ProgramEdit]:
        """Yield the edits of single parts that may agree with the target in every step.

        An edit of the parameter's line must agree in the first step. The first step shows nothing of the lines of
        slots: if the formula departs from the target there, edits of these alone agree nowhere.

        Args:
            program: the formula.
            base: the same, numbered.
            levels: how far within a part it has been edited before.
        """
        new = lines_of_slots(program)
        states = [self._states(fed, base) for fed in self.fed]
        formula_agrees_at_first = all(
            fed.agree(0, steps[0].value(base[0])).all() for fed, steps in zip(self.fed, states, strict=True)
        )
        for part, outputs in reversed(self._holders(base).items()):
            level, touches_param = levels.get(part, 0), PARAM_LINE in outputs
            if level == FAR or not (formula_agrees_at_first or touches_param):
                continue
            replacements = self._replacements_of(part, new, of_operands=level > 0)
            self.budget.programs += len(replacements) * len(choices_of_outputs(outputs))
            tried_in_param = self._agreeing_at_first(base, part, replacements) if touches_param else []
            tried_in_slots_alone = replacements if formula_agrees_at_first else []
            for replacement in self._agreeing_in_param_alone(base, part, tried_in_param, states):
                yield self._edit(part, replacement, (PARAM_LINE,))
            for chosen in choices_of_outputs(outputs):
                if chosen != (PARAM_LINE,):
                    tried = tried_in_param if PARAM_LINE in chosen else tried_in_slots_alone
                    for replacement in self._agreeing_through_slots(base, part, tried, chosen):
                        yield self._edit(part, replacement, chosen)

    def _agreeing_at_first(self, base: Numbered, part: Number, replacements: list[Number]) -> list[Number]:
        """Return the replacements of a part of the parameter's line that agree with the target in the first step.

        Programs that differ in the lines of slots alone share the result.
        """
        known = self._agree_at_first.setdefault((self._line(base), part), {})
        unknown = [x for x in replacements if x not in known]
        if unknown:
            left = np.arange(len(unknown))
            for fed in self.fed:
                if left.size:
                    step = self._start(fed, base)
                    values = step.with_each(base[0], part, [unknown[i] for i in left], fed.shape)
                    left = left[fed.agree(0, values)]
            known.update(dict.fromkeys(unknown, False))
            known.update((unknown[i], True) for i in left)
        return [x for x in replacements if known[x]]

    def _agreeing_in_param_alone(
        self, base: Numbered, part: Number, replacements: list[Number], states: Sequence[Sequence[StateStep]]
    ) -> list[Number]:
        """Return the replacements of a part in the parameter's line alone that agree in every step.

        Args:
            base: the formula.
            part: what is replaced.
            replacements: those that agree in the first step.
            states: the steps of the formula on each of `fed`; these edits leave its slots as they are.
        """
        for at in range(1, max(len(fed.after) for fed in self.fed)):
            for fed, steps in zip(self.fed, states, strict=True):
                if replacements and at < len(fed.after):
                    agree = fed.agree(at, steps[at].with_each(base[0], part, replacements, fed.shape))
                    replacements = _agreeing_among(replacements, agree)
        return replacements

    def _agreeing_through_slots(
        self, base: Numbered, part: Number, replacements: list[Number], chosen: Sequence[int]
    ) -> list[Number]:
        """Return the replacements of a part in several lines, or in those of slots, that agree in every step.

        All are evaluated together. Programs with a slot of several entries are left to `_apart`.

        Args:
            base: the formula.
            part: what is replaced.
            replacements: all that are tried; in the first step they are known to agree.
            chosen: the outputs in which the part is replaced.
        """
        for fed in self.fed if not self.held else ():
            step = self._start(fed, base)
            for at in range(len(fed.after)):
                if not replacements:
                    return []
                lines = [
                    step.with_each(line, part, replacements, fed.shape) if i in chosen else full(step.value(line), fed)
                    for i, line in enumerate(base[: 1 + len(self.slots)])
                ]
                if at:
                    agree = fed.agree(at, np.broadcast_to(lines[0], (len(replacements), *fed.shape)))
                    replacements = _agreeing_among(replacements, agree)
                    lines = [value[agree] if value.ndim > fed.after[at].ndim else value for value in lines]
                if at + 1 < len(fed.after):
                    slots = dict(zip(self.slots, lines[1:], strict=True))
                    step = StateStep(self.terms, {**fed.inputs[at + 1], **slots})
        return replacements

    def _throughout(self, program: Program) -> list[ProgramEdit]:
        changes = list(edits_throughout(program, self.hyperparameters))
        self.budget.programs += len(changes)
        return changes


def _agreeing_among(replacements: Sequence[Number], agree: Any) -> list[Number]:
    return [x for x, agrees in zip(replacements, agree, strict=True) if agrees]
