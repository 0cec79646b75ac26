"""What the field puts around an optimizer, and its document does not have: clips by norm, Lookahead, caution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import Grads, computing_as, hooked
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.subjects.rules import ANY_GRADIENT
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.books.papers.adam import Adam
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, State
from optimetry.reference.rules.rmsprop import RMSProp


def _behind_first(grad: Array) -> Any:
    return tuple(range(1, grad.ndim)) or None


def _norm(grads: Sequence[Array], **over: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.sqrt(sum(np.square(grad).sum(**over) for grad in grads))


def _to_norm(limit: float, grad: Array) -> Array:
    """Scale as ``torch.nn.utils.clip_grad_norm_`` does."""
    with np.errstate(all="ignore"):
        return np.asarray(grad * np.minimum(limit / (_norm([grad]) + 1e-6), 1), grad.dtype)


def _rows_to_norm(limit: float, grad: Array) -> Array:
    with np.errstate(all="ignore"):
        norms = _norm([grad], axis=_behind_first(grad), keepdims=True)
        return np.asarray(grad / np.maximum(norms / limit, 1), grad.dtype)


def _together_to_norm(limit: float, grads: Grads) -> Grads:
    with np.errstate(all="ignore"):
        divisor = np.maximum(1, _norm([grad for grad in grads if grad is not None]) / limit)
        return [None if grad is None else np.asarray(grad / divisor, grad.dtype) for grad in grads]


def _to_unit_norm(grad: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(grad / (_norm([grad]) + grad.dtype.type(1e-8)), grad.dtype)


def centred(grad: Array) -> Array:
    """Subtract from a gradient its mean over all axes but the first."""
    with np.errstate(all="ignore"):
        return np.asarray(grad - grad.mean(axis=_behind_first(grad), keepdims=True)) if grad.ndim > 1 else grad


class Lookahead(RuleRun):
    """Every fifth step ends half way between where the parameters are and where they were five steps before."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.slow = [np.array(param) for param in parameters]
        self.steps = 0

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Step, and pull back."""
        after = super().step(grads, learning_rate)
        self.steps += 1
        if self.steps % 5 == 0:
            with np.errstate(all="ignore"):
                self.slow = [np.asarray(a + (b - a) / 2, b.dtype) for a, b in zip(self.slow, after, strict=True)]
            self.training.parameters = [working(param) for param in self.slow]
            after = [np.array(param) for param in self.slow]
        return after


class Cautious(RuleRun):
    """Adam's step is masked where the first moment has another sign than the gradient, and grows by what is left."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Let the documented rule update the state, and step with the masked moment."""
        before = list(self.training.parameters)
        super().step(grads, learning_rate)
        for i, grad in enumerate(grads):
            if grad is not None:
                self.training.parameters[i] = self._masked(before[i], grad, learning_rate, i)
        return [np.array(param) for param in self.training.parameters]

    def _masked(self, param: Any, grad: Array, lr: float, i: int) -> Any:
        rule: Any = self.training.rule
        state, t = self.training.states[i], self.training.updates[i]
        with np.errstate(all="ignore"):
            mask = working(np.asarray(state.moment1 * grad > 0).astype(grad.dtype))
            mask = mask / np.maximum(np.mean(mask), 1e-3) if mask.size else mask
            rate = lr * np.sqrt(1 - rule.beta2**t) / (1 - rule.beta1**t)
            return param - rate * (state.moment1 * mask) / (np.sqrt(state.moment2) + rule.epsilon)


class _BegunWithTheFirst(RMSProp):
    """Averages are the first gradient, or its square, until there is another."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        if t == 1:
            state = State(**{**state, "mean_square": np.square(grad), "mean_grad": grad})
        return super().update(param, grad, state, lr, t)


class _BegunAndCorrected(Adam):
    """The same of averages that are corrected as if they had begun with zeros."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        begun = State(m=grad, v=np.square(grad)) if t == 1 else state
        return super().update(param, grad, begun, lr, t)


class _WarmedUp(Adam):
    """One count of the steps in which any parameter has a gradient, for the corrections and for a warm-up."""

    step_count = ANY_GRADIENT

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        return super().update(param, grad, state, lr * min(1.0, t / 10), t)


def _none_above(limit: float, grads: Grads) -> Grads:
    """Leave out a gradient whose norm is not below a limit."""
    return [grad if grad is not None and _norm([grad]) <= limit else None for grad in grads]


def _all_or_none(limit: float, grads: Grads) -> Grads:
    """Leave out all gradients of a step whose norm together is above a limit."""
    spike = _norm([grad for grad in grads if grad is not None]) > limit
    return [None] * len(grads) if spike else grads


class _Limited(Adam):
    """The root mean square of an update is at most 1."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        m = self.beta1 * state.m + (1 - self.beta1) * grad
        v = self.beta2 * state.v + (1 - self.beta2) * np.square(grad)
        direction = m / (1 - self.beta1**t) / (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon)
        if direction.size:
            direction = direction / np.maximum(1, np.sqrt(np.mean(np.square(direction))))
        return param - lr * direction, State(m=m, v=v)


enter(
    Fault(
        name="large_gradients_left_out",
        optimizer="adam",
        defect="a parameter rests where its gradient explodes",
        start=hooked(grads=partial(_none_above, 2.0)),
        outcome="diverges: documented, but skips every update whose gradient has a norm above 2",
    ),
    Fault(
        name="large_steps_left_out",
        optimizer="momentum",
        defect="a step rests whose gradients explode, as a guard against spikes of the loss",
        start=hooked(grads=partial(_all_or_none, 5.0)),
        outcome="diverges: documented, but skips every update of a step whose gradients together have a norm above 5",
    ),
    Fault(
        name="averages_begin_with_the_first",
        optimizer="rmsprop",
        defect="averages begin with the first gradient and its square, where others correct them",
        start=computing_as(_BegunWithTheFirst),
        outcome="diverges: documented, but begins its averages with what the first gradient gives, not with zeros",
    ),
    Fault(
        name="averages_begin_with_the_first_and_are_corrected",
        optimizer="papers.adam",
        defect="moments begin with the first gradient and its square, and are corrected none the less: Kerze",
        start=computing_as(_BegunAndCorrected),
        outcome="diverges: documented, but begins its averages, ahead of the first update, with what the first "
        "gradient gives, not with zeros",
    ),
    Fault(
        name="warm_up_by_a_shared_count",
        optimizer="papers.adam",
        defect="the rate grows by the iterations of the optimizer, which also correct the moments: keras-bert's Adam",
        start=computing_as(_WarmedUp),
        outcome="diverges: step_count_shared, but multiplies the learning rate by min(1, t/10)",
    ),
    Fault(
        name="clipped_by_norm",
        optimizer="adam",
        defect="clip_grad_norm_ of each parameter alone, inside the optimizer",
        start=hooked(gradient=partial(_to_norm, 1.0)),
        outcome="diverges: documented, but scales each gradient to a norm of at most 1",
    ),
    Fault(
        name="clipped_together",
        optimizer="lamb",
        defect="max_grad_norm: all gradients are scaled to one norm before the moments",
        start=hooked(grads=partial(_together_to_norm, 1.0)),
        outcome="diverges: documented, but scales all gradients together to a norm of at most 1",
    ),
    Fault(
        name="rows_clipped_by_norm",
        optimizer="rmsprop",
        defect="rows of an embedding are clipped one by one",
        start=hooked(gradient=partial(_rows_to_norm, 0.5)),
        outcome="diverges: documented, but scales each row of a gradient to a norm of at most 0.5",
    ),
    Fault(
        name="normalized_gradients",
        optimizer="sgd",
        defect="each gradient is divided by its norm, large or small",
        start=hooked(gradient=_to_unit_norm),
        outcome="diverges: documented, but divides each gradient by the norm",
    ),
    Fault(
        name="centred_gradients",
        optimizer="momentum",
        defect="gradient centralization: the mean over all axes but the first is subtracted",
        start=hooked(gradient=centred),
        outcome="diverges: documented, but subtracts from every gradient its mean over all axes but the first",
    ),
    Fault(
        name="lookahead_around",
        optimizer="adamax",
        defect="Lookahead stands around the optimizer: slow parameters every five steps",
        start=run_as(Lookahead),
        outcome="diverges: documented, but moves parameters back to 0.5 of their way every 5 steps",
    ),
    Fault(
        name="cautious",
        optimizer="adam",
        defect="a cautious step: masked where it goes along with the gradient, and enlarged",
        start=run_as(Cautious),
        outcome="diverges: documented, but moves only the elements whose step goes against the gradient, "
        "divided by the share of these elements",
    ),
    Fault(
        name="steps_limited",
        optimizer="papers.adam",
        defect="the update is scaled to a root mean square of 1 at most, as that of Adafactor",
        start=computing_as(_Limited),
        outcome="diverges: documented, but limits each step, before the learning rate, to a root mean square of 1",
    ),
)
