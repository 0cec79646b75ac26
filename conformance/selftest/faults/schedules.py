"""Optimizers with a schedule of their own, which multiplies the learning rate that they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.conformance.selftest.faults.fault import Fault, Start, enter
from optimetry.conformance.selftest.faults.hooks import computing_as, hooked
from optimetry.reference.books.papers.adam import Adam
from optimetry.reference.rule import State

MULTIPLIES = "diverges: {}, but multiplies the learning rate by {}"


def _by_step(factor: Callable[[int], float]) -> Start:
    """Begin runs whose learning rate is multiplied by a factor of the number of the step."""
    return hooked(rate=lambda rates: rates[-1] * factor(len(rates)))


class _OverTheRoot(Adam):
    """The learning rate of the convergence proof: divided by the root of the number of updates."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        return super().update(param, grad, state, lr / np.sqrt(t), t)


def _cosine(step: int) -> float:
    return 0.5 + 0.5 * float(np.cos(np.pi * min((step - 1) / 200, 1)))


def _in_half_a_wave(start: float, step: int, end: float) -> float:
    """Return the part of the rate that is left between two steps, of half a wave of a cosine."""
    return 0.5 + 0.5 * float(np.cos(np.pi * (step - start) / (end - start)))


enter(
    Fault(
        name="warm_up_inside",
        optimizer="papers.lion",
        defect="a warm-up of ten steps, also behind a scheduler that has one",
        start=_by_step(lambda step: min(1.0, step / 10)),
        outcome=MULTIPLIES.format("documented", "min(1, t/10), where t counts every step"),
    ),
    Fault(
        name="warm_up_from_zero",
        optimizer="papers.adamw",
        defect="a warm-up that counts from 0, so that the first step is none",
        start=_by_step(lambda step: min(step - 1, 8) / 8),
        outcome=MULTIPLIES.format("documented", "min(1, (t - 1)/8), where t counts every step"),
    ),
    Fault(
        name="rate_decays_with_time",
        optimizer="adagrad",
        defect="decay=0.01 of the first Keras is a default",
        start=_by_step(lambda step: 1 / (1 + 0.01 * (step - 1))),
        outcome=MULTIPLIES.format("documented", "1/(1 + 0.01*(t - 1)), where t counts every step"),
    ),
    Fault(
        name="rate_decays_exponentially",
        optimizer="rmsprop",
        defect="the rate is multiplied in place behind every step, and never set back",
        start=_by_step(lambda step: 0.95 ** (step - 1)),
        outcome=MULTIPLIES.format("documented", "0.95**(t - 1), where t counts every step"),
    ),
    Fault(
        name="rate_decays_linearly",
        optimizer="torch.sgd",
        defect="the rate falls to 0 in a thousand steps, which nobody set",
        start=_by_step(lambda step: max(0.0, 1 - step / 1000)),
        outcome=MULTIPLIES.format("documented", "max(0, 1 - t/1000), where t counts every step"),
    ),
    Fault(
        name="rate_falls_by_a_cosine",
        optimizer="decayed_adagrad",
        defect="a cosine schedule over 200 steps is a default",
        start=_by_step(_cosine),
        outcome=MULTIPLIES.format("documented", "(1 + cos(pi*min(1, (t - 1)/200)))/2, where t counts every step"),
    ),
    Fault(
        name="rate_over_the_root",
        optimizer="adam",
        defect="the rate of the paper's proof, beside an epsilon behind the correction",
        start=computing_as(_OverTheRoot),
        outcome=MULTIPLIES.format("scaled_epsilon", "t**-0.5"),
    ),
    Fault(
        name="warm_up_before_a_cosine",
        optimizer="papers.adamw",
        defect="a warm-up of four steps, which half a cosine of forty follows: a recipe of vision transformers",
        start=_by_step(lambda step: step / 4 if step <= 4 else _in_half_a_wave(4, min(step, 44), 44)),
        outcome=MULTIPLIES.format(
            "documented", "t/4 while t <= 4, then (1 + cos(pi*min(1, (t - 4)/40)))/2, where t counts every step"
        ),
    ),
    Fault(
        name="warm_up_before_a_line",
        optimizer="momentum",
        defect="warm-up and linear decay count from 0, as in recipes for BERT",
        start=_by_step(lambda step: (step - 1) / 3 if step <= 4 else max(0.0, 1 - (step - 4) / 97)),
        outcome=MULTIPLIES.format(
            "documented", "(t - 1)/3 while t <= 4, then max(0, 1 - (t - 4)/97), where t counts every step"
        ),
    ),
    Fault(
        name="warm_up_before_a_root",
        optimizer="adamax",
        defect="the schedule of the first Transformer, but for the width of its model",
        start=_by_step(lambda step: min(step**-0.5, step * 5**-1.5)),
        outcome=MULTIPLIES.format("documented", "min(t**-0.5, t*5**-1.5), where t counts every step"),
    ),
    Fault(
        name="rate_falls_to_a_tenth",
        optimizer="papers.lion",
        defect="a cosine that ends at a tenth of the rate",
        start=_by_step(lambda step: 0.1 + 0.9 * _in_half_a_wave(1, min(step, 31), 31)),
        outcome=MULTIPLIES.format(
            "documented", "0.1 + 0.9*(1 + cos(pi*min(1, (t - 1)/30)))/2, where t counts every step"
        ),
    ),
    Fault(
        name="rate_in_waves",
        optimizer="sgd",
        defect="a cosine that nobody ends, so that the rate grows again",
        start=_by_step(lambda step: _in_half_a_wave(1, step, 21)),
        outcome=MULTIPLIES.format("documented", "(1 + cos(pi*(t - 1)/20))/2, where t counts every step"),
    ),
    Fault(
        name="rate_falls_by_a_square",
        optimizer="rmsprop",
        defect="a polynomial decay of the second degree",
        start=_by_step(lambda step: max(0.0, 1 - (step - 1) / 50) ** 2),
        outcome=MULTIPLIES.format("documented", "max(0, 1 - (t - 1)/50)**2, where t counts every step"),
    ),
)
