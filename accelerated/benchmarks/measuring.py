"""Times one rule for given sizes and dtype: our engines, the touch limit and the peers."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from optimetry.accelerated.benchmarks.rounds import Timing, timings
from optimetry.accelerated.benchmarks.touch import bytes_moved, touch
from optimetry.accelerated.devices.host import HOST
from optimetry.accelerated.dtypes import DTYPES, Array
from optimetry.accelerated.kernels import kernel_of
from optimetry.accelerated.optimizer import Accelerated
from optimetry.conformance.targets.peers import Contenders, TimedStep, peers
from optimetry.reference.declaration import Hyperparameter
from optimetry.reference.errors import EngineUnavailableError
from optimetry.reference.rules import rule_named
from optimetry.reports.speed import TOUCH, Speed

LR = 1e-3


def shape_of(rule: str, elements: int) -> tuple[int, ...]:
    """Return the shape that a rule is timed with: a matrix where it tells rows and columns apart."""
    rows = next(n for n in range(math.isqrt(elements), 0, -1) if elements % n == 0)
    return (rows, elements // rows) if rule_named(rule).shaped else (elements,)


def inputs(rule: str, dtype: str, tensors: int, elements: int) -> tuple[list[Array], list[Array]]:
    """Make parameters and gradients, the same for the same arguments."""
    rng, shape = np.random.default_rng(0), shape_of(rule, elements)

    def arrays() -> list[Array]:
        return [rng.standard_normal(shape, np.float32).astype(DTYPES[dtype].dtype) for _ in range(tensors)]

    return arrays(), arrays()


def hyper_of(rule: str) -> dict[str, Any]:
    """Return the hyperparameters that a rule is timed with in place of the documented defaults.

    A hyperparameter takes the first of its `corners` if it has no default, and the first other one if its default keeps
    nothing of an average, as the momentum of rmsprop: a peer that leaves such state out would do less work.
    """
    return {
        parameter.name: next(corner for corner in parameter.corners if corner != parameter.default)
        for parameter in rule_named(rule).hyperparameters()
        if parameter.default is None or keeps_nothing(parameter)
    }


def keeps_nothing(parameter: Hyperparameter) -> bool:
    """Whether a hyperparameter is the share of an average that is kept, in [0, 1), and 0 by default."""
    domain = parameter.domain
    return parameter.default == 0 and domain is not None and domain.ends == (0.0, 1.0) and 1.0 not in domain


def optimizer_of(rule: str, engine: str, parameters: Sequence[Array], **options: Any) -> Accelerated:
    """Make one of our optimizers on copies of the parameters."""
    return Accelerated(rule, [array.copy() for array in parameters], hyper_of(rule), engine=engine, **options)


def stepping(optimizer: Accelerated, grads: Sequence[Array]) -> TimedStep:
    """Return a function that does a step of an optimizer."""
    return partial(optimizer.step, list(grads), LR)


def touching(optimizer: Accelerated, grads: Sequence[Array]) -> TimedStep:
    """Return a function that does a step of the touch limit: the same loops and memory, additions for formulas.

    It uses the same arrays, since their place in memory changes the time by a tenth; their contents are overwritten.
    """
    other = copy.copy(optimizer)
    other._kept = {}  # what was prepared is the optimizer's own kernel
    other._kernels = {"step": touch(optimizer._kernel)}
    other._groups = [copy.copy(group) for group in optimizer._groups]
    other._compile(optimizer._engine)
    return stepping(other, grads)


def measure(
    rule: str, dtype: str, tensors: int, elements: int, *, seconds: float = 1.0, others: Contenders | None = peers
) -> list[Speed]:
    """Time every contender on one rule, in rounds: our engines, the touch limit, and others, by default the peers."""
    parameters, grads = inputs(rule, dtype, tensors, elements)
    contenders: dict[str, TimedStep] = {}
    for engine in reversed(HOST.engines):
        try:
            optimizer = optimizer_of(rule, engine, parameters)
        except EngineUnavailableError:
            continue
        contenders |= {TOUCH: touching(optimizer, grads), engine: stepping(optimizer, grads)}
    documented = rule_named(rule).of(hyper_of(rule))
    peer_steps = dict(others(rule, documented.hyper(), parameters, grads, LR)) if others else {}
    times = timings(contenders | peer_steps, seconds=seconds)
    return rows_of(rule, dtype, tensors, elements, times, list(peer_steps))


def rows_of(
    rule: str, dtype: str, tensors: int, elements: int, times: Mapping[str, Timing], peers: Sequence[str]
) -> list[Speed]:
    """Return the rows of contenders, given their times and which of them are peers."""
    peer = min(peers, key=lambda name: times[name].median) if peers else None
    moved = bytes_moved(kernel_of(rule_named(rule).of(hyper_of(rule))), DTYPES[dtype])
    total = tensors * elements
    return [
        Speed(
            rule=rule,
            contender=name,
            dtype=dtype,
            tensors=tensors,
            elements=elements,
            nanoseconds=time.median / total * 1e9,
            spread=time.spread,
            threads=time.threads,
            bytes=moved,
            gigabytes_per_second=moved * total / time.median / 1e9,
            touch_share=times[TOUCH].median / time.median,
            peer=peer,
            peer_ratio=None if peer is None else times[peer].median / time.median,
        )
        for name, time in times.items()
    ]
