"""Lists what may become of state: started anew, shared between parameters, or counted otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from optimetry.conformance.cases.case import Case
from optimetry.conformance.laws.universal import parameters_are_independent, resuming, splitting
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step, Stepping, with_gradients
from optimetry.conformance.naming.known.counting import uses_step
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.oracle.expected import decays_of
from optimetry.conformance.oracle.joined import groups_of, joined
from optimetry.conformance.subjects.rules import RuleSubject, documented_defaults, number_slots
from optimetry.conformance.subjects.subject import Subject
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.reference.rule import Rule, State

SHARED_OUT = (2, 3, 4)
"""How many may share the updates, each with a count of its own."""

EACH_STEP, NEW_RATE, MISSING = "in every step", "where the learning rate changes", "where the gradient is missing"

APART = (parameters_are_independent, splitting, resuming)
"""The checks that what parameters share breaks."""


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may become of the state of a subject."""
    if not isinstance(subject, RuleSubject):
        run = {"finding": "reset", "what": ["its state"], "when": EACH_STEP}
        anew = Alteration(feed=lambda wrapper, fed, parameters, state: wrapper.feed(fed, parameters, None))
        yield Mistake(run=run, alteration=anew, breaks=(resuming,))
        if subject.joint:
            run = {"finding": "shared", "what": "norm", "whose": "each half of the list of gradients"}
            yield Mistake(run=run, alteration=Alteration(feed=_in_halves, by_place=True))
        return
    slots = subject.declaration.slots
    for chosen in dict.fromkeys([slots, *((slot,) for slot in slots)]) if slots else ():
        for when in (EACH_STEP, NEW_RATE, MISSING):
            for counts in (False, True):
                run = {"finding": "reset", "what": [*chosen, *["the step count"] * counts], "when": when}
                reset = Alteration(step=partial(_reset, chosen, when, counts))
                yield Mistake(run=run, alteration=reset, breaks=(resuming,))
    if slots and (weights := decays_of(subject)):
        begun = Alteration(update=partial(_begun, dict.fromkeys(weights, 0.0)))
        yield Mistake(run={"finding": "begun", "what": "its averages"}, alteration=begun)
    if slots:
        run = {"finding": "shared", "what": "state", "whose": "all parameters of one shape"}
        for counts in (True, False):
            yield _joint(run, partial(_shared, counts))
    hyper, _ = documented_defaults(subject)
    for number in number_slots(cast(Rule, subject.of(hyper))):
        run = {"finding": "shared", "what": number, "whose": "all parameters"}
        yield _joint(run, partial(_one_number, number))
    if not subject.elementwise and not subject.shaped:
        run = {"finding": "shared", "what": "norm", "whose": "all parameters"}
        yield Mistake(run=run, fed=as_one, breaks=APART)
    yield _joint({"finding": "count", "how": "the updates of all parameters in turn"}, _in_turn)
    last = {"finding": "count", "how": "for all what the last parameter with a gradient has counted"}
    yield _joint(last, _of_the_last)
    run = {"finding": "count", "how": "every update as the first"}
    yield Mistake(run=run, alteration=Alteration(update=_as_the_first))
    for workers in SHARED_OUT:
        run = {"finding": "count", "how": f"every {workers} updates as one"}
        yield Mistake(run=run, alteration=Alteration(update=partial(_shared_out, workers)))


def _joint(run: Mapping[str, Any], step: Stepping) -> Mistake:
    """Make a mistake of a step in which parameters depend on each other."""
    return Mistake(run=run, alteration=Alteration(step=step, by_place=True), breaks=APART)


def as_one(case: Case) -> Case:
    """Return a case with its parameters joined into one; the case itself where some are updated and others are not."""
    groups = [group for _, group in groups_of(case, elementwise=True)]
    return joined(case, groups) if len(groups) == 1 else case


def _one_by_one(grads: Sequence[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the number of each parameter, and the gradients of a step with its own alone."""
    for i, grad in enumerate(grads):
        yield i, [grad if i == j else None for j in range(len(grads))]


def _reset(
    slots: Sequence[str],
    when: str,
    counts: bool,
    training: AlteredTraining,
    plain: Step,
    grads: Sequence[Any],
    lr: Any,
) -> list[Any]:
    """Start slots anew, perhaps with the count of updates, in some steps; then do the step."""
    rate = float(getattr(lr, "value", lr))
    new_rate = rate != training.memory.get("rate")
    training.memory["rate"] = rate
    for i, grad in enumerate(grads):
        if {EACH_STEP: True, NEW_RATE: new_rate, MISSING: grad is None}[when]:
            start = training.rule.initial_state(training.parameters[i])
            training.states[i] = State(**{n: start[n] if n in slots else x for n, x in training.states[i].items()})
            training.updates[i] = 0 if counts else training.updates[i]
    return plain(grads, lr)


def _begun(
    without: Mapping[str, float], rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int
) -> tuple[Any, State]:
    """Take the first gradient for what averages are of until then: no decay weighs the first update."""
    return (rule.with_values(without) if t == 1 else rule).update(param, grad, state, lr, t)


def begun_ahead(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield averages that are of the first gradient before the first update, which does all that it does from zeros.

    Where corrections, or whatever else asks for the step, do not follow, that is no beginning as `mistakes` has it.
    """
    counts = isinstance(subject, RuleSubject) and subject.declaration.slots and uses_step(subject.declaration)
    if counts and (weights := decays_of(subject)):
        run = {"finding": "begun", "what": "its averages, ahead of the first update,"}
        yield Mistake(run=run, alteration=Alteration(update=partial(_begun_before, dict.fromkeys(weights, 0.0))))


def _begun_before(
    without: Mapping[str, float], rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int
) -> tuple[Any, State]:
    """Do the first update on averages that are of its gradient already."""
    begun = rule.with_values(without).update(param, grad, state, lr, t)[1] if t == 1 else state
    return rule.update(param, grad, begun, lr, t)


def _shared(counts: bool, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Hold one state for all parameters of one shape, perhaps with one count: each has what the one before left."""
    first: dict[Any, int] = {}
    for i, alone in _one_by_one(grads):
        owner = first.setdefault(training.parameters[i].shape, i)
        training.states[i] = training.states[owner]
        if counts:
            training.updates[i] = training.updates[owner]
        plain(alone, lr)
        training.states[owner] = training.states[i]
        if counts:
            training.updates[owner] = training.updates[i]
    return list(training.parameters)


def _one_number(slot: str, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Hold a number of the optimizer, which every update changes, where each parameter has one."""
    for i, alone in _one_by_one(grads):
        kept = training.states[i]
        training.states[i] = State(**{**kept, slot: training.memory.get(slot, kept[slot])})
        plain(alone, lr)
        training.memory[slot] = training.states[i][slot]
    return list(training.parameters)


def _in_turn(training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Count the updates of all parameters together."""
    for i, alone in _one_by_one(grads):
        training.updates = [training.updates[0]] * len(grads)
        plain(alone, lr)
        training.updates = [training.updates[i]] * len(grads)
    return list(training.parameters)


def _of_the_last(training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Advance the count of the last parameter that has a gradient, and take it for all of them."""
    own = list(training.updates)
    last = with_gradients(grads)[-1:]
    training.updates = [own[i] for i in last] * len(grads) or own
    after = plain(grads, lr)
    training.updates = [count + (i in last) for i, count in enumerate(own)]
    return after


def _as_the_first(rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Never advance the count of updates."""
    return rule.update(param, grad, state, lr, 1)


def _shared_out(workers: int, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Count several updates as one, as workers do that take turns and count apart."""
    return rule.update(param, grad, state, lr, (t - 1) // workers + 1)


def _in_halves(wrapper: Wrapper, fed: Any, parameters: Any, state: Any) -> tuple[list[Any], Any]:
    """Take two halves of a list each for all of it, as two devices do that hold one of them."""
    half = (len(fed) + 1) // 2
    first, _ = wrapper.feed(fed[:half], parameters[:half], state)
    second, _ = wrapper.feed(fed[half:], parameters[half:], state)
    return [*first, *second], state
