"""Targets that decay something else than the parameter, or do to a decay what is meant for a gradient alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.naming.alterations import with_gradients
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.around import centred
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.faults.mutations import DECAYS
from optimetry.conformance.selftest.faults.recipes import each_clipped
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.precision import working


class _WithoutDecay(RuleRun):
    """Runs the rule without its decay; each subclass adds another one."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        super().__init__(dataclasses.replace(rule, weight_decay=0.0), parameters)
        self.weight_decay = rule.weight_decay
        self.maximize = -1 if getattr(rule, "maximize", False) else 1

    def penalized(self, grads: Grads, whats: Sequence[Any] | None = None) -> Grads:
        """Return gradients with the decay of the parameters, or of something else."""
        of = self.training.parameters if whats is None else whats
        with np.errstate(all="ignore"):
            return [
                None if grad is None else np.asarray(grad + self.maximize * self.weight_decay * what, grad.dtype)
                for grad, what in zip(grads, map(np.array, of), strict=True)
            ]

    def decay(self, numbers: Sequence[int], learning_rate: float) -> None:
        """Decay these parameters, apart from their gradients."""
        for i in numbers:
            param = self.training.parameters[i]
            self.training.parameters[i] = param - learning_rate * self.weight_decay * param


class OfThePreviousGradient(_WithoutDecay):
    """Keeps the gradient where the weight should be kept."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.previous = [np.zeros_like(param) for param in parameters]

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Add the decay of the gradient before."""
        fed = self.penalized(grads, self.previous)
        for i in with_gradients(grads):
            self.previous[i] = np.array(grads[i])
        return super().step(fed, learning_rate)


class OfThePosition(_WithoutDecay):
    """Takes a loop's counter for the weight."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Add the decay of 1, 2, 3, ..."""
        return super().step(self.penalized(grads, range(1, len(grads) + 1)), learning_rate)


class AtTheFirstRate(_WithoutDecay):
    """Decays by the learning rate that it was made with."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.first: float | None = None

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Decay before the step."""
        self.first = learning_rate if self.first is None else self.first
        self.decay(with_gradients(grads), self.first)
        return super().step(grads, learning_rate)


class OfTheLastParameter(_WithoutDecay):
    """Decays one parameter alone: the one that a loop has left over."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Decay behind the loop."""
        self.decay(with_gradients(grads)[-1:], learning_rate)
        return super().step(grads, learning_rate)


class Centred(_WithoutDecay):
    """Subtracts the mean of a gradient that has the decay in it."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Add, subtract, and step."""
        return super().step([None if x is None else centred(x) for x in self.penalized(grads)], learning_rate)


class EachClipped(_WithoutDecay):
    """Scales each gradient that has the decay in it to a norm of at most 1."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Add, scale, and step."""
        return super().step(each_clipped(self.penalized(grads)), learning_rate)


class ElementsClipped(_WithoutDecay):
    """Clips the elements of a gradient that has the decay in it."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Add, clip, and step."""
        limited = [None if x is None else np.minimum(np.maximum(x, -1), 1) for x in self.penalized(grads)]
        return super().step(limited, learning_rate)


class OnlyAlong(_WithoutDecay):
    """Moves the elements alone whose step goes against the gradient with the decay."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Step, and take back what does not."""
        before, fed = list(self.training.parameters), self.penalized(grads)
        super().step(fed, learning_rate)
        for i in with_gradients(fed):
            old, new, grad = before[i], self.training.parameters[i], working(np.asarray(fed[i]))
            with np.errstate(all="ignore"):
                self.training.parameters[i] = np.where((old - new) * grad > 0, new, old)
        return [np.array(param) for param in self.training.parameters]


class OfTheSigns(_WithoutDecay):
    """Decays by the signs of the parameters: the subgradient of an L1 penalty."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Add the decay of the signs."""
        signs = [np.sign(np.array(param)) for param in self.training.parameters]
        return super().step(self.penalized(grads, signs), learning_rate)


class OfTheWay(_WithoutDecay):
    """Decays toward the first parameters, as in L2-SP, which keeps a model near the one that it was made of."""

    def __init__(self, rule: Any, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.first = list(self.training.parameters)

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Decay before the step."""
        for i in with_gradients(grads):
            param = self.training.parameters[i]
            self.training.parameters[i] = param - learning_rate * self.weight_decay * (param - self.first[i])
        return super().step(grads, learning_rate)


enter(
    Fault(
        name="centred_with_the_decay",
        optimizer="torch.sgd",
        defect="gradients are centred once the penalty is in them, as in SGD_GC of gradient centralization",
        start=run_as(Centred),
        outcome="diverges: documented, but subtracts from every gradient its mean over all axes but the first, the"
        " decay included",
    ),
    Fault(
        name="clipped_with_the_decay",
        optimizer="torch.rmsprop",
        defect="each gradient is clipped once the penalty is in it",
        start=run_as(EachClipped),
        outcome="diverges: documented, but scales each gradient, the decay included, to a norm of at most 1",
    ),
    Fault(
        name="elements_clipped_with_the_decay",
        optimizer="torch.sgd",
        defect="clipvalue acts on the gradient with the penalty",
        start=run_as(ElementsClipped),
        outcome="diverges: documented, but clips every gradient element to ±1, the decay included",
    ),
    Fault(
        name="cautious_with_the_decay",
        optimizer="torch.adagrad",
        defect="the step is masked where it goes along the gradient with the penalty",
        start=run_as(OnlyAlong),
        outcome="diverges: documented, but moves only the elements whose step goes against the gradient, the decay"
        " included",
    ),
    Fault(
        name="decay_of_the_signs",
        optimizer="torch.adamax",
        defect="an L1 penalty in the place of an L2 penalty",
        start=run_as(OfTheSigns),
        outcome=DECAYS.format("as part of the gradient, by the sign of the parameter alone"),
    ),
    Fault(
        name="decay_of_the_way",
        optimizer="torch.adamw",
        defect="the decay is toward the parameters that the run began with",
        start=run_as(OfTheWay),
        outcome=DECAYS.format("apart from the gradient, times the learning rate, by its way from the first parameter"),
    ),
    Fault(
        name="decay_of_the_gradient_before",
        optimizer="torch.rmsprop",
        defect="the decay is of the gradient before, as in burn",
        start=run_as(OfThePreviousGradient),
        outcome=DECAYS.format("the gradient before in place of the parameter"),
    ),
    Fault(
        name="decay_at_the_first_rate",
        optimizer="torch.adamw",
        defect="the decay is by the initial learning rate, and no schedule reaches it",
        start=run_as(AtTheFirstRate),
        outcome=DECAYS.format("by the learning rate of the first step"),
    ),
    Fault(
        name="decay_of_the_position",
        optimizer="torch.adagrad",
        defect="a loop's counter is decayed, as in torch for R",
        start=run_as(OfThePosition),
        outcome=DECAYS.format("the parameter's position in the list, from 1, in its place"),
    ),
    Fault(
        name="decay_of_the_last_alone",
        optimizer="torch.nadam",
        defect="the decay stands behind the loop over parameters, as in Ranger21",
        start=run_as(OfTheLastParameter),
        outcome=DECAYS.format("the last of several parameters alone"),
    ),
)
