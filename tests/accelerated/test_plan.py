"""A plan outlives its step where gradients are the same arrays: what it keeps must not go stale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.arena import LARGE
from optimetry.accelerated.devices.interface import LINE
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.kernels.kernel import PARAM
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.plan import UNIT, Units
from tests.accelerated.cases import EACH_KIND, ENGINES, kernel, state_bits, variants_where

pytestmark = pytest.mark.usefixtures("emulated_cuda")

RINGS = variants_where(lambda kernel: kernel.ring is not None)


@pytest.mark.parametrize(("name", "hyper"), RINGS)
def test_the_address_in_a_ring_moves_on_with_every_update(name: str, hyper: dict[str, Any]) -> None:
    optimizer = Accelerated(name, [np.ones((4, 2)), np.ones(3)], hyper, engine="numpy")
    optimizer.step([np.ones((4, 2)), None], 0.1)  # now the first parameter is one update ahead
    ring = str(kernel(name, hyper).ring)
    ((_, plan),) = optimizer._planned([np.ones((4, 2)), np.ones(3)])
    slots = [optimizer._slot(ring, i) for i in range(2)]
    length = len(slots[0])
    assert length > 2
    for ahead in range(2 * length):
        wanted = [slots[0][(1 + ahead) % length], slots[1][ahead % length]]
        assert plan.addresses(ring).tolist() == [array.ctypes.data for array in wanted]
        plan.finish()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("name", "hyper"), EACH_KIND)
def test_gradients_in_the_same_arrays_are_as_fresh_ones(
    name: str, hyper: dict[str, Any], transposed: bool, dtype: str, engine: str
) -> None:
    """Some steps leave a parameter out, so that numbers of updates differ; transposed gradients are copied in each."""

    def parameters() -> list[Any]:
        return [np.ones(shape, DTYPES[dtype].dtype) for shape in ((9,), (3, 4), ())]

    same, fresh = (Accelerated(name, parameters(), hyper, engine=engine, multi_precision=True) for _ in range(2))
    grads, rng = [array.T.copy().T if transposed else array for array in parameters()], np.random.default_rng(0)
    for step in range(9):
        for grad in grads:
            grad[...] = rng.standard_normal(grad.shape)
        gradients = [None if i == 1 and step in (0, 4) else grad for i, grad in enumerate(grads)]
        same.step(gradients, 0.1)
        fresh.step([None if grad is None else grad.copy() for grad in gradients], 0.1)
        assert state_bits(same) == state_bits(fresh), step


@pytest.mark.parametrize("elements", [3 * UNIT, LARGE // 4])
@pytest.mark.parametrize("master", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_units_begin_where_cache_lines_do_in_parameter_and_state(dtype: str, master: bool, elements: int) -> None:
    memory = np.zeros(elements + LINE, DTYPES[dtype].dtype)
    for offset in (0, 1, 8, 31):
        optimizer = Accelerated("adam", [memory[offset:][:elements]], None, engine="numba", multi_precision=master)
        ((executable, plan),) = optimizer._planned([np.ones(elements, memory.dtype)])
        executable.ready(plan, 0.1)
        (pass_,) = plan.prepared
        starts = pass_.units[1, 1:]
        assert len(starts) >= 2
        for name in (PARAM, "moment1", "moment2"):
            addresses = plan.addresses(name)[0] + np.uint64(plan.arena.itemsize(name)) * starts.astype(np.uint64)
            assert not (addresses % LINE).any(), (name, offset)


def test_a_state_that_is_loaded_between_steps_with_the_same_gradients() -> None:
    grads = [np.linspace(-1, 1, 50)]
    optimizer = Accelerated("adam", [np.ones(50)])
    optimizer.step(grads, 0.1)
    saved, parameter = optimizer.state_dict(), optimizer.parameters[0].copy()
    optimizer.step(grads, 0.1)
    second = optimizer.parameters[0].copy()
    optimizer.step(grads, 0.1)
    optimizer.load_state_dict(saved)
    optimizer.parameters[0][...] = parameter
    optimizer.step(grads, 0.1)
    assert optimizer.parameters[0].tobytes() == second.tobytes()


def test_moved_units_hold_every_element_once() -> None:
    count = np.array([0, 1, UNIT, UNIT + 1, 3 * UNIT + 5, 2 * UNIT])
    units = Units.of(count)
    back = np.array([3, 3, 3, 15, 7, 0])
    at, start, length, row = units.table(back)
    later = units.start > 0
    assert (start[later] == (units.start - back[units.item])[later]).all()
    assert not row.any()
    for item in range(len(count)):
        pieces = [range(a, a + n) for k, a, n in zip(at, start, length, strict=True) if k == item]
        assert [i for piece in pieces for i in piece] == list(range(count[item]))
