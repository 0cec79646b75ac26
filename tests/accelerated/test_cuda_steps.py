"""What CUDA launches keep between steps, and how threads move memory: neither may show in a bit."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.dtypes import DTYPES, Array
from optimetry.accelerated.engines.cuda_launches import Launches
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.source import cuda_tiles
from optimetry.conformance.numerics.agreement import compare
from optimetry.conformance.oracle.expected import expected
from tests.accelerated.cases import EACH_KIND, arrays, has_norms, programs_where, state_bits, variants_where
from tests.accelerated.emulated import Emulated, needs_compiler, plant
from tests.accelerated.test_tiles import HYPER, case_of, stepped

pytestmark = [needs_compiler, pytest.mark.usefixtures("emulated_cuda")]

LEFT_OUT = 4
"""The parameter that has no gradient in some steps."""

STEPS = ((False, 0.7), (False, 0.7), (True, 0.7), (True, 0.6), (True, 0.6))
"""Whether it has one in a step, and the learning rate, large enough that Adafactor's depends on the step's number."""


def filled(name: str, hyper: dict[str, Any], dtype: str, *, anew: bool, **options: Any) -> Accelerated:
    """An optimizer after steps with gradients in the same arrays, or in new ones each time.

    One parameter joins later than the others, so two counts of updates go on at once.
    """
    optimizer = Accelerated(name, arrays(dtype, 0), hyper, engine="cuda", **options)
    kept = arrays(dtype, 0)
    for seed, (joined, lr) in enumerate(STEPS, 1):
        for array, values in zip(kept, arrays(dtype, seed), strict=True):
            array[...] = values
        grads: list[Array | None] = [array.copy() if anew else array for array in kept]
        if not joined:
            grads[LEFT_OUT] = None
        optimizer.step(grads, lr)
    return optimizer


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("name", "hyper"), programs_where())
def test_gradients_in_the_same_arrays_give_the_same_bits(name: str, hyper: dict[str, Any], dtype: str) -> None:
    """A step that finds its arrays again renews what has changed: scalars, rates, counts, and places in a ring."""
    again, new = (filled(name, hyper, dtype, anew=anew, multi_precision=True) for anew in (False, True))
    assert state_bits(again) == state_bits(new)


@pytest.mark.parametrize("what", ["scalars", "numbers", "update ", "addresses", "share", "updates"])
def test_each_thing_that_changes_is_renewed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: it is not, and some rule of those that have it computes something else."""
    renew, forgotten = Launches.renew, set[str]()

    def forget(launches: Launches, name: str, values: Array) -> None:
        if name.startswith(what):
            forgotten.add(name)
        else:
            renew(launches, name, values)

    monkeypatch.setattr(Launches, "renew", forget)
    of = {"scalars": "adam", "numbers": "lamb", "update ": "papers.novograd", "addresses": "asgd"}
    name = of.get(what, "torch.adafactor")
    hyper = next(variant.values[1] for variant in variants_where() if variant.values[0] == name)
    again, new = (filled(name, hyper, "float32", anew=anew) for anew in (False, True))
    assert forgotten
    assert state_bits(again) != state_bits(new)


@pytest.mark.parametrize(("name", "hyper"), EACH_KIND)
def test_a_stream_has_tables_of_its_own(name: str, hyper: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that one stream copies may not be there yet when another reads it: none is used by two."""
    alone = state_bits(filled(name, hyper, "float32", anew=False))
    streams, now = itertools.cycle((1, 2)), {"stream": 0}
    step, given, launched = Accelerated.step, Emulated.given, Launches.run
    made: dict[int, dict[int, Array]] = {1: {}, 2: {}}  # they live, so that no other begins where one does
    read: dict[tuple[int, int], set[int]] = {}  # by the stream that launched and the one whose tables they are

    def on_the_next(optimizer: Accelerated, grads: Any, lr: float | None = None) -> None:
        now["stream"] = next(streams)
        step(optimizer, grads, lr)

    def noted(device: Emulated, array: Array) -> Array:
        array = np.array(array)
        if now["stream"]:
            made[now["stream"]][array.ctypes.data] = array
        return given(device, array)

    def noting(launches: Launches, kept: object = None) -> None:
        numbers = {number for _, _, arguments in launches._launches for number in arguments}
        for owner, tables in made.items():
            read.setdefault((now["stream"], owner), set()).update(numbers & tables.keys())
        launched(launches, kept)

    monkeypatch.setattr(Emulated, "stream", lambda device: now["stream"])
    monkeypatch.setattr(Emulated, "given", noted)
    monkeypatch.setattr(Launches, "run", noting)
    monkeypatch.setattr(Accelerated, "step", on_the_next)
    assert state_bits(filled(name, hyper, "float32", anew=False)) == alone
    assert {pair for pair, tables in read.items() if tables} == {(1, 1), (2, 2)}


def placed(tensors: Iterable[Array], offset: int) -> list[Array]:
    """The same numbers, beginning so many elements behind a multiple of 64 bytes."""
    views = []
    for array in tensors:
        memory = np.zeros(array.nbytes + 128, np.uint8)
        start = -memory.ctypes.data % 64 + offset * array.itemsize
        views.append(memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape))
        views[-1][...] = array
    return views


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "hyper"), [*EACH_KIND, ("torch.adafactor", HYPER)])
def test_bits_do_not_depend_on_where_memory_lies(name: str, hyper: dict[str, Any], dtype: str) -> None:
    """Aligned memory is moved 16 bytes at once, other memory one by one; sums keep their order."""
    results = []
    for offset in (0, 1, 3):
        shapes = ((17,), (8192,), (6, 40), (5, 7))
        parameters = placed(arrays(dtype, 0, shapes), offset)
        optimizer = Accelerated(name, parameters, hyper, engine="cuda", multi_precision=True)
        for seed in (1, 2):
            optimizer.step(placed(arrays(dtype, seed, shapes), offset), 0.1)
        results.append(state_bits(optimizer))
    assert results[0] == results[1] == results[2]


def test_matrices_of_aligned_rows_have_sums_of_all_tiles() -> None:
    shapes = ((70, 72), (64, 40), (3, 9, 8), (200,))
    case = case_of(shapes)
    assert compare(stepped("cuda", shapes)[1], expected(case), case.form).conforms


@pytest.mark.parametrize("barrier", range(3))
def test_every_barrier_of_sums_of_rows_is_needed(barrier: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimetry.accelerated.inplace.device_of", lambda engine, parameters: Emulated(32))
    shapes = ((20, 72),)
    right = stepped("cuda", shapes)[1]
    parts = cuda_tiles.SUM_ROWS.split("__syncthreads();")
    assert len(parts) == 4
    without = ("__syncthreads();".join(half) for half in (parts[: barrier + 1], parts[barrier + 1 :]))
    monkeypatch.setattr(cuda_tiles, "SUM_ROWS", "".join(without))
    assert (stepped("cuda", shapes)[1] != right).any()


@pytest.mark.parametrize("sums", ["across_sum[turn]", "down_sum[j]"])
def test_a_sum_that_forgets_is_rejected(sums: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(f"{sums} += square1", f"{sums} = square1", monkeypatch)
    case = case_of(((70, 72),))
    assert not compare(stepped("cuda", ((70, 72),))[1], expected(case), case.form).conforms


def test_norms_are_of_the_elements_that_remain_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that adds to what it measures shows whether places behind the last element are counted, too."""
    hyper = next(variant.values[1] for variant in variants_where(has_norms) if variant.values[0] == "lamb")
    plant("measured1 = ", "measured1 = 1 + ", monkeypatch)
    right = state_bits(filled("lamb", hyper, "float32", anew=True))
    plant("j < remaining ? (double)measured1", "true ? (double)measured1", monkeypatch)
    assert state_bits(filled("lamb", hyper, "float32", anew=True)) != right
