"""Lists what may become of a weight decay: on the other side of the moments, behind the step, of another array.

A decay that is part of a rule's formula stands in one place of it. Here the rule runs without it, and the decay is done
beside it, which says for every rule at once where and of what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.laws.universal import parameters_are_independent, reshaping, resuming, splitting
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step, step_of, with_gradients
from optimetry.conformance.naming.coupling import strength_of
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.subjects.subject import DECAY_STRENGTHS, Subject
from optimetry.conformance.targets.offers import MADE_AT
from optimetry.reference.rule import Rule, State

COUPLED = "as part of the gradient"
DECOUPLED = "apart from the gradient, times the learning rate"
ALONE = "apart from the gradient, not times the learning rate"
BEHIND = "the updated parameter, times the learning rate"
BEHIND_ALONE = "the updated parameter, not times the learning rate"
ASCENDING = "as part of the gradient before maximize turns that round"

BY_SIGN, BY_WAY = "by the sign of the parameter alone", "by its way from the first parameter"
SIGNS = f"{COUPLED}, {BY_SIGN}"
TOWARD_0 = "only the elements whose step goes toward 0, times the learning rate"
PLACES = (COUPLED, DECOUPLED, ALONE, BEHIND, BEHIND_ALONE)
"""Where a decay may be done in an update."""

UNASKED = (COUPLED, DECOUPLED, ALONE, SIGNS)
"""How a rule that has no decay may have one: behind the step it is almost as before it."""


def strengths(subject: Subject) -> list[str]:
    """Return the hyperparameter of a rule that is the strength of its decay, if it has one."""
    return [x.name for x in subject.hyperparameters() if subject.has_learning_rate and x.name in DECAY_STRENGTHS]


def placed_otherwise(subject: Subject) -> Iterator[Mistake]:
    """Yield the other places of a decay, which are formulas: the search comes first, which may say it in one edit."""
    for name in strengths(subject):
        for how in (*PLACES, TOWARD_0):
            yield Mistake(
                run={"finding": "decays", "how": how}, alteration=Alteration(update=partial(_placed, name, how))
            )


def unasked(how: str, strength: float) -> Mistake:
    """Return the decay of a rule that has none, one of `UNASKED`."""
    run = {"finding": "decays", "how": f"by {strength:g}, unasked, {how}"}
    return Mistake(run=run, alteration=Alteration(update=partial(_decaying, strength, how)))


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may become of the decay of a rule that has one."""
    for name in strengths(subject):
        for how, step, by_place in (
            ("the gradient before in place of the parameter", _of_the_previous, False),
            ("by this learning rate, and steps by that of the first step", _stepping_by_the_first, False),
            ("by the learning rate of the first step", _by_the_first, False),
            ("by the ratio of the learning rate to that of the constructor", _by_the_ratio, False),
            ("the parameter's position in the list, from 1, in its place", partial(_of_another, COUPLED, _place), True),
            ("the last of several parameters alone", _of_the_last, True),
        ):
            alteration = Alteration(update=partial(_undecayed, name), step=partial(step, name), by_place=by_place)
            breaks = (parameters_are_independent, splitting) if by_place else (resuming,)
            yield Mistake(run={"finding": "decays", "how": how}, alteration=alteration, breaks=breaks)
        matrices = Alteration(update=partial(_of_matrices, name), by_place=True)
        run = {"finding": "decays", "how": "only tensors of two or more dimensions"}
        yield Mistake(run=run, alteration=matrices, breaks=(reshaping, splitting))
        for of_what, other in ((BY_SIGN, _sign), (BY_WAY, _way)):
            for how in (COUPLED, DECOUPLED):
                alteration = Alteration(update=partial(_undecayed, name), step=partial(_of_another, how, other, name))
                run = {"finding": "decays", "how": f"{how}, {of_what}"}
                yield Mistake(run=run, alteration=alteration, breaks=(resuming,) if other is _way else ())
        if any(x.name == "maximize" for x in subject.hyperparameters()):
            yield Mistake(
                run={"finding": "decays", "how": ASCENDING}, alteration=Alteration(update=partial(_ascending, name))
            )


def _undecayed(name: str, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Do the update with a strength of 0: ``name`` is the hyperparameter that is the strength, here and below."""
    return rule.with_values({name: 0.0}).update(param, grad, state, lr, t)


def _placed(name: str, how: str, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Do the update without the decay, and the decay before or behind it, in one of the usual ways."""
    undecayed = rule.with_values({name: 0.0})
    return _decaying(_strength_as(how, rule, name), how, undecayed, param, grad, state, lr, t)


def _of_matrices(name: str, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Do the update, of biases and gains without the decay."""
    chosen = rule if len(param.shape) > 1 else rule.with_values({name: 0.0})
    return chosen.update(param, grad, state, lr, t)


def _strength_as(how: str, rule: Rule, name: str) -> Any:
    """Return the strength of a decay, for one in the gradient or apart from it."""
    return strength_of(rule, name) if how == COUPLED else getattr(rule, name)


def _decaying(
    strength: Any, how: str, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int
) -> tuple[Any, State]:
    """Do an update, and a decay before or behind it, in one of the usual ways."""
    if how == COUPLED:
        return rule.update(param, grad + strength * param, state, lr, t)
    if how == SIGNS:
        return rule.update(param, grad + strength * np.sign(param), state, lr, t)
    after, new = rule.update(param, grad, state, lr, t)
    factor = strength * (1.0 if how in (ALONE, BEHIND_ALONE) else lr)
    decayed = after if how in (BEHIND, BEHIND_ALONE) else param
    if how == TOWARD_0:
        decayed = np.where(step_of(rule, param, grad, state, lr, t) * param > 0, param, 0.0)
    return after - factor * decayed, new


def _ascending(name: str, rule: Rule, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
    """Add the decay to the gradient as it is given, so that to maximize is to climb the penalty, too."""
    return _undecayed(name, rule, param, grad + getattr(rule, name) * param, state, lr, t)


def _of_the_previous(name: str, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Add the decay of each parameter's previous gradient; none at first."""
    strength, fed = strength_of(training.rule, name), list(grads)
    for i in with_gradients(grads):
        if i in training.memory:
            fed[i] = grads[i] + strength * training.memory[i]
        training.memory[i] = grads[i]
    return plain(fed, lr)


def _stepping_by_the_first(
    name: str, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any
) -> list[Any]:
    """Decay apart from the gradient, then step by the first rate: a schedule reaches the decay alone."""
    _decay(name, training, with_gradients(grads), lr)
    return plain(grads, training.memory.setdefault("rate", lr))


def _by_the_first(name: str, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Decay apart from the gradient by the first rate, which a schedule does not reach; step by this one."""
    _decay(name, training, with_gradients(grads), training.memory.setdefault("rate", lr))
    return plain(grads, lr)


def _by_the_ratio(name: str, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Decay apart from the gradient by the part of the first rate that is left: by the strength itself at first."""
    _decay(name, training, with_gradients(grads), lr / MADE_AT)
    return plain(grads, lr)


def _of_another(
    how: str,
    other: Callable[[AlteredTraining, int], Any],
    name: str,
    training: AlteredTraining,
    plain: Step,
    grads: Sequence[Any],
    lr: Any,
) -> list[Any]:
    """Add the decay of something else than the parameters to the gradients, or decay by it apart from them."""
    strength, fed = _strength_as(how, training.rule, name), list(grads)
    for i in with_gradients(grads):
        lost = strength * other(training, i)
        if how == COUPLED:
            fed[i] = grads[i] + lost
        else:
            training.parameters[i] = training.parameters[i] - lr * lost
    return plain(fed, lr)


def _place(training: AlteredTraining, i: int) -> Any:
    """Return the position of a parameter, from 1: a loop's counter."""
    return i + 1.0


def _sign(training: AlteredTraining, i: int) -> Any:
    """Return the sign of a parameter: its decay is the subgradient of an L1 penalty."""
    return np.sign(training.parameters[i])


def _way(training: AlteredTraining, i: int) -> Any:
    """Return how far a parameter is from the first one, toward which it decays, as in L2-SP."""
    first = training.memory.setdefault("first", list(training.parameters))
    return training.parameters[i] - first[i]


def _of_the_last(name: str, training: AlteredTraining, plain: Step, grads: Sequence[Any], lr: Any) -> list[Any]:
    """Decay the last parameter that has a gradient apart from it, and no other."""
    _decay(name, training, with_gradients(grads)[-1:], lr)
    return plain(grads, lr)


def _decay(name: str, training: AlteredTraining, numbers: Sequence[int], lr: Any) -> None:
    """Decay these parameters, before the step."""
    for i in numbers:
        param = training.parameters[i]
        training.parameters[i] = param - lr * getattr(training.rule, name) * param
