"""Searches for a formula that nobody has declared: an edit of a known one that explains what a target computes.

Programs are first evaluated in double precision on the probes, thousands a second, and ranked by their distance from
what the target gave. That decides nothing: the nearest are then held against the target within the derived bound, as
every explanation is. Programs that give the same numbers are one class, for which the first stands.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.naming.edits import Edit, edits_of
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.families.family import Dialect
from optimetry.conformance.naming.points import PointClass
from optimetry.conformance.naming.programs import (
    PARAM,
    Expression,
    Program,
    of_rows,
    parts_of,
    program_of,
    text_of,
    updated,
)
from optimetry.conformance.numerics.agreement import compare, explained
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reference.rule import Rule, State

NEAREST = 16
"""How many classes of programs, the nearest to the target, are held against the bound."""


@dataclass(frozen=True)
class Edited:
    """A known formula with edits.

    Attributes:
        start: the class of the formula that was edited.
        edits: the changes, in order.
        hyper: hyperparameters at which it is described: flags decide which lines the formula has.
    """

    start: PointClass
    edits: tuple[Edit, ...]
    hyper: Mapping[str, Any]

    def program(self, rule: Rule, kind: type[Rule]) -> Program:
        """Return what one update computes with the flags of ``rule``; ``kind`` is the class that was edited."""
        program = program_of(rule, kind)
        assert program is not None
        for edit in self.edits:
            program = edit.applied(program)
        return program

    @property
    def changes(self) -> str:
        """The edits, as a reader compares them."""
        program = program_of(started(self.start, self.hyper)) or {}
        return "; ".join(written(edit, program) for edit in self.edits)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Each line of the formula that differs, before and after the edits."""
        rule = started(self.start, self.hyper)
        before = program_of(rule) or {}
        after = self.program(rule, type(rule))
        return [(line_of(name, before), line_of(name, before, after)) for name in before if before[name] != after[name]]

    @property
    def formula(self) -> PointClass:
        """The formula as a class of its own, which explains as declared ones do."""
        kind, edited = type(started(self.start, self.hyper)), self

        def update(self: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
            return updated(edited.program(self, kind), vars(self), param, grad, state, lr, t)

        body = {"update": update, "__doc__": kind.__doc__, "__module__": __name__}
        family = type(f"Edited{kind.__name__}", (kind,), body)
        changes = self.changes
        of = "" if self.start.documented else f"{self.start.name} with "
        dialect = Dialect(
            name=f"{of}{changes}",
            family=family,
            point=self.start.point,
            origin="no declared formula: found by search",
            difference=changes if self.start.documented else f"{self.start.difference}, and {changes}",
        )
        return PointClass(self.start.optimizer, dialect.name, (self.start.point,), dialect)


def started(start: PointClass, hyper: Mapping[str, Any]) -> Rule:
    """Return the formula that is edited, with these hyperparameters; for the document that of the reference."""
    rule = subject_named(start.optimizer).of(hyper) if start.documented else start.of(hyper)
    assert isinstance(rule, Rule)
    return rule


def line_of(name: str, program: Program, edited: Program | None = None) -> str:
    """Write the line of one output, the new slots of the unedited program by name."""
    names = {x: new for x, new in new_slots(program).items() if x != program[name]}
    return f"{name} <- {text_of((edited or program)[name], names)}"


def new_slots(program: Program) -> dict[Expression, str]:
    """Return the expressions of the slots, each with the name by which other lines call it."""
    return {x: f"new {name}" for name, x in program.items() if name not in (PARAM, x)}


def written(edit: Edit, program: Program) -> str:
    """Write an edit as a reader compares it: what the formula has, and what the target has there."""
    slots = new_slots(program)
    names = {expression: name for expression, name in slots.items() if expression != edit.old}
    if edit.old in slots and edit.outputs != (slots[edit.old].removeprefix("new "),):
        names = slots
    holders = [name for name, expression in program.items() if edit.old in parts_of(expression)]
    of = " and ".join("the parameter" if name == PARAM else f"new {name}" for name in edit.outputs)
    there = f" in {of} alone" if len(edit.outputs) < len(holders) else ""
    return f"{text_of(edit.old, names)} -> {text_of(edit.new, names)}{there}"


Runs = Sequence[tuple[Case, Array]]
"""What a target was fed, and its trajectory, shape (steps, elements)."""


def edited_formulas(starts: Iterable[PointClass], runs: Runs) -> list[Edited]:
    """Return the formulas, one edit away from the first known one that has any, that explain every run.

    Classes that explain the runs equally are told apart by none of them; the simplest edit comes first.

    Args:
        starts: the known formulas, those of one optimizer.
        runs: what a target gave in short runs, such as the probes.
    """
    for start in starts:
        found = [one for one in _nearest(start, runs) if _explains(Explanation(one.formula), runs)]
        if found:
            return found
    return []


def _nearest(start: PointClass, runs: Runs) -> list[Edited]:
    """Return the edited formulas that are nearest to a target, the simplest edit first."""
    known = [_Run.of(start, case, after) for case, after in runs]
    unedited = tuple(_digits(run.values(run.program)) for run in known)
    simplest: dict[tuple[bytes, ...], Edit] = {}
    distances: dict[tuple[bytes, ...], float] = {}
    for edit in dict.fromkeys(edit for run in known for edit in run.edits()):
        values = [run.values(edit.applied(run.program)) for run in known]
        computed = tuple(map(_digits, values))
        if computed == unedited:
            continue
        distances[computed] = max(run.distance(value) for run, value in zip(known, values, strict=True))
        simplest[computed] = min(simplest.get(computed, edit), edit, key=lambda edit: edit.size)
    nearest = heapq.nsmallest(NEAREST, distances, key=lambda computed: distances[computed])
    edits = sorted((simplest[computed] for computed in nearest), key=lambda edit: edit.size)
    return [Edited(start, (edit,), runs[0][0].hyper) for edit in edits]


def _explains(explanation: Explanation, runs: Runs) -> bool:
    """Whether it explains every run, and says as much of it as the document does."""
    for case, after in runs:
        agreement = explained(after, explanation.expected(case), case.form)
        if agreement is None or agreement.vacuous > compare(after, expected(case), case.form).vacuous:
            return False
    return True


def _digits(values: Array) -> bytes:
    """Return what formulas that compute the same share: twelve digits of every value."""
    with np.errstate(all="ignore"):
        exponents = np.where(values == 0, 0, np.floor(np.log10(np.abs(values))))
        return np.round(values / 10.0**exponents, 11).tobytes() + exponents.tobytes()


class _Fed(NamedTuple):
    """Tensors of one shape with gradients in the same steps, as the rows of matrices."""

    columns: Array
    param: Array
    grads: Sequence[Array | None]


@dataclass(frozen=True)
class _Run:
    """A run, what the target gave, and the formula that is edited, with the hyperparameters of the run."""

    rule: Rule
    program: Program
    rates: Sequence[float]
    fed: Sequence[_Fed]
    after: Array

    @classmethod
    def of(cls, start: PointClass, case: Case, after: Array) -> _Run:
        """Prepare a run for many evaluations."""
        alike: dict[Any, list[int]] = {}
        for i, param in enumerate(case.parameters):
            alike.setdefault((param.shape, *(grads[i] is None for grads in case.grads)), []).append(i)
        starts = np.cumsum([0, *(param.size for param in case.parameters)])

        def rows(arrays: Sequence[Array | None], chosen: Sequence[int]) -> Array | None:
            given = [array.reshape(-1) for i in chosen if (array := arrays[i]) is not None]
            return np.array(given, np.float64) if given else None

        fed = [
            _Fed(
                np.concatenate([np.arange(starts[i], starts[i + 1]) for i in chosen]),
                np.array([case.parameters[i].reshape(-1) for i in chosen], np.float64),
                [rows(grads, chosen) for grads in case.grads],
            )
            for chosen in alike.values()
        ]
        rule = started(start, case.hyper)
        return cls(rule, program_of(rule) or {}, case.learning_rates, fed, after.astype(np.float64))

    def edits(self) -> Iterator[Edit]:
        """Yield every edit of the formula; none where it cannot be traced."""
        return edits_of(self.program, [x.name for x in self.rule.hyperparameters() if x.kind is float])

    def values(self, program: Program) -> Array:
        """Evaluate a program in double precision, shape (steps, elements)."""
        found, hyper = np.empty_like(self.after), vars(self.rule)
        with np.errstate(all="ignore"):
            for columns, param, grads in self.fed:
                value, state, taken = param, self.rule.initial_state(param), 0
                for step, (grad, rate) in enumerate(zip(grads, self.rates, strict=True)):
                    if grad is not None and program:
                        taken += 1
                        value, state = updated(program, hyper, value, grad, state, rate, taken, of_rows)
                    found[step, columns] = np.broadcast_to(value, param.shape).reshape(-1)
        return found

    def distance(self, values: Array) -> float:
        """The largest difference from the target, relative to the element's largest magnitude so far."""
        with np.errstate(all="ignore"):
            largest = np.maximum.accumulate(np.maximum(np.abs(values), np.abs(self.after)), axis=0)
            apart = np.abs(values - self.after) / np.where(largest > 0, largest, 1)
        same = (np.isnan(values) & np.isnan(self.after)) | (values == self.after)
        return float(np.max(np.nan_to_num(np.where(same, 0.0, apart), nan=np.inf), initial=0.0))
