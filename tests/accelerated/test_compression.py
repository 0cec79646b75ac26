"""DGC's compression on every engine: the bits of the reference, whatever entries are equal, infinite or NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.compression import Compression
from optimetry.accelerated.dtypes import DTYPES, Array
from optimetry.accelerated.plan import UNIT
from optimetry.accelerated.selection import cuda
from optimetry.reference.distributed.dgc_momentum import DGCMomentum, Message, count_sent, largest
from optimetry.reference.errors import ArrayError, HyperparameterError
from optimetry.reference.precision import working
from tests.accelerated.cases import ENGINES, arrays, bits
from tests.accelerated.emulated import Emulated, needs_compiler

pytestmark = pytest.mark.usefixtures("emulated_cuda")


def selected(values: Any, number: int, engine: str, **options: Any) -> Message:
    """The message of a compression without momentum that sends ``number`` of the values."""
    compression = Compression([np.zeros_like(values)], 0.0, engine=engine, **options)
    sparsity = next(
        s for s in (1 - (number + x) / values.size for x in (0, 0.5)) if count_sent(values.size, s) == number
    )
    (message,) = compression.compress([values], max(0.0, sparsity))
    return message


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_of_the_reference(dtype: Any, nesterov: bool, engine: str) -> None:
    """Messages and residuals, step by step; entries that are equal, infinite or NaN among them."""
    rng = np.random.default_rng(3)
    parameters = [np.zeros(shape, dtype) for shape in ((40, 7), (3,), (1,))]
    rule = DGCMomentum(momentum=0.9, rampup_begin_step=0, use_nesterov=nesterov)
    states = [rule.initial_state(working(param)) for param in parameters]
    ours = Compression(parameters, 0.9, nesterov, engine=engine)
    for step, sparsity in enumerate((0.75, 0.9, 0.99, 0.0, 0.999)):
        grads = [rng.choice([-1.0, 0.5, 2.0, 1e-3], param.shape).astype(dtype) for param in parameters]
        if step == 3:
            grads[0].flat[5:7] = np.inf, np.nan
        messages = ours.compress(grads, sparsity)
        for i, (grad, message) in enumerate(zip(grads, messages, strict=True)):
            with np.errstate(all="ignore"):
                wanted, states[i] = rule.compress(working(grad), states[i], sparsity)
            assert np.array_equal(message.indices, wanted.indices)
            assert np.asarray(message.values).tobytes() == np.asarray(wanted.values).tobytes()
            u, v = (slots[i] for slots in ours.residuals())
            assert u.tobytes() == np.asarray(states[i].u).tobytes()
            assert v.tobytes() == np.asarray(states[i].v).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("engine", ENGINES)
def test_selection_is_that_of_the_reference(engine: str, dtype: Any) -> None:
    rng = np.random.default_rng(5)
    values = np.array([0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, np.nextafter(dtype(1), dtype(2))])
    for _ in range(100):
        v = rng.choice(values, rng.integers(1, 12)).astype(dtype)
        number = int(rng.integers(1, v.size + 1))
        message, wanted = selected(v, number, engine), largest(v, number)
        assert np.array_equal(message.indices, wanted)
        assert message.values.tobytes() == v[wanted].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("engine", ENGINES)
def test_ties_across_units(engine: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """More entries at the threshold than are taken, spread over several units and threads."""
    monkeypatch.setattr("optimetry.accelerated.threads.ALONE", 1)
    v = np.random.default_rng(7).integers(-3, 4, 3 * UNIT + 77).astype(dtype)
    for number in (1, 100, UNIT, 2 * UNIT + 5, v.size - 1, v.size):
        assert np.array_equal(selected(v, number, engine, threads=3).indices, largest(v, number))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_digit_decides(engine: str, dtype: Any) -> None:
    """Magnitudes that differ in one bit alone, whichever it is."""
    raw = np.dtype(f"uint{8 * np.dtype(dtype).itemsize}")
    pattern = np.array([1.5], dtype).view(raw)[0]
    for bit in range(8 * raw.itemsize - 2):
        v = np.array([pattern & ~raw.type(1 << bit), pattern | raw.type(1 << bit)] * 2, raw).view(dtype)
        v[0] *= -1
        assert selected(v, 2, engine).indices.tolist() == [1, 3], bit


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_engines_agree(dtype: str, engine: str) -> None:
    ours, must = (Compression(arrays(dtype, 0), 0.9, engine=backend) for backend in (engine, "numpy"))
    for step, sparsity in enumerate((0.9, 0.0, 0.999)):
        for message, expected in zip(
            *(made.compress(arrays(dtype, step), sparsity) for made in (ours, must)), strict=True
        ):
            assert bits([message.indices, message.values]) == bits([expected.indices, expected.values])
    for slots, others in zip(ours.residuals(), must.residuals(), strict=True):
        assert bits(slots) == bits(others)


@pytest.mark.parametrize("engine", ENGINES)
def test_parameters_of_several_dtypes_keep_their_order(engine: str) -> None:
    parameters: list[Array] = [
        np.array([1.0, 3.0]),
        np.array([2.0, 1.0], np.float32),
        np.zeros((0,)),
        np.array([-5.0, 6.0]),
    ]
    messages = Compression(parameters, 0.0, engine=engine).compress(parameters, 0.5)
    assert [message.indices.tolist() for message in messages] == [[1], [0], [], [1]]
    assert [message.values.tolist() for message in messages] == [[3.0], [2.0], [], [6.0]]
    assert [message.values.dtype.name for message in messages] == ["float64", "float32", "float64", "float64"]


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_to_compress(engine: str) -> None:
    assert Compression([], 0.9, engine=engine).compress([], 0.5) == []
    (message,) = Compression([np.zeros((0, 3))], 0.9, engine=engine).compress([np.zeros((0, 3))], 0.5)
    assert message.nbytes == 0


@needs_compiler
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_threads_of_a_real_block(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimetry.accelerated.inplace.device_of", lambda engine, parameters: Emulated(256))
    v = np.random.default_rng(7).integers(-9, 9, 2 * UNIT + 77).astype(dtype)
    for number in (1, 1000, v.size - 3):
        assert np.array_equal(selected(v, number, "cuda").indices, largest(v, number))


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "before", "after"),
    [
        ("count", "digits >> DIGIT == wanted", "true"),
        ("choose", "mine[digit--]", "mine[--digit]"),
        ("choose", "mine[digit] = 0", "mine[digit] += 0"),
        ("mark", "before + mine", "before"),
        ("place", "tallies[unit] = before", "tallies[unit] = own"),
        ("take", "level++ >= room", "level >= room"),
        ("take", "u[i] = v[i] = 0", "v[i] = 0"),
        ("take", "level < room ? level : room", "0"),
    ],
)
def test_a_planted_fault_is_found(kernel: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert before in cuda.KERNELS[kernel]
    monkeypatch.setitem(cuda.KERNELS, kernel, cuda.KERNELS[kernel].replace(before, after))
    v = np.random.default_rng(7).integers(-300, 300, 3 * UNIT + 77).astype(np.float32)
    ours, must = (Compression([v], 0.5, engine=engine) for engine in ("cuda", "numpy"))
    differences = []
    for sparsity in (0.9, 0.99, 0.5):
        pairs = zip(ours.compress([v], sparsity), must.compress([v], sparsity), strict=True)
        differences += [
            bits([message.indices, message.values]) != bits([expected.indices, expected.values])
            for message, expected in pairs
        ]
    assert any(differences)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_cannot_be_done_changes_nothing(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compression = Compression([np.zeros(4), np.zeros(3)], 0.9, engine=engine)
    compression.compress([np.arange(4.0), np.arange(3.0)], 0.5)
    before = [bits(slots) for slots in compression.residuals()]
    with pytest.raises(ArrayError, match="dgc_momentum: gradient 1 has shape"):
        compression.compress([np.ones(4), np.ones(4)], 0.5)
    for sparsity in (1.0, -0.1, float("nan")):
        with pytest.raises(HyperparameterError, match="dgc_momentum: sparsity"):
            compression.compress([np.ones(4), np.ones(3)], sparsity)

    def none_left(*arguments: Any) -> Any:
        raise MemoryError("out of memory")

    monkeypatch.setattr(f"optimetry.accelerated.selection.{engine}.new_messages", none_left)
    with pytest.raises(MemoryError):
        compression.compress([np.ones(4), np.ones(3)], 0.5)
    assert [bits(slots) for slots in compression.residuals()] == before


def test_positions_must_fit_into_int32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimetry.accelerated.compression.LARGEST", 3)
    with pytest.raises(ArrayError, match="dgc_momentum: parameter 1 has 4 elements, must have at most 3"):
        Compression([np.zeros(3), np.zeros(4)], 0.9)
