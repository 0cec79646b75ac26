"""Deep gradient compression, over several workers: what is sent, what is kept, and what comes of it.

Gradients are small integers where sums must be exact: then every order of addition has the same bits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimetry.reference.distributed import training
from optimetry.reference.distributed.dgc_momentum import DGCMomentum, Message
from optimetry.reference.distributed.training import DGCTraining
from optimetry.reference.rule import State
from optimetry.reference.rules.momentum import Momentum
from optimetry.reference.rules.sgd import SGD
from optimetry.reference.training import Training
from tests.reference.random_programs import same_bits
from tests.reference.rejections import DETERMINISTIC, rejected

LR = 0.5
SHAPE = (2, 3)
SPARSITIES = [0.0, 0.25, 0.5, 0.75, 0.9, 0.999]


@dataclass(frozen=True)
class Case:
    """Hyperparameters, and a gradient for each step and worker: ``grads[step][worker]`` is a tuple of integers."""

    hyper: tuple[tuple[str, Any], ...]
    grads: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def workers(self) -> int:
        return len(self.grads[0])

    def arrays(self, step: int) -> list[list[Any]]:
        """The gradients of one step, for `DGCTraining.step`."""
        return [[np.array(grad, np.float64).reshape(SHAPE)] for grad in self.grads[step]]

    def but(self, **hyper: Any) -> "Case":
        return replace(self, hyper=tuple({**dict(self.hyper), **hyper}.items()))


@st.composite
def cases(draw: st.DrawFn, workers: tuple[int, ...] = (1, 2, 4)) -> Case:
    """Powers of two of workers and momenta that are dyadic, so that nothing is rounded."""
    count = draw(st.sampled_from(workers))
    steps = draw(st.integers(1, 7))
    numbers = st.lists(st.integers(-9, 9), min_size=6, max_size=6).map(tuple)
    hyper = {
        "momentum": draw(st.sampled_from([0.0, 0.5, 0.75])),
        "use_nesterov": draw(st.booleans()),
        "rampup_begin_step": draw(st.integers(0, 3)),
        "rampup_step": draw(st.integers(1, 4)),
        "sparsity": draw(st.lists(st.sampled_from(SPARSITIES), min_size=1, max_size=3).map(tuple)),
    }
    grads = draw(st.lists(st.lists(numbers, min_size=count, max_size=count).map(tuple), min_size=steps, max_size=steps))
    return Case(tuple(hyper.items()), tuple(grads))


def start(implementation: type[DGCMomentum], case: Case) -> DGCTraining:
    return DGCTraining(implementation(**dict(case.hyper)), [np.zeros(SHAPE)], case.workers)


def brute_force(case: Case) -> list[list[Fraction]]:
    """The parameter after each step, in rational arithmetic, from the words of page 000 and of the paper."""
    hyper = dict(case.hyper)
    mu, begin, size = Fraction(hyper["momentum"]), hyper["rampup_begin_step"], 6
    w, velocity = [Fraction(0)] * size, [Fraction(0)] * size
    u, v = ([[Fraction(0)] * size for _ in range(case.workers)] for _ in range(2))
    after = []
    for step, of_workers in enumerate(case.grads):
        applied = [Fraction(0)] * size
        if step < begin:
            mean = [Fraction(sum(column), case.workers) for column in zip(*of_workers, strict=True)]
            velocity = [mu * a + g for a, g in zip(velocity, mean, strict=True)]
            applied = [g + mu * a if hyper["use_nesterov"] else a for a, g in zip(velocity, mean, strict=True)]
        else:
            for worker, grad in enumerate(of_workers):
                for i, g in enumerate(grad):
                    u[worker][i] = mu * (u[worker][i] + g) if hyper["use_nesterov"] else mu * u[worker][i] + g
                    v[worker][i] += u[worker][i] + (g if hyper["use_nesterov"] else 0)
                entry = (step - begin) * len(hyper["sparsity"]) // hyper["rampup_step"]
                sparsity = [*hyper["sparsity"], *[0.999] * 99][entry]
                sent = sorted(range(size), key=lambda i, of=v[worker]: (-abs(of[i]), i))  # type: ignore[misc]
                for i in sent[: max(1, int(size * (1 - sparsity)))]:
                    applied[i] += v[worker][i] / case.workers
                    u[worker][i] = v[worker][i] = Fraction(0)
        w = [a - Fraction(LR) * b for a, b in zip(w, applied, strict=True)]
        after.append(w)
    return after


# The laws.


def documented_rule(implementation: type[DGCMomentum], case: Case) -> None:
    """Every step is that of the documented rule, exactly."""
    workers = start(implementation, case)
    for step, wanted in enumerate(brute_force(case)):
        (param,) = workers.step(case.arrays(step), LR)
        assert [Fraction(x) for x in param.reshape(-1)] == wanted


def conservation(implementation: type[DGCMomentum], case: Case) -> None:
    """What was sent and what is kept is, exactly, all that was accumulated; sent entries of u are zero."""
    workers = start(implementation, case)
    for step in range(len(case.grads)):
        grads, before = case.arrays(step), [states[0] for states in workers.states]
        compressed = workers.rule.sparsity_at(step) is not None
        workers.step(grads, LR)
        for worker in range(case.workers if compressed else 0):
            u, v = DGCMomentum.accumulated(workers.rule, grads[worker][0], before[worker])
            state, message = workers.states[worker][0], workers.sent[worker][0]
            assert message is not None
            sent = np.zeros(6)
            sent[message.indices] = message.values
            kept = state.v.reshape(-1)
            assert same_bits(sent + kept, v.reshape(-1) + 0.0)
            assert not np.any((sent != 0) & (kept != 0))
            assert not state.u.reshape(-1)[message.indices].any()
            assert u.shape == state.u.shape


def sums_over_the_run(implementation: type[DGCMomentum], case: Case) -> None:
    """Without momentum, all gradients of all steps were sent or are kept."""
    case = case.but(momentum=0.0, use_nesterov=False, rampup_begin_step=0)
    workers = start(implementation, case)
    sent, all_of_it = np.zeros(6), np.zeros(6)
    for step, of_workers in enumerate(case.grads):
        workers.step(case.arrays(step), LR)
        for worker, grad in enumerate(of_workers):
            message = workers.sent[worker][0]
            assert message is not None
            sent[message.indices] += message.values
            all_of_it += grad
    assert same_bits(sent + sum(state[0].v.reshape(-1) for state in workers.states) + 0.0, all_of_it + 0.0)


def sparsity_zero(implementation: type[DGCMomentum], case: Case) -> None:
    """At sparsity 0 all is sent, and factor masking leaves no momentum: the step is SGD on the mean gradient."""
    case = case.but(sparsity=(0.0,), rampup_begin_step=0, rampup_step=100, use_nesterov=False)
    workers, dense = start(implementation, case), Training(SGD(), [np.zeros(SHAPE)])
    for step in range(len(case.grads)):
        mean = sum(grads[0] for grads in case.arrays(step)) / case.workers
        assert same_bits(workers.step(case.arrays(step), LR), dense.step([mean], LR))


def dense_before_rampup(implementation: type[DGCMomentum], case: Case) -> None:
    """Before compression begins, the step is that of dense momentum on the mean gradient."""
    case = case.but(rampup_begin_step=len(case.grads))
    hyper = dict(case.hyper)
    rule = Momentum(momentum=hyper["momentum"], use_nesterov=hyper["use_nesterov"])
    workers, dense = start(implementation, case), Training(rule, [np.zeros(SHAPE)])
    for step in range(len(case.grads)):
        mean = sum(grads[0] for grads in case.arrays(step)) / case.workers
        assert same_bits(workers.step(case.arrays(step), LR), dense.step([mean], LR))
    assert not any(state[0].v.any() for state in workers.states)


def order_of_workers(implementation: type[DGCMomentum], case: Case) -> None:
    """Which worker is which does not matter."""
    workers, reversed_ = start(implementation, case), start(implementation, case)
    for step in range(len(case.grads)):
        a, b = workers.step(case.arrays(step), LR), reversed_.step(case.arrays(step)[::-1], LR)
        assert same_bits([x + 0.0 for x in a], [x + 0.0 for x in b])


def rampup(implementation: type[DGCMomentum], case: Case) -> None:
    """The page's table: 0.75 at 0~19 steps, 0.9375 at 20~39, and so on, then 0.999, whatever the last entry is."""
    begin = dict(case.hyper)["rampup_begin_step"]
    table = [0.75, 0.9375, 0.984375, 0.996, 0.9]
    rule = implementation(momentum=0.9, rampup_begin_step=begin, rampup_step=100, sparsity=table)
    wanted = [None] * begin + [entry for entry in table for _ in range(20)] + [0.999] * 50
    assert [rule.sparsity_at(step) for step in range(len(wanted))] == wanted


LAWS = [
    documented_rule,
    conservation,
    sums_over_the_run,
    sparsity_zero,
    dense_before_rampup,
    order_of_workers,
    rampup,
]


@pytest.mark.parametrize("law", LAWS)
@DETERMINISTIC
@given(cases())
def test_law(law: Callable[[type[DGCMomentum], Case], None], case: Case) -> None:
    law(DGCMomentum, case)


# Faults.


class KeepsTheLastEntry(DGCMomentum):
    """Later Paddle: after the list, its last entry."""

    def sparsity_at(self, step: int) -> float | None:
        sparsity = super().sparsity_at(step)
        since = step - self.rampup_begin_step
        return self.sparsity[-1] if since * len(self.sparsity) // self.rampup_step >= len(self.sparsity) else sparsity


class BeginsLate(DGCMomentum):
    def sparsity_at(self, step: int) -> float | None:
        return super().sparsity_at(step - 1)


class BeginsEarly(DGCMomentum):
    def sparsity_at(self, step: int) -> float | None:
        return super().sparsity_at(step + 1)


class NoFactorMasking(DGCMomentum):
    def compress(self, grad: Any, state: State, sparsity: float) -> tuple[Message, State]:
        message, after = super().compress(grad, state, sparsity)
        return message, State(velocity=after.velocity, u=self.accumulated(grad, state)[0], v=after.v)


class ForgetsTheRest(DGCMomentum):
    def compress(self, grad: Any, state: State, sparsity: float) -> tuple[Message, State]:
        message, after = super().compress(grad, state, sparsity)
        return message, State(velocity=after.velocity, u=after.u, v=np.zeros_like(after.v))


class SendsTheLargestSigned(DGCMomentum):
    def compress(self, grad: Any, state: State, sparsity: float) -> tuple[Message, State]:
        u, v = self.accumulated(grad, state)
        count = len(super().compress(grad, state, sparsity)[0].indices)
        chosen = np.sort(np.argsort(-v.reshape(-1), kind="stable")[:count]).astype(np.int32)
        for residual in (u, v):
            residual.reshape(-1)[chosen] = 0
        return Message(chosen, self.accumulated(grad, state)[1].reshape(-1)[chosen]), State(velocity=u, u=u, v=v)


class NesterovIgnored(DGCMomentum):
    def accumulated(self, grad: Any, state: State) -> tuple[Any, Any]:
        u = self.momentum * state.u + grad
        return u, state.v + u


@pytest.mark.parametrize(
    ("law", "faulty"),
    [
        (rampup, KeepsTheLastEntry),
        (rampup, BeginsLate),
        (documented_rule, KeepsTheLastEntry),
        (documented_rule, BeginsLate),
        (documented_rule, NesterovIgnored),
        (documented_rule, SendsTheLargestSigned),
        (conservation, NoFactorMasking),
        (conservation, ForgetsTheRest),
        (sums_over_the_run, ForgetsTheRest),
        (sparsity_zero, NoFactorMasking),
        (dense_before_rampup, BeginsEarly),
    ],
)
def test_a_faulty_rule_is_rejected(law: Any, faulty: type[DGCMomentum]) -> None:
    assert rejected(law, faulty, cases())


def _of_first_worker(messages: Any, like: Any) -> Any:
    return DGC_MEAN(messages[:1], like)


def _summed(messages: Any, like: Any) -> Any:
    return DGC_MEAN(messages, like) * len(messages)


DGC_MEAN = training.mean


@pytest.mark.parametrize(("law", "mean"), [(documented_rule, _summed), (order_of_workers, _of_first_worker)])
def test_a_faulty_exchange_is_rejected(law: Any, mean: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "mean", mean)
    assert rejected(law, DGCMomentum, cases(workers=(2, 4)))
