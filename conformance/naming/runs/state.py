"""Lists what may become of state: started anew, shared between parameters, or counted otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.universal import parameters_are_independent, resuming, splitting
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.oracle.joined import groups_of, joined
from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults, number_slots
from optimetry.conformance.subjects.subject import Subject
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.rule import Rule, State

SHARED_OUT = (2, 3, 4)
"""How many may share the updates, each with a count of its own."""

EVERY_STEP, NEW_RATE, MISSING = "in every step", "where the learning rate changes", "where the gradient is missing"


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may become of the state of a subject."""
    if not isinstance(subject, RuleSubject):
        run = {"finding": "reset", "what": ["its state"], "when": EVERY_STEP}
        yield Mistake(run=run, alteration=Forgotten(), breaks=(resuming,))
        if subject.joint:
            run = {"finding": "shared", "what": "norm", "whose": "each half of the list of gradients"}
            yield Mistake(run=run, alteration=InHalves())
        return
    slots = subject.declaration.slots
    for chosen in dict.fromkeys([slots, *((slot,) for slot in slots)]) if slots else ():
        for when in (EVERY_STEP, NEW_RATE, MISSING):
            for counts in (False, True):
                run = {"finding": "reset", "what": [*chosen, *["the step count"] * counts], "when": when}
                yield Mistake(run=run, alteration=Reset(chosen, when, counts), breaks=(resuming,))
    apart = (parameters_are_independent, splitting, resuming)
    if slots:
        for counts in (True, False):
            run = {"finding": "shared", "what": "state", "whose": "all parameters of one shape"}
            yield Mistake(run=run, alteration=Shared(counts), breaks=apart)
    hyper, _ = documented_defaults(subject)
    for number in number_slots(cast(Rule, subject.of(hyper))):
        run = {"finding": "shared", "what": number, "whose": "all parameters"}
        yield Mistake(run=run, alteration=OneNumber(number), breaks=apart)
    if not subject.elementwise and not subject.shaped:
        run = {"finding": "shared", "what": "norm", "whose": "all parameters"}
        yield Mistake(run=run, fed=as_one, breaks=apart)
    run = {"finding": "count", "how": "the updates of all parameters in turn"}
    yield Mistake(run=run, alteration=InTurn(), breaks=apart)
    run = {"finding": "count", "how": "for all what the last parameter with a gradient has counted"}
    yield Mistake(run=run, alteration=OfTheLast(), breaks=apart)
    yield Mistake(run={"finding": "count", "how": "every update as the first"}, alteration=AlwaysFirst())
    for workers in SHARED_OUT:
        run = {"finding": "count", "how": f"every {workers} updates as one"}
        yield Mistake(run=run, alteration=SharedOut(workers))


def as_one(case: Case) -> Case:
    """Return a case with its parameters joined into one; the case itself where some are updated and others are not."""
    groups = [group for _, group in groups_of(case, elementwise=True)]
    return joined(case, groups) if len(groups) == 1 else case


def _one_by_one(grads: Sequence[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the number of each parameter, and the gradients of a step with its own alone."""
    for i, grad in enumerate(grads):
        yield i, [grad if i == j else None for j in range(len(grads))]


@dataclass(frozen=True)
class Reset(Alteration):
    """Starts slots anew.

    Attributes:
        slots: which.
        when: in which steps.
        counts: whether the count of updates starts anew, too.
    """

    slots: tuple[str, ...]
    when: str
    counts: bool

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Forget, then do the step."""
        rate = float(getattr(lr, "value", lr))
        new_rate = rate != training.memory.get("rate")
        training.memory["rate"] = rate
        for i, grad in enumerate(grads):
            if {EVERY_STEP: True, NEW_RATE: new_rate, MISSING: grad is None}[self.when]:
                start = training.rule.initial_state(training.parameters[i])
                kept = training.states[i]
                training.states[i] = State(**{n: start[n] if n in self.slots else x for n, x in kept.items()})
                training.updates[i] = 0 if self.counts else training.updates[i]
        return plain(grads, lr)


@dataclass(frozen=True)
class Shared(Alteration):
    """Holds one state for all parameters of one shape.

    Attributes:
        counts: whether they share a count, too.
    """

    counts: bool
    by_place = True

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Update one parameter after the other, each with the state that the one before left."""
        first: dict[Any, int] = {}
        after = list(training.parameters)
        for i, alone in _one_by_one(grads):
            owner = first.setdefault(training.parameters[i].shape, i)
            training.states[i] = training.states[owner]
            if self.counts:
                training.updates[i] = training.updates[owner]
            after = plain(alone, lr)
            training.states[owner] = training.states[i]
            if self.counts:
                training.updates[owner] = training.updates[i]
        return after


@dataclass(frozen=True)
class OneNumber(Alteration):
    """Holds a number of the optimizer, which every update changes, where each parameter has one.

    Attributes:
        slot: the number.
    """

    slot: str
    by_place = True

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Update one parameter after the other, each with the number that the one before left."""
        after = list(training.parameters)
        for i, alone in _one_by_one(grads):
            kept = training.states[i]
            training.states[i] = State(**{**kept, self.slot: training.memory.get(self.slot, kept[self.slot])})
            after = plain(alone, lr)
            training.memory[self.slot] = training.states[i][self.slot]
        return after


@dataclass(frozen=True)
class InTurn(Alteration):
    """Counts the updates of all parameters together."""

    by_place = True

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Update one parameter after the other."""
        after = list(training.parameters)
        for i, alone in _one_by_one(grads):
            training.updates = [training.updates[0]] * len(grads)
            after = plain(alone, lr)
            training.updates = [training.updates[i]] * len(grads)
        return after


class AlwaysFirst(Alteration):
    """Never advances the count of updates."""

    def update(self, rule: Any, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do the first update again."""
        after: tuple[Any, State] = rule.update(param, grad, state, lr, 1)
        return after


class OfTheLast(Alteration):
    """Advances the count of the last parameter that has a gradient, and takes it for all of them."""

    by_place = True

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Count for one alone."""
        own = list(training.updates)
        last = [i for i, grad in enumerate(grads) if grad is not None][-1:]
        training.updates = [own[i] for i in last] * len(grads) or own
        after = plain(grads, lr)
        training.updates = [count + (i in last) for i, count in enumerate(own)]
        return after


@dataclass(frozen=True)
class SharedOut(Alteration):
    """Counts several updates as one, as workers do that take turns and count apart.

    Attributes:
        workers: how many.
    """

    workers: int

    def update(self, rule: Any, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do the update with one worker's count."""
        after: tuple[Any, State] = rule.update(param, grad, state, lr, (t - 1) // self.workers + 1)
        return after


class Forgotten(Alteration):
    """Starts a wrapper anew in every step."""

    def feed(self, wrapper: Wrapper, fed: Any, parameters: Any, state: Any) -> tuple[list[Any], Any]:
        """Do the first step."""
        return wrapper.feed(fed, parameters, None)


class InHalves(Alteration):
    """Takes two halves of a list each for all of it, as two devices do that hold one of them."""

    by_place = True

    def feed(self, wrapper: Wrapper, fed: Any, parameters: Any, state: Any) -> tuple[list[Any], Any]:
        """Do the step of each half."""
        half = (len(fed) + 1) // 2
        first, _ = wrapper.feed(fed[:half], parameters[:half], state)
        second, _ = wrapper.feed(fed[half:], parameters[half:], state)
        return [*first, *second], state
