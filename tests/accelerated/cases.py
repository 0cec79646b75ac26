"""Inputs for the tests of this folder: every rule with the hyperparameters that change its kernel, and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.dtypes import DTYPES, Array
from optimetry.accelerated.kernels import kernel_of, offered
from optimetry.accelerated.kernels.kernel import Kernel
from optimetry.accelerated.optimizer import Accelerated
from optimetry.reference.precision import working
from optimetry.reference.rule import Rule, rule_named
from optimetry.reference.training import Training
from tests.accelerated.emulated import needs_compiler

ENGINES = ("numba", "numpy", pytest.param("cuda", marks=needs_compiler))
"""What tests of engines are given; with the fixture ``emulated_cuda`` the last runs on the processor."""

Variant = tuple[str, dict[str, Any]]


def variants(rule: type[Rule]) -> list[Variant]:
    """The rule with hyperparameters that tell implementations apart, and again with some for each further kernel."""
    declared = rule.hyperparameters()
    hyper: dict[str, Any] = {}
    for hyperparameter in declared:  # distinct: exchanging two equal decays would change nothing
        if hyperparameter.kind is not bool:
            unused = [
                value
                for value in reversed(hyperparameter.corners)
                if value and value not in (hyperparameter.default, *hyper.values())
            ]
            hyper[hyperparameter.name] = next(iter(unused), getattr(rule.typical(), hyperparameter.name))
    changes = [{hyperparameter.name: value} for hyperparameter in declared for value in hyperparameter.corners]
    others = [hyper | change | other for change in changes for other in ({}, *changes)]
    by_kernel: dict[tuple[Any, ...], dict[str, Any]] = {}
    for values in (hyper, *others):
        by_kernel.setdefault(tuple(pass_.function for pass_ in kernel_of(rule.of(values)).passes), values)
    return [(rule.name, values) for values in by_kernel.values()]


VARIANTS = [variant for rule in offered().values() for variant in variants(rule)]
"""Rules with hyperparameters: each kernel function at least once."""

IDS = [f"{name}-{'-'.join(map(str, hyper.values()))}" for name, hyper in VARIANTS]


def variants_in(dtypes: Iterable[str], other: str, holds: Callable[[Kernel], bool] = lambda kernel: True) -> list[Any]:
    """Parameters of a test: the variants whose kernel ``holds`` accepts, with dtypes.

    The loops around a body are the same for all rules; so rules of books other than fluid are tried in ``other`` alone.
    """
    return [
        pytest.param(name, hyper, dtype, id=f"{id_}-{dtype}")
        for (name, hyper), id_ in zip(VARIANTS, IDS, strict=True)
        if holds(kernel(name, hyper))
        for dtype in (dtypes if rule_named(name).book == "fluid" else [other])
    ]


def variants_where(holds: Callable[[Kernel], bool] = lambda kernel: True) -> list[Any]:
    """Parameters of a test: the variants whose kernel ``holds`` accepts."""
    chosen = zip(VARIANTS, IDS, strict=True)
    return [pytest.param(name, hyper, id=id_) for (name, hyper), id_ in chosen if holds(kernel(name, hyper))]


def programs_where(holds: Callable[[Kernel], bool] = lambda kernel: True) -> list[Any]:
    """`variants_where`, without those that share their CUDA programs with an earlier one: books share formulas."""
    by_texts: dict[tuple[str, ...], Any] = {}
    for variant in variants_where(holds):
        passes = kernel(*variant.values).passes
        by_texts.setdefault(tuple(pass_.cuda + (pass_.rate.cuda if pass_.rate else "") for pass_ in passes), variant)
    return list(by_texts.values())


def kernel(name: str, hyper: dict[str, Any]) -> Kernel:
    """The kernel of a rule with hyperparameters."""
    return kernel_of(rule_named(name).of(hyper))


def has_norms(kernel: Kernel) -> bool:
    """Whether the kernel sums, in an order of its own."""
    return any(pass_.sums for pass_ in kernel.passes)


def has_power(kernel: Kernel) -> bool:
    """Whether the kernel raises to a general power, which a library does."""
    return any("power_of(" in pass_.cuda for pass_ in kernel.passes)


def is_exact(kernel: Kernel) -> bool:
    """Whether every engine has the same bits: nothing depends on the order of a sum, or on a library."""
    return not has_norms(kernel) and not has_power(kernel)


def kind(kernel: Kernel) -> tuple[bool, bool, str | None]:
    """The properties of a kernel by which a step treats it differently."""
    return has_norms(kernel), kernel.by_rows, kernel.ring


EACH_KIND = list(
    {
        kind(kernel(*variant)): variant
        for variant in sorted(VARIANTS, key=lambda variant: len(offered()[variant[0]].slots))
    }.values()
)
"""The variant of most slots for each kind of kernel: with norms or without, by rows or not, with a ring or without."""

SHAPES = ((), (0,), (1,), (3, 5), (17,), (8192,), (20_000,))
"""0-d, empty, odd tails, exactly one unit of work, and more than one."""


def arrays(dtype: str, seed: int, shapes: tuple[tuple[int, ...], ...] = SHAPES) -> list[Array]:
    """Arrays of mixed magnitudes, some elements zero."""
    rng = np.random.default_rng(seed)
    made = []
    for shape in shapes:
        values = rng.standard_normal(shape) * 10.0 ** rng.uniform(-2, 1, shape) * (rng.random(shape) < 0.9)
        made.append(np.asarray(values).astype(DTYPES[dtype].dtype))
    return made


def copies(tensors: list[Array]) -> list[Array]:
    """Fresh copies."""
    return [array.copy() for array in tensors]


def run(
    name: str, hyper: dict[str, Any], dtype: str, engine: str = "numba", steps: int = 4, **options: Any
) -> Accelerated:
    """A few steps of an accelerated optimizer; one gradient is missing once, the learning rate changes."""
    optimizer = Accelerated(name, arrays(dtype, 0), hyper, engine=engine, **options)
    for step in range(steps):
        optimizer.step(gradients(dtype, step), rate(step))
    return optimizer


def documented(name: str, hyper: dict[str, Any], dtype: str, steps: int = 4) -> Training:
    """The same steps of the reference, in the parameters' own precision."""
    training = Training(rule_named(name).of(hyper), [working(array) for array in arrays(dtype, 0)])
    for step in range(steps):
        grads = gradients(dtype, step)
        training.step([None if grad is None else working(grad) for grad in grads], rate(step))
    return training


def gradients(dtype: str, step: int) -> list[Array | None]:
    """The gradients of a step."""
    made: list[Array | None] = [*arrays(dtype, step + 1)]
    if step == 1:
        made[4] = None
    return made


def rate(step: int) -> float:
    """The learning rate of a step."""
    return 0.1 if step < 2 else 0.03


def bits(tensors: list[Array]) -> list[bytes]:
    """The bytes of each array."""
    return [np.asarray(array).tobytes() for array in tensors]


def state_bits(optimizer: Accelerated) -> dict[str, list[bytes]]:
    """The bytes of everything that a step may change."""
    return {slot: bits(held) for slot, held in optimizer.state_dict().items()} | {"param": bits(optimizer.parameters)}
