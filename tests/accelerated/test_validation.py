from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.rows import Rows
from optimetry.reference.errors import ArrayError, HyperparameterError, UsageError
from tests.accelerated.cases import EACH_KIND, ENGINES, state_bits

pytestmark = pytest.mark.usefixtures("emulated_cuda")


def readonly() -> Any:
    array = np.zeros(3)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ([[1.0]], "parameter 0 is a list, must be a NumPy array"),
        ([np.ma.zeros(3)], "parameter 0 is a MaskedArray"),
        ([np.zeros(3), np.zeros(3, int)], "parameter 1 has dtype int64, must be one of float16, bfloat16, float32"),
        ([np.zeros(3, ">f4")], "dtype >f4, must be one of"),
        ([np.zeros((4, 4))[:, :2]], "parameter 0 is not contiguous"),
        ([np.zeros((4, 4)).T[:2]], "parameter 0 is not contiguous"),
        ([np.zeros(9, np.uint8)[1:].view(np.float64)], r"parameter 0 is not aligned .* \(a copy is\)"),
        ([readonly()], "parameter 0 is read-only, must be writeable"),
    ],
)
def test_parameters_that_cannot_be_updated_in_place(parameters: list[Any], text: str) -> None:
    with pytest.raises(ArrayError, match=f"adam: .*{text}"):
        Accelerated("adam", parameters)


def test_parameters_that_share_memory() -> None:
    base = np.zeros(10)
    with pytest.raises(ArrayError, match="sgd: parameters 0 and 2 overlap, must not share memory"):
        Accelerated("sgd", [base[:6], np.zeros(2), base[5:]])
    Accelerated("sgd", [base[:5], base[5:5], base[5:]])  # side by side is not shared


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("grads", "text"),
    [
        ([np.ones((4, 3))], "1 gradients, must be 2"),
        ([np.ones((4, 3)), np.ones(5, np.float32)], "gradient 1 has dtype float32, must be float64"),
        ([np.ones((4, 3)), np.ones(5, ">f8")], "gradient 1 has dtype >f8, must be float64"),
        ([np.ones((4, 3)), np.ones((1, 5))], r"gradient 1 has shape \(1, 5\), must be \(5,\)"),
        ([np.ones((4, 3)), [1.0] * 5], "gradient 1 is a list, must be a NumPy array, Rows or None"),
        ([np.ones((4, 3)), np.ma.ones(5)], "gradient 1 is a MaskedArray"),
        ([Rows(np.array([4]), np.ones((1, 3))), None], r"gradient 0 has row id 4, must be in \[0, 4\)"),
        ([Rows(np.array([-1]), np.ones((1, 3))), None], r"gradient 0 has row id -1, must be in \[0, 4\)"),
        ([Rows(np.array([0.5]), np.ones((1, 3))), None], "gradient 0 has row ids of dtype float64"),
        ([Rows([[1], [1, 2]], np.ones((1, 3))), None], "gradient 0: ids cannot be made an array"),
        ([Rows(np.array([1]), np.ones((2, 3))), None], r"its rows, has shape \(2, 3\), must be \(1, 3\)"),
    ],
)
def test_a_wrong_gradient_changes_nothing(engine: str, grads: list[Any], text: str) -> None:
    optimizer = Accelerated("adam", [np.ones((4, 3)), np.ones(5)], engine=engine)
    optimizer.step([np.ones((4, 3)), np.ones(5)])
    before = state_bits(optimizer)
    with pytest.raises(ArrayError, match=text):
        optimizer.step(grads)
    assert state_bits(optimizer) == before


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wrong_gradient_of_one_dtype_leaves_the_others(engine: str) -> None:
    dtypes = (np.float32, np.float64, np.float16)
    optimizer = Accelerated("adam", [np.ones(5, dtype) for dtype in dtypes], engine=engine, multi_precision=True)
    before = state_bits(optimizer)
    with pytest.raises(ArrayError, match=r"gradient 2 has shape \(4,\)"):
        optimizer.step([np.ones(5, np.float32), np.ones(5), np.ones(4, np.float16)])
    assert state_bits(optimizer) == before


@pytest.mark.parametrize("engine", ENGINES)
def test_out_of_memory_changes_nothing(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> Any:
        raise MemoryError("Unable to allocate 1.00 EiB")

    optimizer = Accelerated("adam", [np.ones(5), np.ones(8, np.float32)], engine=engine)
    before = state_bits(optimizer)
    monkeypatch.setattr("optimetry.accelerated.devices.host.Host.contiguous", full)  # where a step copies a gradient
    with pytest.raises(MemoryError, match=r"^adam: out of memory for a step; nothing has been changed: Unable to"):
        optimizer.step([np.ones(5), np.ones(16, np.float32)[::2]])
    assert state_bits(optimizer) == before
    optimizer.step([np.ones(5), np.ones(8, np.float32)])  # and later all is well
    assert state_bits(optimizer) != before
    monkeypatch.setattr("optimetry.accelerated.devices.host.Host.zeros", full)
    with pytest.raises(MemoryError, match=r"^adam: out of memory for the state: Unable to allocate"):
        Accelerated("adam", [np.ones(5)])


@pytest.mark.parametrize("lr", [np.nan, np.inf, True, "0.1", 10**400])
def test_a_learning_rate_that_is_no_finite_number(lr: Any) -> None:
    optimizer = Accelerated("sgd", [np.ones(3)])
    with pytest.raises(HyperparameterError, match=r"sgd: learning_rate = .* must be a finite number"):
        optimizer.step([np.ones(3)], lr)
    with pytest.raises(HyperparameterError, match="learning_rate = None"):
        optimizer.step([np.ones(3)])  # the documents give sgd no default
    assert (optimizer.parameters[0] == 1).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "hyper"), EACH_KIND)
def test_awkward_gradients_are_copied(name: str, hyper: dict[str, Any], engine: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((6, 8))
    unaligned = np.zeros(6 * 8 * 8 + 1, np.uint8)[1:].view(np.float64).reshape(6, 8)
    unaligned[...] = values
    frozen = values.copy()
    frozen.flags.writeable = False
    shapes = [values.T.copy().T, np.repeat(values, 2, axis=1)[:, ::2], values[::-1].copy()[::-1], unaligned, frozen]
    plain = Accelerated(name, [np.ones((6, 8))], hyper, engine=engine)
    plain.step([values], 0.1)
    for grad in shapes:
        optimizer = Accelerated(name, [np.ones((6, 8))], hyper, engine=engine)
        optimizer.step([grad], 0.1)
        assert state_bits(optimizer) == state_bits(plain)
    stretched = np.broadcast_to(values[:1], (6, 8))
    both = [Accelerated(name, [np.ones((6, 8))], hyper, engine=engine) for _ in range(2)]
    both[0].step([stretched], 0.1)
    both[1].step([np.ascontiguousarray(stretched)], 0.1)
    assert state_bits(both[0]) == state_bits(both[1])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "hyper"), EACH_KIND)
def test_gradients_that_lie_in_the_parameters(name: str, hyper: dict[str, Any], engine: str) -> None:
    values = np.random.default_rng(0).standard_normal(40_001)

    def stepped(shared: bool) -> bytes:
        base = values.copy()
        optimizer = Accelerated(name, [base[1:]], hyper, engine=engine)
        for _ in range(2):
            optimizer.step([base[:-1] if shared else base[:-1].copy()], 0.1)
        return base.tobytes()

    assert stepped(True) == stepped(False)


@pytest.mark.parametrize(("name", "hyper"), EACH_KIND)
@pytest.mark.parametrize("count", [1, 3000])
def test_many_tensors_are_as_many_optimizers(name: str, hyper: dict[str, Any], count: int) -> None:
    rng = np.random.default_rng(0)
    shapes = [(int(size),) for size in rng.integers(0, 40, count)]
    parameters = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    together = Accelerated(name, [array.copy() for array in parameters], hyper)
    few = range(0, count, max(1, count // 20))
    alone = {i: Accelerated(name, [parameters[i].copy()], hyper) for i in few}
    for step in range(3):
        grads = [
            None if (i + step) % 3 == 0 else np.full(shape, step + i % 5, np.float32) for i, shape in enumerate(shapes)
        ]
        together.step(grads, 0.1)
        for i, single in alone.items():
            single.step([grads[i]], 0.1)
    for i, single in alone.items():
        assert together.parameters[i].tobytes() == single.parameters[0].tobytes()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("parameters", [[], [np.zeros(0)], [np.zeros((0, 3), np.float32), np.zeros(0)]])
def test_nothing_to_update(parameters: list[Any], engine: str) -> None:
    for name, hyper in EACH_KIND:
        optimizer = Accelerated(name, parameters, hyper, engine=engine)
        optimizer.step([array.copy() for array in parameters], 0.1)
        optimizer.step([None for _ in parameters], 0.1)
        assert [int(count) for count in optimizer.state_dict()["step"]] == [1] * len(parameters)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "dtype"), [("adam", "float32"), ("lamb", "float32"), ("adam", "float16")])
def test_a_step_takes_next_to_no_memory(name: str, dtype: str, engine: str) -> None:
    parameter = np.ones(10_000_000, dtype)
    grads = [np.ones_like(parameter)]
    optimizer = Accelerated(name, [parameter], engine=engine)
    optimizer.step(grads)
    tracemalloc.start()
    optimizer.step(grads)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.01 * parameter.nbytes


@pytest.mark.parametrize("name", ["torch.asgd", "papers.adan"])
@pytest.mark.parametrize(("strength", "lr"), [(0.1, -20.0), (1.0, -1.0), (0.5, -2.0), (1e-4, -1e4)])
def test_a_rate_below_0_raises_nothing_in_mid_step(name: str, strength: float, lr: float) -> None:
    """Scalars are computed behind the point from which nothing may fail; a root of a number below 0 is NaN."""
    decay = {"torch.asgd": "lambd", "papers.adan": "weight_decay"}[name]
    parameters = [np.ones(2), np.ones(2, np.float32)]
    optimizer = Accelerated(name, parameters, {decay: strength})
    optimizer.step([np.ones(2), np.ones(2, np.float32)], lr)
    assert [int(count) for count in optimizer.state_dict()["step"]] == [1, 1]


def test_wrong_use() -> None:
    with pytest.raises(UsageError, match="sgd: engine = 'gpu', must be auto or one of numba, numpy"):
        Accelerated("sgd", [np.ones(1)], engine="gpu")
    for threads in (0, 1.5, True, "2", np.float64(2.5)):
        with pytest.raises(UsageError, match=r"sgd: threads = .*, must be None or an integer in \[1, inf\)"):
            Accelerated("sgd", [np.ones(1)], threads=threads)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="Accelerated: rule = 3, must be a rule or the name of one"):
        Accelerated(3, [np.ones(1)])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"torch\.muon: has no accelerated kernel, must be one of .*torch\.nadam"):
        Accelerated("torch.muon", [np.ones((2, 2))])
    with pytest.raises(HyperparameterError, match=r"adam: beta1 = 1\.5"):
        Accelerated("adam", [np.ones(1)], {"beta1": 1.5})
