from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.kernels import offered
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.source.loop_text import FAR
from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.targets.session import flat
from optimetry.reference.books import BOOKS
from optimetry.reference.precision import working
from optimetry.reference.rule import rule_named
from optimetry.reference.training import Training
from tests.accelerated.cases import (
    ENGINES,
    IDS,
    VARIANTS,
    arrays,
    bits,
    documented,
    gradients,
    has_norms,
    is_exact,
    kernel,
    rate,
    run,
    state_bits,
    variants,
    variants_in,
)

pytestmark = pytest.mark.usefixtures("emulated_cuda")

WIDE, NARROW = ("float32", "float64"), ("float16", "bfloat16")

EXACT = variants_in(WIDE, "float32", lambda kernel: not kernel.regrouped and not has_norms(kernel))
OTHERS = variants_in(WIDE, "float32", lambda kernel: kernel.regrouped or has_norms(kernel))
"""Rules whose norms are summed in another order and wider than the reference's, or whose arithmetic is regrouped."""


@pytest.mark.parametrize("rule", [name for book in BOOKS.values() for name in book if name != "torch.muon"])
def test_every_rule_has_a_kernel(rule: str) -> None:
    """Except Muon, whose matrix products are left to libraries."""
    for name, hyper in variants(offered()[rule]):
        passes = kernel(name, hyper).passes
        assert {slot for pass_ in passes for slot in pass_.writes} <= {"param", *offered()[name].slots}
        assert all(pass_.cuda for pass_ in passes)


def test_a_name_without_a_kernel() -> None:
    assert {"torch.decay", "kernel", "nobody.adam"}.isdisjoint(offered())


def test_a_variant_for_each_kernel_function() -> None:
    """Counted by hand: use_nesterov, amsgrad, centered, momentum and lr_power choose another function."""
    counts = {"sgd": 1, "adam": 1, "momentum": 2, "rmsprop": 2, "ftrl": 2}
    counts |= {"torch.sgd": 3, "torch.adam": 2, "torch.adamw": 2, "torch.rmsprop": 4, "torch.nadam": 1}
    counts |= {"papers.adam": 1, "papers.ftrl": 1}
    assert {name: len(variants(offered()[name])) for name in counts} == counts


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "hyper", "dtype"), EXACT)
def test_bits_of_the_reference(name: str, hyper: dict[str, Any], dtype: str, engine: str) -> None:
    optimizer, training = run(name, hyper, dtype, engine), documented(name, hyper, dtype)
    state = optimizer.state_dict()
    pairs = [(optimizer.parameters, training.parameters)]
    pairs += [(state[slot], [held[slot] for held in training.states]) for slot in optimizer.slots]
    for ours, theirs in pairs:
        for actual, must in zip(ours, theirs, strict=True):
            assert actual.dtype == must.dtype
            assert actual.shape == must.shape
            assert actual.tobytes() == must.tobytes()
    assert [int(count) for count in state["step"]] == training.updates


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "hyper"), VARIANTS, ids=IDS)
def test_a_learning_rate_of_zero(name: str, hyper: dict[str, Any], engine: str) -> None:
    """Which a schedule may begin with: formulas that divide by it are infinite or NaN, as in the reference."""
    parameters, grads = (np.array([[0.0, 1.0], [-2.0, 3.0]]) * factor for factor in (1.0, 0.5))
    optimizer = Accelerated(name, [parameters.copy()], hyper, engine=engine)
    training = Training(rule_named(name).of(hyper), [working(parameters)])
    for _ in range(2):
        optimizer.step([grads], 0.0)
        training.step([working(grads)], 0.0)
    np.testing.assert_allclose(optimizer.parameters[0], training.parameters[0], rtol=1e-15)


@pytest.mark.parametrize("dtype", NARROW)
def test_bits_where_a_loop_is_divided_into_runs(dtype: str) -> None:
    """With more than `FAR` elements, units are divided; the last run of the first is shorter, as that unit is."""
    rng, numpy_dtype = np.random.default_rng(0), DTYPES[dtype].dtype
    memory, grad = (rng.standard_normal(FAR + 100, np.float32).astype(numpy_dtype) for _ in range(2))
    states = []
    for engine in ("numba", "numpy"):
        optimizer = Accelerated("adam", [memory.copy()[8:]], engine=engine)
        for _ in range(2):
            optimizer.step([grad[8:]], 0.1)
        states.append(state_bits(optimizer))
    assert states[0] == states[1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "hyper", "dtype"), OTHERS)
def test_within_the_rounding_bound_of_the_reference(name: str, hyper: dict[str, Any], dtype: str, engine: str) -> None:
    steps = range(2 if dtype == "float64" else 4)
    case = Case(
        optimizer=name,
        dtype=dtype,
        hyper=rule_named(name).of(hyper).hyper(),
        learning_rates=tuple(rate(step) for step in steps),
        parameters=tuple(arrays(dtype, 0)),
        grads=tuple(tuple(gradients(dtype, step)) for step in steps),
    )
    oracle = expected(case)
    optimizer = Accelerated(name, arrays(dtype, 0), hyper, engine=engine)
    after = np.empty((len(steps), case.size), case.form.dtype)
    for step in steps:
        optimizer.step(gradients(dtype, step), rate(step))
        after[step] = flat(optimizer.parameters)
    agreement = compare(after, oracle, case.form)
    assert agreement.conforms
    assert agreement.vacuous < agreement.elements / 100


@pytest.mark.parametrize("master", [False, True])
@pytest.mark.parametrize(("name", "hyper", "dtype"), variants_in(DTYPES, "bfloat16", is_exact))
@pytest.mark.parametrize("engine", ENGINES[1:])
def test_engines_agree(name: str, hyper: dict[str, Any], dtype: str, master: bool, engine: str) -> None:
    ours = [run(name, hyper, dtype, backend, multi_precision=master) for backend in ("numba", engine)]
    assert state_bits(ours[0]) == state_bits(ours[1])


@pytest.mark.parametrize(("name", "hyper"), VARIANTS, ids=IDS)
def test_threads_change_no_bit(name: str, hyper: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimetry.accelerated.threads.ALONE", 1)
    monkeypatch.setattr("optimetry.accelerated.engines.shares.SHARE", 1)
    alone, together = (run(name, hyper, "float32", threads=threads) for threads in (1, 3))
    assert state_bits(alone) == state_bits(together)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "hyper", "dtype"), variants_in(NARROW, "bfloat16"))
def test_master_copies_are_the_float32_run(name: str, hyper: dict[str, Any], dtype: str, engine: str) -> None:
    narrow = Accelerated(name, arrays(dtype, 0), hyper, engine=engine, multi_precision=True)
    wide = Accelerated(name, widened(arrays(dtype, 0)), hyper, engine=engine)
    plain = Accelerated(name, arrays(dtype, 0), hyper, engine=engine)
    for step in range(3):
        narrow.step(gradients(dtype, step), rate(step))
        wide.step(widened(gradients(dtype, step)), rate(step))
        plain.step(gradients(dtype, step), rate(step))
        rounded = [array.astype(narrow.parameters[0].dtype) for array in wide.parameters]
        assert bits(narrow.parameters) == bits(rounded)
        if step == 0:  # later the optimizer without master copies has lost digits
            assert bits(plain.parameters) == bits(rounded)
    assert bits(plain.parameters) != bits(rounded)
    state, must = narrow.state_dict(), wide.state_dict()
    assert bits(state["master"]) == bits(wide.parameters)
    for slot in narrow.slots:
        assert bits(state[slot]) == bits(must[slot])


def widened(tensors: Any) -> Any:
    return [None if array is None else array.astype(np.float32) for array in tensors]
