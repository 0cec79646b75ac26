"""Finds the installed frameworks that benchmarks time beside our backend, as functions that do one step.

A framework takes part with a file ``peer.py`` in its folder, whose ``steps`` runs an offer of the table that its target
reads, or of one optimizer of a user. What it computes under a rule's name may be a dialect of it; it moves the same
memory.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata, util
from typing import Any

from optimetry.conformance import targets
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.loading import distribution_of, requirements
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.table import FRAMEWORKS

TimedStep = Callable[[], object]

Steps = Callable[[Any, str, Hyper, Sequence[Array], Sequence[Array], float], Iterable[tuple[str, TimedStep]]]
"""Makes steps by engine, given an offer and the arguments of `peers`; an engine without a name is ``""``."""

Contenders = Callable[[str, Hyper, Sequence[Array], Sequence[Array], float], Iterable[tuple[str, TimedStep]]]
"""Makes steps by name, given the arguments of `peers`."""


def names() -> list[str]:
    """Return the frameworks that take part."""
    return [name for name in FRAMEWORKS if util.find_spec(f"{targets.__name__}.{name}.peer")]


def steps_of(name: str) -> Steps:
    """Return the function ``steps`` of a framework that takes part, which is imported."""
    steps: Steps = importlib.import_module(f"{targets.__name__}.{name}.peer").steps
    return steps


def offers_of(name: str) -> Mapping[str, Any]:
    """Return the offer of each rule in a framework's table, which is imported."""
    offers: Mapping[str, Any] = importlib.import_module(f"{targets.__name__}.{name}.table").OFFERS
    return offers


def peers(
    rule: str, hyper: Hyper, parameters: Sequence[Array], grads: Sequence[Array], lr: float
) -> Iterator[tuple[str, TimedStep]]:
    """Yield the installed frameworks' steps by names such as ``torch fused``, each on copies of its arrays.

    Args:
        rule: the rule's name.
        hyper: every documented hyperparameter.
        parameters: what is updated.
        grads: one for each of them.
        lr: the learning rate.
    """
    for name in names():
        if util.find_spec(FRAMEWORKS[name].module) and (offer := offers_of(name).get(rule)) is not None:
            for engine, step in steps_of(name)(offer, rule, hyper, parameters, grads, lr):
                yield f"{name} {engine}".strip(), step


def peers_on_cuda(
    rule: str, hyper: Hyper, dtype: str, tensors: int, shape: tuple[int, ...], lr: float
) -> Iterator[tuple[str, TimedStep]]:
    """Yield the fastest step of each installed framework that works on a CUDA device, on arrays of its own there.

    A framework takes part with ``cuda_step`` in its ``peer.py``.

    Args:
        rule: the rule's name.
        hyper: every documented hyperparameter.
        dtype: of the parameters.
        tensors: how many there are.
        shape: of each of them.
        lr: the learning rate.
    """
    for name in names():
        if util.find_spec(FRAMEWORKS[name].module) and (offer := offers_of(name).get(rule)) is not None:
            step_on = getattr(importlib.import_module(f"{targets.__name__}.{name}.peer"), "cuda_step", None)
            if step_on and (found := step_on(offer, rule, hyper, dtype, tensors, shape, lr)):
                yield f"{name} {found[0]}", found[1]


def versions() -> dict[str, str]:
    """Return the versions of the installed frameworks that take part, and of what they run on."""
    installed = {}
    for distribution in dict.fromkeys(
        distribution_of(requirement) for name in names() for requirement in requirements(name)
    ):
        try:
            installed[distribution] = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return installed
