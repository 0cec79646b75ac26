"""Lists what may become of a weight decay: on the other side of the moments, behind the step, of another array.

A decay that is part of a rule's formula stands in one place of it. Here the rule runs without it, and the decay is done
beside it, which says for every rule at once where and of what.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from optimetry.conformance.laws.universal import parameters_are_independent, resuming, splitting
from optimetry.conformance.naming.alterations import Alteration, AlteredTraining, Step
from optimetry.conformance.naming.mistakes import Mistake
from optimetry.conformance.subjects.subject import DECAY_STRENGTHS, Subject
from optimetry.reference.rule import State

COUPLED = "as part of the gradient"
DECOUPLED = "apart from the gradient, times the learning rate"
ALONE = "apart from the gradient, not times the learning rate"
BEHIND = "the updated parameter, times the learning rate"
BEHIND_ALONE = "the updated parameter, not times the learning rate"


def strengths(subject: Subject) -> list[str]:
    """Return the hyperparameter of a rule that is the strength of its decay, if it has one."""
    return [x.name for x in subject.hyperparameters() if subject.has_learning_rate and x.name in DECAY_STRENGTHS]


def placed_otherwise(subject: Subject) -> Iterator[Mistake]:
    """Yield the other places of a decay, which are formulas: the search comes first, which may say it in one edit."""
    for name in strengths(subject):
        for how in (COUPLED, DECOUPLED, ALONE, BEHIND, BEHIND_ALONE):
            yield Mistake(run={"finding": "decays", "how": how}, alteration=Decayed(name, how))


def mistakes(subject: Subject, dtype: str) -> Iterator[Mistake]:
    """Yield what may become of the decay of a rule that has one."""
    for name in strengths(subject):
        previous = {"finding": "decays", "how": "the gradient before in place of the parameter"}
        yield Mistake(run=previous, alteration=OfThePrevious(name), breaks=(resuming,))
        rate = {"finding": "decays", "how": "by this learning rate, and steps by that of the first step"}
        yield Mistake(run=rate, alteration=StepsByTheFirst(name), breaks=(resuming,))
        apart = (parameters_are_independent, splitting)
        position = {"finding": "decays", "how": "the parameter's position in the list, from 1, in its place"}
        yield Mistake(run=position, alteration=OfThePosition(name), breaks=apart)
        last = {"finding": "decays", "how": "the last of several parameters alone"}
        yield Mistake(run=last, alteration=OfTheLast(name), breaks=apart)


@dataclass(frozen=True)
class Undecayed(Alteration):
    """Leaves the decay out.

    Attributes:
        name: the hyperparameter that is its strength.
    """

    name: str

    def update(self, rule: Any, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do the update with a strength of 0."""
        plain = copy.copy(rule)
        object.__setattr__(plain, self.name, 0.0)
        after: tuple[Any, State] = plain.update(param, grad, state, lr, t)
        return after

    def strength(self, rule: Any) -> Any:
        """Return the strength for what is added to a gradient, which a rule may turn round."""
        return -getattr(rule, self.name) if getattr(rule, "maximize", False) else getattr(rule, self.name)


@dataclass(frozen=True)
class Decayed(Undecayed):
    """Decays in one of the usual ways.

    Attributes:
        how: which.
    """

    how: str

    def update(self, rule: Any, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do the update without the decay, and the decay before or behind it."""
        if self.how == COUPLED:
            return super().update(rule, param, grad + self.strength(rule) * param, state, lr, t)
        after, state = super().update(rule, param, grad, state, lr, t)
        factor = getattr(rule, self.name) * (lr if self.how in (DECOUPLED, BEHIND) else 1.0)
        return after - factor * (after if self.how in (BEHIND, BEHIND_ALONE) else param), state


class OfThePrevious(Undecayed):
    """Decays by the previous gradient in place of the parameter."""

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Add the decay of each parameter's previous gradient; none at first."""
        strength, fed = self.strength(training.rule), list(grads)
        for i, grad in enumerate(grads):
            if grad is not None:
                fed[i] = grad + strength * training.memory[str(i)] if str(i) in training.memory else grad
                training.memory[str(i)] = grad
        return plain(fed, lr)


class StepsByTheFirst(Undecayed):
    """Lets a schedule of the learning rate reach the decay alone."""

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Decay apart from the gradient, then step by the first rate."""
        first = training.memory.setdefault("rate", lr)
        for i, grad in enumerate(grads):
            if grad is not None:
                param = training.parameters[i]
                training.parameters[i] = param - lr * getattr(training.rule, self.name) * param
        return plain(grads, first)


class OfThePosition(Undecayed):
    """Decays by the positions 1, 2, 3, ... in place of the parameters."""

    by_place = True

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Add the decay of each position."""
        strength = self.strength(training.rule)
        return plain([None if grad is None else grad + strength * (i + 1.0) for i, grad in enumerate(grads)], lr)


class OfTheLast(Undecayed):
    """Decays the last parameter that has a gradient, and no other."""

    by_place = True

    def step(self, training: AlteredTraining, plain: Step, grads: Any, lr: Any) -> list[Any]:
        """Decay it apart from its gradient, before the step."""
        for i in [i for i, grad in enumerate(grads) if grad is not None][-1:]:
            param = training.parameters[i]
            training.parameters[i] = param - lr * getattr(training.rule, self.name) * param
        return plain(grads, lr)
