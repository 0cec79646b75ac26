"""Learning rates and counts that are not this step's."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.hooks import hooked

enter(
    Fault(
        name="first_learning_rate_forever",
        optimizer="sgd",
        defect="the learning rate is compiled in at the first step: a scheduler has no effect",
        start=hooked(rate=lambda rates: rates[0]),
        outcome="diverges: documented with the learning rate of the first step in every step",
        because="check how arguments are passed on",
    ),
    Fault(
        name="previous_learning_rate",
        optimizer="rmsprop",
        defect="the scheduler acts one step late",
        start=hooked(rate=lambda rates: rates[-2:][0]),
        outcome="diverges: documented with the learning rate of the step before",
    ),
    Fault(
        name="largest_learning_rate",
        optimizer="lars_momentum",
        defect="a learning rate may only rise",
        start=hooked(rate=max),
    ),
    Fault(
        name="learning_rate_of_four_digits",
        optimizer="lamb",
        defect="the learning rate is passed on as text with four decimals",
        start=hooked(rate=lambda rates: round(rates[-1], 4)),
    ),
    Fault(
        name="rate_at_most_one",
        optimizer="sgd",
        defect="a learning rate is clamped to [0, 1]",
        start=hooked(rate=lambda rates: min(rates[-1], 1.0)),
    ),
    Fault(
        name="rate_of_zero_replaced",
        optimizer="papers.adam",
        defect="lr or 1e-3: the first step of a warm-up is one at the default",
        start=hooked(rate=lambda rates: rates[-1] or 1e-3),
        outcome="diverges: documented, but takes 0.001 for a learning rate of 0",
    ),
    Fault(
        name="count_stops_at_20",
        optimizer="adam",
        defect="bias correction is switched off after 20 steps, when it should be small",
        start=hooked(count=lambda count: count if count <= 20 else 10**6),
    ),
    Fault(
        name="count_of_one_forever",
        optimizer="adamax",
        defect="the count of updates is never advanced",
        edited=True,
        start=hooked(count=lambda count: 1),
        outcome="diverges: documented, but counts every update as the first",
    ),
    Fault(
        name="count_from_zero",
        optimizer="asgd",
        defect="the mean is over the steps before this one, and never fewer than one",
        start=hooked(count=lambda count: max(count - 1, 1)),
    ),
)
