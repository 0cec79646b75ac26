"""Runs programs step by step beside a target, thousands of them; what they share is evaluated once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.naming.edits.rewritten import ProgramEdit, Rewritten
from optimetry.conformance.naming.edits.single import ASIDE
from optimetry.conformance.naming.formulas.programs import EVERY, FIRST, PARAM, Program, slots_of
from optimetry.conformance.naming.formulas.terms import Number, StateStep, Terms
from optimetry.conformance.naming.search.fed import Fed

FIRST_ROWS = 2
"""How many tensors, or elements, of those that the target was fed exclude programs before all others do."""

Numbered = tuple[Number, ...]
"""A program: the numbers of its expressions, the parameter first, then the slots, then where each slot begins."""


class Stepped:
    """Evaluates the programs that a formula's edits make, in every step of a target.

    Args:
        program: the formula.
        fed: the target's inputs and results.
    """

    def __init__(self, program: Program, fed: Sequence[Fed]) -> None:
        self.whole = fed
        self.fed = [*(rows.some_rows(FIRST_ROWS) for rows in fed[:1]), *fed]
        self.slots = slots_of(program)
        self.held = [slot for slot in self.slots if EVERY + slot in program]
        self.names = (PARAM, *self.slots, *(FIRST + slot for slot in self.slots), *(EVERY + slot for slot in self.held))
        self._clear()

    def _clear(self) -> None:
        """Forget every expression and every value."""
        self.terms = Terms()
        self._starts: dict[tuple[int, Numbered], StateStep] = {}

    def _numbered(self, program: Program) -> Numbered:
        return tuple(self.terms.number(program[name]) for name in self.names)

    def _edited(self, base: Numbered, edit: ProgramEdit) -> Numbered:
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

    def _line(self, base: Numbered) -> Numbered:
        """Return the lines that determine the first step: the parameter's, and where slots begin."""
        return base[0], *base[1 + len(self.slots) : 1 + 2 * len(self.slots)]

    def _start(self, fed: Fed, numbered: Numbered) -> StateStep:
        """Return the first step of a program."""
        _, *first = self._line(numbered)
        key = (id(fed), tuple(first))
        if key not in self._starts:
            before = StateStep(self.terms, fed.inputs[0])
            slots = {slot: full(before.value(x), fed) for slot, x in zip(self.slots, first, strict=True)}
            self._starts[key] = StateStep(self.terms, {**fed.inputs[0], **slots})
        return self._starts[key]

    def _next(self, fed: Fed, step: StateStep, at: int, numbered: Numbered) -> StateStep:
        """Return the step after one."""
        slots, every = numbered[1 : 1 + len(self.slots)], numbered[1 + 2 * len(self.slots) :]
        following = step.following.get(slots + every)
        if following is None:
            if len(step.following) > 500:
                step.following.clear()
            new = {slot: full(step.value(x), fed) for slot, x in zip(self.slots, slots, strict=True)}
            numbers = dict(zip(self.slots, slots, strict=True))
            for slot, between in zip(self.held, every, strict=True):
                new[slot] = self._held(fed, step, slot, numbers[slot], step.value(between))
            following = step.following[slots + every] = StateStep(
                self.terms, {**fed.inputs[at + 1], **new}, step if self.held else None
            )
        return following

    def _held(self, fed: Fed, step: StateStep, slot: str, number: Number, between: Any) -> Any:
        """Return the entry of a slot that the next step uses: the one written by the last step with the same turn."""
        steps = [step]
        while steps[-1].before is not None:
            steps.append(steps[-1].before)
        value = steps[-1].inputs[slot]
        for back, earlier in enumerate(steps, 1):
            value = np.where(between == back, full(earlier.value(number), fed), value)
        return value

    def _states(self, fed: Fed, numbered: Numbered) -> list[StateStep]:
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
            full(step.value(x), fed)
            for fed in self.whole
            for step in self._states(fed, numbered)
            for x in numbered[: 1 + len(self.slots)]
        ]

    def _digest(self, numbered: Numbered) -> bytes:
        """Return a key that is equal for programs with the same parameter and slots in every step."""
        return b"".join(value.astype(np.float32).tobytes() for value in self._values(numbered))

    def _digits(self, numbered: Numbered) -> bytes:
        """Return a key that is equal for programs with the same results: twelve digits of each parameter value."""
        values = np.concatenate([value.reshape(-1) for value in self._values(numbered)[:: 1 + len(self.slots)]])
        exponents = np.where(values == 0, 0, np.floor(np.log10(np.abs(values))))
        return np.round(values / 10.0**exponents, 11).tobytes() + exponents.tobytes()


def full(value: Any, fed: Fed) -> Any:
    """Return a value for every element; one of several formulas together has the shape, and an axis more."""
    value = np.asarray(value, np.float64)
    return value if value.ndim > len(fed.shape) else np.broadcast_to(value, fed.shape)
