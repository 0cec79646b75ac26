from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.kernels.torch.nadam import product_of_first
from optimetry.accelerated.optimizer import Accelerated
from optimetry.reference.errors import ArrayError
from tests.accelerated.cases import arrays, copies, gradients, rate, run, state_bits, variants_in
from tests.accelerated.emulated import needs_compiler

pytestmark = pytest.mark.usefixtures("emulated_cuda")

CROSSINGS = [
    *(("numba", "numpy"), ("numpy", "numba"), ("numba", "numba")),
    *(
        pytest.param(engines, marks=needs_compiler)
        for engines in (("numba", "cuda"), ("cuda", "numpy"), ("cuda", "cuda"))
    ),
]


@pytest.mark.parametrize("engines", CROSSINGS)
@pytest.mark.parametrize(("name", "hyper", "dtype"), variants_in(DTYPES, "bfloat16"))
def test_a_run_goes_on_on_any_engine(name: str, hyper: dict[str, Any], dtype: str, engines: tuple[str, str]) -> None:
    master = dtype == "bfloat16"
    first = run(name, hyper, dtype, engines[0], multi_precision=master)
    second = Accelerated(name, copies(first.parameters), hyper, engine=engines[1], multi_precision=master)
    second.load_state_dict(first.state_dict())
    assert state_bits(second) == state_bits(first)
    other = Accelerated(name, copies(first.parameters), hyper, engine=engines[1], multi_precision=master)
    other.load_state_dict(second.state_dict())
    for step in (4, 5):
        second.step(gradients(dtype, step), rate(step))
        other.step(gradients(dtype, step), rate(step))
    assert state_bits(second) == state_bits(other)
    if engines[0] == engines[1]:
        for step in (4, 5):
            first.step(gradients(dtype, step), rate(step))
        assert state_bits(first) == state_bits(second)


def test_loading_master_copies_sets_the_parameters() -> None:
    first = run("adam", {}, "bfloat16", multi_precision=True)
    second = Accelerated("adam", arrays("bfloat16", 9), multi_precision=True)
    second.load_state_dict(first.state_dict())
    assert state_bits(first) == state_bits(second)


def test_a_state_is_a_copy() -> None:
    optimizer = run("adam", {}, "float32")
    before = state_bits(optimizer)
    for held in optimizer.state_dict().values():
        for array in held:
            array[...] = 7
    assert state_bits(optimizer) == before


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda state: state.pop("moment1"), "state of moment2, step, must be of moment1, moment2, step"),
        (lambda state: state["moment2"].pop(), "6 arrays of moment2, must be 7"),
        (lambda state: state["moment1"].__setitem__(3, np.zeros(15, np.float32)), r"moment1 3 .* must be float32 of"),
        (lambda state: state["moment1"].__setitem__(3, np.zeros((3, 5))), "moment1 3 has dtype float64"),
        (lambda state: state.__setitem__(1, []), "state of 1, moment1, moment2, step, must be of"),
        (lambda state: state.__setitem__("moment1", None), "moment1 is a NoneType, must be a list of arrays"),
        (lambda state: state["moment1"].__setitem__(3, [[1], [1, 2]]), "moment1 3 cannot be made an array"),
        (lambda state: state["step"].__setitem__(0, [[1], [1, 2]]), "step 0 cannot be made an array"),
        (lambda state: state["step"].__setitem__(0, np.array(-1)), r"step 0 is array\(-1\), must be a whole number"),
        (
            lambda state: state["step"].__setitem__(0, np.array(2**63, np.uint64)),
            r"step 0 is array\(9223372036854775808, .*must be a whole number in \[0, 2\*\*63\)",
        ),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(change: Any, text: str) -> None:
    optimizer = run("adam", {}, "float32")
    before, state = state_bits(optimizer), optimizer.state_dict()
    state["moment2"][0][...] = 5
    change(state)
    with pytest.raises(ArrayError, match=text):
        optimizer.load_state_dict(state)
    assert state_bits(optimizer) == before


def test_a_state_is_a_mapping() -> None:
    with pytest.raises(ArrayError, match="adam: state = None, must be a dict"):
        run("adam", {}, "float32").load_state_dict(None)  # type: ignore[arg-type]


def test_a_run_of_nadam_goes_on_far_ahead_in_little_memory() -> None:
    """Products of momenta are next to 0 there; all of them were kept, from the first on."""
    optimizer = run("torch.nadam", {}, "float64")
    state = optimizer.state_dict()
    state["step"] = [np.array(3 * 10**12 + i) for i in range(len(state["step"]))]
    optimizer.load_state_dict(state)
    tracemalloc.start()
    optimizer.step(gradients("float64", 4), rate(4))
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_the_products_of_momenta_are_those_of_all_updates_from_the_first_on() -> None:
    """However steps are asked for, and behind more of them than are remembered."""
    momenta = np.random.default_rng(0).uniform(0.99, 1.0, 2000)
    product = product_of_first(lambda n: float(momenta[n - 1]))
    wanted = np.concatenate([[1.0], np.multiply.accumulate(momenta)])
    asked = [3, 2, 0, 1, *range(700), 1999, 5, 2000, 300, 0]
    assert [product(n) for n in asked] == [wanted[n] for n in asked]


def test_parameters_of_several_dtypes_are_updated_together() -> None:
    parameters = [arrays(dtype, 0)[3] for dtype in DTYPES] + [arrays("float32", 1)[4]]
    together = Accelerated("adam", copies(parameters))
    grads = [array * array.dtype.type(0.5) for array in parameters]
    alone = [Accelerated("adam", [array.copy()]) for array in parameters]
    for lr in (0.1, 0.2):
        together.step([grads[0], None, *grads[2:]], lr)
        for i, single in enumerate(alone):
            if i != 1:
                single.step([grads[i]], lr)
    assert [array.tobytes() for array in together.parameters] == [single.parameters[0].tobytes() for single in alone]
    assert [int(count) for count in together.state_dict()["step"]] == [2, 0, 2, 2, 2]
