"""Results that tests write and read."""

import pytest

from optimetry.reports.accuracy import Accuracy, Point, Spread
from optimetry.reports.certificate import Certificate, Place
from optimetry.reports.results import Computes, Header, ResultsError, Verdict, read

HEADER = Header(
    optimetry="0.1.0",
    target="torch",
    target_version="2.13.0",
    platform="Linux x86_64",
    dtypes=["float32"],
    optimizers=["adam", "sgd"],
    seed=7,
    effort="quick",
)
GOOD = Verdict(optimizer="sgd", dtype="float32", verdict="conforms", share=0.93, ulp=3, vacuous=0.01, cases=40)
BAD = Verdict(
    optimizer="adam",
    dtype="float32",
    verdict="dialect",
    computes=Computes("scaled_epsilon", "sqrt(v) + eps*sqrt(1-b2^t)", False, [{"float32": ["beta1"]}]),
    dialect="scaled_epsilon",
    law="rest",
    share=1.7976931348623157e308,
    ulp=2**62,
    cases=40,
    engine="fused",
    reason="epsilon is scaled: √(1 + β₂ᵗ)",
    counterexample={"case": "{}", "script": "print()\n", "step": 1},
)
ABSENT = Verdict(optimizer="ftrl", dtype="float32", verdict="unsupported", reason="no class")
CERTIFICATE = Certificate(
    book="fluid",
    optimizer="sgd",
    dtype="float16",
    step="first",
    setting="defaults",
    learning_rate=0.01,
    seed=0,
    space=2**32,
    pairs=2**32,
    vacuous=2**31,
    flushed=7,
    share=Place(value=0.75, parameter="0x3c01", gradients=["0x3555"]),
)


def accuracy(optimizer="adam", dtype="float32", engine="fused", gradients="training", median=2e-6):
    """Errors at the defaults: a 99th percentile of ten times the median, and a largest of a hundred times."""
    spread = Spread(median=median, p99=10 * median, largest=100 * median)
    ulp = Spread(median=1.0, p99=20.0, largest=300.0)
    return Accuracy(
        book="fluid",
        optimizer=optimizer,
        dtype=dtype,
        engine=engine,
        gradients=gradients,
        hyper={"beta1": 0.9},
        learning_rate=0.001,
        elements=163,
        points=[Point(step=step, ulp=ulp, update=spread) for step in (1, 3, 10, 30)],
    )


def refusal(path):
    with pytest.raises(ResultsError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))
