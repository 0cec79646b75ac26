"""Steps that are not the rule's own: of several gradients, clipped, scaled or extrapolated, or beside a decay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Start, enter
from optimetry.conformance.selftest.faults.hooks import Grads, changed, computing_as
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.books.papers.adam import Adam
from optimetry.reference.books.papers.lion import Lion
from optimetry.reference.norms import norm, rms
from optimetry.reference.rule import Rule, State
from optimetry.reference.rules.adadelta import Adadelta
from optimetry.reference.rules.adagrad import Adagrad
from optimetry.reference.rules.adamax import Adamax
from optimetry.reference.rules.decayed_adagrad import DecayedAdagrad
from optimetry.reference.rules.momentum import Momentum
from optimetry.reference.rules.sgd import SGD

SCALES = "diverges: documented, but multiplies each step, before the learning rate, by "
DECAYS = "diverges: documented, but decays by {}, unasked, {}"


class MeanOfThree(RuleRun):
    """Updates in every third step, as optax.MultiSteps does, with a running mean of the gradients."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.steps = 0
        self.means: Grads = [None] * len(parameters)

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Take gradients, and perhaps step."""
        self.steps += 1
        with np.errstate(all="ignore"):
            for i, grad in enumerate(grads):
                if grad is not None:
                    third, kept = (grad / grad.dtype.type(3)), self.means[i]
                    self.means[i] = np.asarray(third if kept is None else kept + third)
        if self.steps % 3:
            return super().step([None] * len(grads), learning_rate)
        taken, self.means = self.means, [None] * len(grads)
        return super().step(taken, learning_rate)


class SumOfTwo(RuleRun):
    """Updates each parameter with the sum of two of its gradients, which nobody cleared in between."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.kept: Grads = [None] * len(parameters)

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Keep a gradient, or step with it and the one kept."""
        fed: Grads = [None] * len(grads)
        with np.errstate(all="ignore"):
            for i, grad in enumerate(grads):
                kept = self.kept[i]
                if grad is not None:
                    fed[i] = None if kept is None else np.asarray(kept + grad)
                    self.kept[i] = grad.copy() if kept is None else None
        return super().step(fed, learning_rate)


class _Optimistic(Adamax):
    """Adds the difference of the last two steps."""

    slots = ("moment", "inf_norm", "last")  # type: ignore[assignment]

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        moment = self.beta1 * state.moment + (1 - self.beta1) * grad
        inf_norm = np.maximum(self.beta2 * state.inf_norm + self.epsilon, np.abs(grad))
        direction = moment / inf_norm / (1 - self.beta1**t)
        after = param - lr * (direction + (direction - state.last))
        return after, State(moment=moment, inf_norm=inf_norm, last=direction)


class _Clipped(DecayedAdagrad):
    """No element moves by more than the learning rate."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        moment = self.decay * state.moment + (1 - self.decay) * np.square(grad)
        direction = grad / (np.sqrt(moment) + self.epsilon)
        return param - lr * np.maximum(np.minimum(direction, 1.0), -1.0), State(moment=moment)


class _AsLong(Adadelta):
    """The step is as long as the parameter, as in LARS, times the learning rate."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        step, after = -super().update(param * 0.0, grad, state, 1.0, t)[0], super().update(param, grad, state, lr, t)
        trusted = (norm(param) > 0) & (norm(step) > 0)
        return param - lr * np.where(trusted, norm(param) / norm(step), 1.0) * step, after[1]


class _AtMostOne(Adam):
    """The norm of a step is at most the learning rate."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        step, new = super().update(param * 0.0, grad, state, 1.0, t)
        return param + lr * step / np.maximum(1.0, norm(step)), new


class _OfNormOne(Momentum):
    """The norm of a step is the learning rate."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        step, new = super().update(param * 0.0, grad, state, 1.0, t)
        return param + lr * step / (norm(step) + 1e-8), new


def _given(kind: Any, inputs: Callable[[Any, Any, Any], tuple[Any, Any, Any]]) -> Start:
    """Begin runs of a rule whose updates are given other inputs: parameter, gradient and learning rate."""
    return computing_as(changed(kind, lambda param, grad, lr, t: inputs(param, grad, lr)))


def _size(param: Any) -> Any:
    """The root mean square of a parameter, 1 where it has no elements."""
    return rms(param) if param.size else 1.0


class _Confined(DecayedAdagrad):
    """Parameters are clipped behind the step."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        after, new = super().update(param, grad, state, lr, t)
        return np.maximum(np.minimum(after, 0.1), -0.1), new


class _Velocity(SGD):
    """Has the momentum of the framework's own default."""

    slots = ("velocity",)

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        velocity = 0.9 * state.velocity + grad
        return param - lr * velocity, State(velocity=velocity)


class _Average(DecayedAdagrad):
    """Takes the corrected average of the gradients so far, as Adam does, for each."""

    slots = ("moment", "average")  # type: ignore[assignment]

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        average = 0.8 * state.average + (1 - 0.8) * grad
        after, new = super().update(param, average / (1 - 0.8**t), State(moment=state.moment), lr, t)
        return after, State(moment=new.moment, average=average)


class _DecaysTowardZero(Lion):
    """Decays where the step goes toward 0, as cautious weight decay does."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        sign = np.sign(self.beta1 * state.m + (1 - self.beta1) * grad)
        m = self.beta2 * state.m + (1 - self.beta2) * grad
        return param - lr * (sign + np.where(sign * param > 0, self.weight_decay * param, 0.0)), State(m=m)


enter(
    Fault(
        name="mean_of_three_gradients",
        optimizer="adam",
        defect="gradients are accumulated over three steps, which a wrapper around the optimizer does as well",
        start=run_as(MeanOfThree),
        outcome="diverges: documented, but updates every 3 steps, by the mean of their gradients",
    ),
    Fault(
        name="sum_of_two_gradients",
        optimizer="ftrl",
        defect="gradients are cleared in every other step",
        start=run_as(SumOfTwo),
        outcome="diverges: documented, but updates every 2 steps, by the sum of their gradients",
    ),
    Fault(
        name="optimistic",
        optimizer="adamax",
        defect="an optimistic step, for games of two networks: twice this one less the last",
        start=computing_as(_Optimistic),
        outcome="diverges: documented, but steps twice as far as it should, and takes the step before back",
    ),
    Fault(
        name="steps_clipped",
        optimizer="decayed_adagrad",
        defect="an element moves by no more than the learning rate",
        start=computing_as(_Clipped),
        outcome="diverges: documented, but clips every element of a step, before the learning rate, to ±1",
    ),
    Fault(
        name="steps_relative_to_the_parameter",
        optimizer="adagrad",
        defect="scale_parameter of Adafactor around another rule",
        start=_given(Adagrad, lambda param, grad, lr: (param, grad, lr * np.maximum(_size(param), 1e-3))),
        outcome=f"{SCALES}the root mean square of the parameter, at least 0.001",
    ),
    Fault(
        name="steps_as_long_as_the_parameter",
        optimizer="adadelta",
        defect="the ratio of LARS around another rule",
        start=computing_as(_AsLong),
        outcome=f"{SCALES}the norm of the parameter over its own",
    ),
    Fault(
        name="steps_of_norm_one_at_most",
        optimizer="adam",
        defect="a trust region: the norm of a step is limited, beside an epsilon behind the correction",
        start=computing_as(_AtMostOne),
        outcome="diverges: scaled_epsilon, but limits each step, before the learning rate, to a norm of 1",
    ),
    Fault(
        name="steps_of_norm_one",
        optimizer="momentum",
        defect="normalized momentum: every step is as long as the learning rate says",
        start=computing_as(_OfNormOne),
        outcome="diverges: documented, but divides each step, before the learning rate, by the norm",
    ),
    Fault(
        name="decays_gradients_unasked",
        optimizer="momentum",
        defect="a default weight decay of 5e-4, which the document does not have",
        start=_given(Momentum, lambda param, grad, lr: (param, grad + 5e-4 * param, lr)),
        outcome=DECAYS.format("0.0005", "as part of the gradient"),
    ),
    Fault(
        name="penalty_of_absolute_values",
        optimizer="adadelta",
        defect="a default penalty of the sum of absolute values, 0.001, in the gradient",
        start=_given(Adadelta, lambda param, grad, lr: (param, grad + 1e-3 * np.sign(param), lr)),
        outcome=DECAYS.format("0.001", "as part of the gradient, by the sign of the parameter alone"),
    ),
    Fault(
        name="gradients_divided_by_the_batch",
        optimizer="adam",
        defect="gradients are divided by a batch size of 32 once more; only epsilon shows it",
        start=_given(Adam, lambda param, grad, lr: (param, grad / 32, lr)),
        outcome="diverges: scaled_epsilon with gradients times 0.03125",
    ),
    Fault(
        name="velocity_unasked",
        optimizer="sgd",
        defect="a default momentum of 0.9, which the document does not have",
        start=computing_as(_Velocity),
        outcome="diverges: documented, but takes v for each gradient g, v = 0.9*v + g",
    ),
    Fault(
        name="average_unasked",
        optimizer="decayed_adagrad",
        defect="gradients are averaged first, and the average is corrected",
        start=computing_as(_Average),
        outcome="diverges: documented, but takes v/(1 - 0.8**t) for each gradient g, v = 0.8*v + (1 - 0.8)*g",
    ),
    Fault(
        name="parameters_confined",
        optimizer="decayed_adagrad",
        defect="parameters are clipped to 0.1, as those of a critic",
        start=computing_as(_Confined),
        outcome="diverges: documented, but clips every element of a parameter to ±0.1",
    ),
    Fault(
        name="rate_relative_to_the_parameter",
        optimizer="papers.lion",
        defect="the learning rate is relative to the parameter, also that of the decay",
        start=_given(Lion, lambda param, grad, lr: (param, grad, lr * _size(param))),
        outcome="diverges: documented, but multiplies the learning rate by the root mean square of the parameter",
    ),
    Fault(
        name="decays_toward_zero",
        optimizer="papers.lion",
        defect="cautious weight decay: where the step goes toward 0 alone",
        start=computing_as(_DecaysTowardZero),
        outcome="diverges: documented, but decays only the elements whose step goes toward 0, times the learning rate",
    ),
    Fault(
        name="decays_by_the_rate_unasked",
        optimizer="adamax",
        defect="a default weight decay of 0.01, apart from the gradient",
        start=_given(Adamax, lambda param, grad, lr: (param * (1 - lr * 0.01), grad, lr)),
        outcome=DECAYS.format("0.01", "apart from the gradient, times the learning rate"),
    ),
    Fault(
        name="shrinks_parameters_unasked",
        optimizer="adamax",
        defect="parameters shrink by a constant factor",
        start=_given(Adamax, lambda param, grad, lr: (param * (1 - 0.002), grad, lr)),
        outcome=DECAYS.format("0.002", "apart from the gradient, not times the learning rate"),
    ),
)
