"""Recomputation: the same bits as plain training, with less memory."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimetry.reference import SGD, Adam
from optimetry.reference.errors import ArgumentError, OptimetryError, ProgramError, StateError
from optimetry.reference.programs import Executor, Operator, Program, Variable, layers, operators
from optimetry.reference.programs import recompute as recompute_module
from optimetry.reference.programs.recompute import Recomputation, RecomputeOptimizer
from tests.reference.random_programs import Plan, build, feeds, plans, same_bits
from tests.reference.rejections import BUILDING, rejected
from tests.reference.small import fresh

RUNS = 3


def recomputing(plan: Plan) -> Callable[[Any, list[Variable], Variable], RecomputeOptimizer]:
    def wrap(optimizer: Any, outputs: list[Variable], loss: Variable) -> RecomputeOptimizer:
        wrapped = RecomputeOptimizer(optimizer)
        wrapped._set_checkpoints([outputs[i] for i in plan.marks])
        return wrapped

    return wrap


def bits_of_plain_training(implementation: Callable[..., Any], plan: Plan) -> None:
    """Gradients in every run, and parameters at the end, equal those of plain training bit for bit."""
    plain = build(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recompute_module, "Recomputation", implementation)
        other = build(plan, recomputing(plan))
    for feed in feeds(RUNS):
        wanted = plain.executor.run(plain.program, feed, [plain.loss, *plain.gradients])
        assert same_bits(wanted, other.executor.run(other.program, feed, [other.loss, *other.gradients]))
    assert same_bits(plain.parameters, other.parameters)


@BUILDING
@given(plans())
def test_gradients_and_updates_have_the_bits_of_plain_training(plan: Plan) -> None:
    bits_of_plain_training(Recomputation, plan)


class ReplaysAnotherFunction(Recomputation):
    """What is run again is not quite what was run."""

    def __call__(self, operator: Operator) -> Operator:
        before = len(self._program.operators)
        result = super().__call__(operator)
        for i, again in enumerate(self._program.operators[before:], before):
            function = again.function
            self._program.operators[i] = replace(
                again, function=lambda *x, f=function: np.nextafter(f(*x), np.float32(9))
            )
        return result


class ReadsTheWrongVariable(Recomputation):
    """A gradient reads the replayed output of an operator in place of its input."""

    def __call__(self, operator: Operator) -> Operator:
        result = super().__call__(operator)
        first = result.inputs[0]
        is_same = first.shape == result.outputs[0].shape and not first.persistable
        return replace(result, inputs=(result.outputs[0], *result.inputs[1:])) if is_same else result


@pytest.mark.parametrize("faulty", [ReplaysAnotherFunction, ReadsTheWrongVariable])
def test_a_faulty_replay_is_rejected(faulty: type[Recomputation]) -> None:
    assert rejected(bits_of_plain_training, faulty, plans())


def test_dropout_replays_its_mask_and_one_that_draws_anew_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    drops = plans().map(
        lambda plan: replace(plan, layers=tuple(replace(x, kind="dropout", reads=x.reads[:1]) for x in plan.layers))
    )
    assert not rejected(bits_of_plain_training, Recomputation, drops)

    def forgetful(probability: float, seed: int) -> Callable[..., Any]:
        generator = np.random.default_rng(seed)
        return lambda x, run_number: x * (generator.random(x.shape) >= probability).astype(x.dtype)

    monkeypatch.setattr(operators, "dropout", forgetful)
    assert rejected(bits_of_plain_training, Recomputation, drops)


# Memory.

LAYERS, CHECKPOINTS = 64, 8
CHAIN_BATCH, CHAIN_WIDTH = 256, 16


def chain(
    recompute: bool, count: int = LAYERS, every: int = LAYERS // (CHECKPOINTS + 1)
) -> tuple[Executor, Program, Variable]:
    with fresh() as (main, startup):
        outputs = [layers.data("x", [CHAIN_BATCH, CHAIN_WIDTH])]
        for _ in range(count):
            outputs.append(layers.fc(outputs[-1], CHAIN_WIDTH, act="tanh"))
        loss = layers.mean(outputs[-1])
        optimizer: Any = SGD(0.1)
        if recompute:
            optimizer = RecomputeOptimizer(optimizer)
            optimizer._set_checkpoints(outputs[1 + every :: every][:CHECKPOINTS])
        optimizer.minimize(loss)
    executor = Executor()
    executor.run(startup)
    return executor, main, loss


def peaks(recompute: bool) -> tuple[int, int, Any]:
    """Peak of live bytes as the executor counts them and as the allocator saw them, and the loss."""
    executor, program, loss = chain(recompute)
    feed = {"x": np.random.default_rng(0).standard_normal((CHAIN_BATCH, CHAIN_WIDTH)).astype("float32")}
    tracemalloc.start()
    try:
        fetched = executor.run(program, feed, [loss])
        allocated = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return executor.peak_bytes, allocated, fetched


def test_a_chain_of_64_layers_with_8_checkpoints_needs_at_most_0_3_of_the_memory() -> None:
    counted, allocated, plain_loss = peaks(recompute=False)
    counted_again, allocated_again, loss = peaks(recompute=True)
    assert counted_again <= 0.3 * counted
    assert allocated_again <= 0.3 * allocated
    assert same_bits(plain_loss, loss)


def test_keeping_everything_is_rejected_by_the_memory_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recomputation, "__call__", lambda self, operator: operator)
    assert peaks(recompute=True)[0] > 0.9 * peaks(recompute=False)[0]


def test_only_checkpoints_and_one_segment_are_alive_in_the_backward_pass() -> None:
    """Longer chains with the same segments grow by their checkpoints and by the gradients of their parameters."""
    array = CHAIN_BATCH * CHAIN_WIDTH * 4
    gradients = (CHAIN_WIDTH * CHAIN_WIDTH + CHAIN_WIDTH) * 4
    short, long = (chain(True, count, every=7) for count in (28, 56))
    feed = {"x": np.zeros((CHAIN_BATCH, CHAIN_WIDTH), np.float32)}
    for executor, program, _ in (short, long):
        executor.run(program, feed)
    more = long[0].peak_bytes - short[0].peak_bytes
    assert more <= (56 - 28) // 7 * array + (56 - 28) * gradients


# State and errors.


@BUILDING
@given(plans(), st.integers(1, RUNS - 1))
def test_resume_equals_uninterrupted(plan: Plan, step: int) -> None:
    whole, first, second = (build(plan, recomputing(plan)) for _ in range(3))
    for number, feed in enumerate(feeds(RUNS)):
        whole.executor.run(whole.program, feed)
        if number == step:
            second.executor.scope.values.update(first.executor.scope.values)
            second.executor.runs.update({second.program: number})
            second.optimizer.set_dict(first.optimizer.state_dict())
        part = first if number < step else second
        part.executor.run(part.program, feed)
    assert same_bits(whole.parameters, second.parameters)


def small() -> tuple[Program, Variable, Variable]:
    with fresh() as (main, _):
        hidden = layers.fc(layers.data("x", [None, 2]), 2)
        return main, hidden, layers.mean(hidden)


WRONG: dict[str, tuple[Callable[[Variable, Variable], Any], type[OptimetryError], str]] = {
    "missing": (lambda hidden, loss: None, ArgumentError, "checkpoints are missing"),
    "empty": (lambda hidden, loss: [], ArgumentError, "must be a list of variables"),
    "a variable": (lambda hidden, loss: hidden, ArgumentError, "must be a list of variables"),
    "names": (lambda hidden, loss: ["x"], ArgumentError, "must be a list of variables"),
    "twice": (lambda hidden, loss: [hidden, hidden], ArgumentError, "given twice"),
    "another program": (
        lambda hidden, loss: [small()[1]],
        ProgramError,
        "no forward operator of the program writes it",
    ),
    "a parameter": (
        lambda hidden, loss: hidden.program.all_parameters()[:1],
        ProgramError,
        "no forward operator of the program writes it",
    ),
}


@pytest.mark.parametrize(("checkpoints", "error", "text"), WRONG.values(), ids=WRONG)
def test_wrong_checkpoints_are_named_and_change_nothing(
    checkpoints: Callable[[Variable, Variable], Any], error: type[OptimetryError], text: str
) -> None:
    main, hidden, loss = small()
    before = list(main.operators), dict(main.variables)
    optimizer = RecomputeOptimizer(SGD(0.1))
    marked = checkpoints(hidden, loss)
    with pytest.raises(error, match=text):  # noqa: PT012 - either call may be the wrong one
        if marked is not None:
            optimizer._set_checkpoints(marked)
        optimizer.minimize(loss)
    assert (main.operators, main.variables) == before


def test_what_is_wrapped_must_be_an_optimizer_and_its_state_must_be_its_own() -> None:
    with pytest.raises(ArgumentError, match="RecomputeOptimizer: optimizer = "):
        RecomputeOptimizer(0.1)
    with pytest.raises(StateError):
        RecomputeOptimizer(Adam(0.1)).set_dict({"foreign": np.zeros(1)})
