"""A known formula with edits: a class of its own that is evaluated as any other, and its text beside the known one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from optimetry.conformance.naming.edits.rewritten import ProgramEdit, Rewritten, size_of, with_edits
from optimetry.conformance.naming.edits.single import Edit
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import Dialect, StepCount
from optimetry.conformance.naming.formulas.evaluated import evaluating, is_one, shared
from optimetry.conformance.naming.formulas.notation import text_of
from optimetry.conformance.naming.formulas.programs import (
    EVERY,
    FIRST,
    GRAD,
    PARAM,
    STEP,
    Expression,
    Program,
    parts_of,
    program_of,
    slots_of,
)
from optimetry.conformance.naming.known.counting import counting
from optimetry.conformance.naming.known.elsewhere import OtherRule
from optimetry.conformance.naming.known.points import PointClass, counts_steps
from optimetry.conformance.numerics.arithmetic import PLAIN, Arithmetic
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.declaration import Declared


@dataclass(frozen=True)
class Edited:
    """A known formula with edits.

    Attributes:
        start: the class of the formula that was edited.
        edits: the changes, in order.
        hyper: hyperparameters at which it is traced.
        arithmetic: how it is computed.
        step_count: what t counts, None for the documented way.
        held: the flags that a target has one value of alone, and the numbers that are always 0: they are left out.
    """

    start: PointClass
    edits: tuple[ProgramEdit, ...]
    hyper: Mapping[str, Any]
    arithmetic: Arithmetic = PLAIN
    step_count: StepCount | None = None
    held: tuple[str, ...] = ()

    @cached_property
    def before(self) -> Program:
        """The program of the known formula."""
        program = traced(self.start, self.hyper, self.held)
        assert program is not None
        return program

    @cached_property
    def program(self) -> Program:
        """What one update computes, each part once."""
        return shared(with_edits(self.before, self.edits))

    @property
    def size(self) -> tuple[int, int]:
        """How much the edits add together, as `Edit.size`."""
        return size_of(self.edits)

    @property
    def changes(self) -> str:
        """The edits, as a reader compares them."""
        return "; ".join(written(edit, self.before, self._words) for edit in self.edits)

    @property
    def _words(self) -> Mapping[Expression, str]:
        """What inputs are called that an average is fed: parameters, not gradients."""
        averages = getattr(subject_named(self.start.optimizer), "averages", False)
        return {GRAD: "param", PARAM: "first param"} if averages else {}

    @property
    def counts_steps(self) -> bool:
        """Whether ways of counting steps are tried: t is used, and not in an unedited rule of another book."""
        declared = counts_steps(self.start.optimizer) and not isinstance(self.start.dialect, OtherRule)
        used = any(STEP in parts_of(line) for line in self.program.values())
        return used and (bool(self.edits) or declared)

    @property
    def _start(self) -> PointClass:
        """The class of the formula that was edited, with what t counts."""
        return self.start.counting(self.step_count) if self.step_count else self.start

    @property
    def name(self) -> str:
        """Which formula was edited, and how."""
        start = "" if self._start.documented else self._start.name
        return " with ".join(filter(None, (start, self.changes)))

    @property
    def reason(self) -> str:
        """One sentence on how it was found, for a verdict."""
        if self.edits:
            return f"{self.name}: found by search, and declared nowhere"
        known = self.start.dialect
        unused = known.unused(self.start.optimizer) if isinstance(known, OtherRule) else []
        useless = f", which has no use for {' and '.join(unused)}" if unused else ""
        return f"the formula of {self.name}{useless}: found by search"

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Each line of the formula that differs, before and after the edits, and each line of an added slot."""
        before, after = self.before, self.program
        wraps = isinstance(started(self.start, self.hyper), Wrapper)
        words = self._words
        lines = [(line_of(name, before, wraps, words), line_of(name, after, wraps, words)) for name in before]
        added = [(f"no {name}", line_of(name, after, wraps, words)) for name in slots_of(after) if name not in before]
        return [*((old, new) for old, new in lines if old != new), *added]

    @cached_property
    def formula(self) -> PointClass:
        """The formula as a class of its own, which explains as declared ones do; the known one without edits."""
        if not self.edits:
            return self._start
        kind: Any = type(started(self.start, self.hyper))
        family = evaluating(counting(kind) if self.step_count else kind, self.program)
        changes = self.changes
        named: dict[str, Any] = {
            "name": self.name,
            "family": family,
            "origin": "no declared formula: found by search",
            "reference": "",
            "difference": changes if self.start.documented else f"{self.start.difference}, and {changes}",
        }
        known = self.start.dialect  # it may be of another book, with other names for hyperparameters
        dialect = dataclasses.replace(known, **named) if known else Dialect(**named, point=self.start.point)
        return PointClass(self.start.optimizer, dialect.name, (self.start.point,), dialect, self.step_count)

    @cached_property
    def explanation(self) -> Explanation:
        """The formula as what may explain a target."""
        return Explanation(self.formula, self.arithmetic)


def started(start: PointClass, hyper: Mapping[str, Any]) -> Declared:
    """Return the formula that is edited, with these hyperparameters; for the document that of the reference."""
    return subject_named(start.optimizer).of(hyper) if start.documented else start.of(hyper)


def fixed(start: PointClass, held: tuple[str, ...]) -> tuple[str, ...]:
    """Return the hyperparameters of a formula that are held, or, of another rule, that are none of the document's."""
    return start.dialect.fixed if isinstance(start.dialect, OtherRule) else held


def traced(start: PointClass, hyper: Mapping[str, Any], held: tuple[str, ...] = ()) -> Program | None:
    """Trace the formula that is edited, as `program_of`."""
    return program_of(started(start, hyper), fixed(start, held))


def line_of(name: str, program: Program, wraps: bool = False, words: Mapping[Expression, str] | None = None) -> str:
    """Write the line of one output, the new slots and ``words`` by name; a wrapper returns gradients or averages."""
    names = {**(words or {}), **{x: new for x, new in new_slots(program).items() if x != program[name]}}
    returned = ("average" if words else GRAD) if wraps and name == PARAM else name
    return f"{returned} <- {text_of(program[name], names)}"


LONG = 40
"""From how many characters on a part is left out of the text of an edit that both sides have."""


def new_slots(program: Program) -> dict[Expression, str]:
    """Return the expressions of the slots, each with the name by which other lines call it."""
    return {program[name]: f"new {name}" for name in slots_of(program) if program[name] != name}


def _exchanged_operand(edit: Edit) -> tuple[Expression, ...]:
    """Return the old and the new operand of an edit that changes one operand alone; empty for other edits."""
    old, new = edit.old, edit.new
    if not (isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new) and old[0] == new[0]):
        return ()
    differing = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    return differing[0] if len(differing) == 1 else ()


def written(edit: ProgramEdit, program: Program, words: Mapping[Expression, str] | None = None) -> str:
    """Write an edit as a reader compares it: what the formula has, and what the target has there.

    Args:
        edit: the edit.
        program: what is edited.
        words: what inputs are called.
    """
    if isinstance(edit, Rewritten):
        return edit.words
    slots = new_slots(program)
    names = {expression: name for expression, name in slots.items() if expression != edit.old}
    if edit.old in slots and edit.outputs != (slots[edit.old].removeprefix("new "),):
        names = slots
    holders = [name for name, expression in program.items() if edit.old in parts_of(expression)]
    of = " and ".join("the parameter" if name == PARAM else f"new {name}" for name in edit.outputs)
    there = f" in {of} alone" if len(edit.outputs) < len(holders) else ""
    names = {**(words or {}), **names}
    same = parts_of(edit.old).keys() & parts_of(edit.new).keys() - {edit.old, edit.new, *_exchanged_operand(edit)}
    names = {**{part: "(...)" for part in same if len(text_of(part, names)) > LONG}, **names}
    names |= {part: "1" for part in parts_of(edit.new) if isinstance(part, tuple) and is_one(*part)}
    if edit.outputs[0].startswith((FIRST, EVERY)):
        return f"{edit.outputs[0]}: {text_of(edit.old, words)} -> {text_of(edit.new, words)}"
    if edit.exchanged:
        return f"{text_of(edit.old, names)} and {text_of(edit.new, names)} exchanged"
    return f"{text_of(edit.old, names)} -> {text_of(edit.new, names)}{there}"
