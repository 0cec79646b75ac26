"""Pipelines: plain training with one micro-batch in flight, known versions with more, and threads that agree."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimetry.accelerated import pipeline as threads
from optimetry.reference import SGD, ClipGradByGlobalNorm, ExponentialMovingAverage, StepDecay
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import Executor, Variable, default_startup_program, layers
from optimetry.reference.programs import pipeline as pipeline_module
from optimetry.reference.programs.pipeline import PipelineOptimizer
from optimetry.reference.programs.recompute import RecomputeOptimizer
from optimetry.reference.programs.schedule import Turn, turns
from optimetry.reference.programs.traffic import Trace, Traffic
from tests.reference.random_programs import Built, Plan, build, chain, feeds, piped, plans, same_bits
from tests.reference.rejections import BUILDING, rejected
from tests.reference.small import fresh

COUNT = 5
Train = Callable[..., Trace]


def reference(built: Built, *arguments: Any) -> Trace:
    trace: Trace = built.optimizer.train(built.executor, *arguments)
    return trace


def threaded(built: Built, *arguments: Any) -> Trace:
    return threads.train(built.optimizer, built.executor, *arguments)


# One micro-batch in flight.


def plain_training(change: Callable[[pytest.MonkeyPatch], None], plan: Plan, train: Train = reference) -> None:
    """With one micro-batch in flight, losses and parameters have the bits of plain training."""
    plain = build(plan)
    losses = [plain.executor.run(plain.program, feed, [plain.loss]) for feed in feeds(COUNT)]
    with pytest.MonkeyPatch.context() as patch:
        change(patch)
        other = piped(plan)
        trace = train(other, feeds(COUNT), [other.loss])
    assert same_bits(losses, trace.fetched)
    assert same_bits(plain.parameters, other.parameters)


@BUILDING
@given(plans(), st.sampled_from([reference, threaded]))
def test_one_micro_batch_in_flight_is_plain_training(plan: Plan, train: Train) -> None:
    plain_training(lambda patch: None, plan, train)


@BUILDING
@given(plans(min_marks=2))
def test_recomputation_inside_a_pipeline_is_plain_training_too(plan: Plan) -> None:
    def wrap(optimizer: Any, outputs: list[Variable], loss: Variable) -> PipelineOptimizer:
        recompute = RecomputeOptimizer(optimizer)
        recompute._set_checkpoints([outputs[i] for i in plan.marks])
        return PipelineOptimizer(recompute, [[outputs[plan.marks[0]]], [loss]], queue_size=1)

    plain, other = build(plan), build(plan, wrap)
    for feed in feeds(COUNT):
        plain.executor.run(plain.program, feed)
    reference(other, feeds(COUNT))
    assert same_bits(plain.parameters, other.parameters)


def test_a_joint_clip_waits_for_all_gradients() -> None:
    plan = chain(2)
    plain = build(plan, lambda optimizer, outputs, loss: SGD(0.5, grad_clip=ClipGradByGlobalNorm(0.01)))
    other = build(
        plan,
        lambda optimizer, outputs, loss: PipelineOptimizer(
            SGD(0.5, grad_clip=ClipGradByGlobalNorm(0.01)), [[outputs[0]], [outputs[1]], [loss]], queue_size=1
        ),
    )
    for feed in feeds(COUNT):
        plain.executor.run(plain.program, feed)
    reference(other, feeds(COUNT))
    assert same_bits(plain.parameters, other.parameters)
    assert [bool(section.updates) for section in other.optimizer.sections] == [False] * 4 + [True]


@pytest.mark.parametrize("train", [reference, threaded])
def test_what_is_appended_behind_minimize_runs_in_the_pipeline_too(train: Train) -> None:
    """Here an average of the parameters, with a schedule of the learning rate before it."""
    averages = []
    for is_piped in (False, True):
        with fresh():
            hidden = layers.fc(layers.data("x", [None, 3]), 4, act="tanh")
            loss = layers.mean(layers.fc(hidden, 2, act="tanh"))
            plain = SGD(StepDecay(0.5, 2))
            optimizer = PipelineOptimizer(plain, [[hidden], [loss]], queue_size=1) if is_piped else plain
            optimizer.minimize(loss)
            average = ExponentialMovingAverage(0.9, layers.decay_step_counter())
            average.update()
            executor = Executor()
            executor.run(default_startup_program())
        built = Built(loss.program, executor, loss, [], optimizer, [])
        if is_piped:
            train(built, feeds(COUNT))
        for feed in () if is_piped else feeds(COUNT):
            executor.run(loss.program, feed)
        averages.append({key: np.asarray(value) for key, value in average.state_dict().items()} | built.parameters)
    assert same_bits(*averages)


def test_without_cuts_there_is_one_section() -> None:
    plan = chain(1)
    plain, other = build(plan), build(plan, lambda optimizer, outputs, loss: PipelineOptimizer(optimizer))
    assert len(other.optimizer.sections) == 1
    for feed in feeds(COUNT):
        plain.executor.run(plain.program, feed)
    reference(other, feeds(COUNT))
    assert same_bits(plain.parameters, other.parameters)


def test_running_the_program_itself_is_plain_training() -> None:
    plan = chain(3)
    plain, other = build(plan), piped(plan)
    for built in (plain, other):
        for feed in feeds(COUNT):
            built.executor.run(built.program, feed)
    assert same_bits(plain.parameters, other.parameters)


def _two_in_flight(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pipeline_module, "turns", lambda count, concurrency, queue_size: turns(count, concurrency, 2))


def _stale_parameters(patch: pytest.MonkeyPatch) -> None:
    first: dict[str, Any] = {}
    enter = Traffic.enter

    def stale(self: Traffic, turn: Turn) -> None:
        enter(self, turn)
        for parameter in self.sections[turn.section].parameters:
            scope = self.scopes[turn.micro_batch]
            scope.values[parameter.name] = first.setdefault(parameter.name, scope.values[parameter.name])

    patch.setattr(Traffic, "enter", stale)


def _same_mask_for_all(patch: pytest.MonkeyPatch) -> None:
    compute = Traffic.compute

    def masked(self: Traffic, turn: Turn) -> None:
        scope = self.scopes[turn.micro_batch]
        scope.values["run_number"] = np.array(0)
        compute(self, turn)

    patch.setattr(Traffic, "compute", masked)


def _last_updates_lost(patch: pytest.MonkeyPatch) -> None:
    leave = Traffic.leave
    patch.setattr(
        Traffic, "leave", lambda self, turn: leave(self, turn) if turn.section < len(self.sections) - 1 else None
    )


@pytest.mark.parametrize("fault", [_two_in_flight, _stale_parameters, _same_mask_for_all, _last_updates_lost])
def test_a_faulty_pipeline_is_rejected(fault: Callable[[pytest.MonkeyPatch], None]) -> None:
    assert rejected(plain_training, fault, plans())


# Several in flight: which version each micro-batch sees.


def seen(trace: Trace, sections: int) -> list[list[int | None]]:
    """For each section, the version that each micro-batch saw; None where no parameter is read."""
    versions: list[list[int | None]] = []
    for section in range(sections):
        of_section = []
        for micro_batch in range(len({turn.micro_batch for turn in trace.saw})):
            numbers = set(trace.saw[Turn(section, micro_batch)].values())
            assert len(numbers) <= 1
            of_section.append(min(numbers, default=None))
        versions.append(of_section)
    return versions


def versions(shift: int, cuts: int) -> None:
    """In a full pipeline the forward part of section i runs 2(k-1-i)-1 updates behind; its backward part, none."""
    count = 12
    built = piped(chain(cuts - 1), queue_size=30)
    trace = reference(built, feeds(count))
    for section, numbers in enumerate(seen(trace, 2 * cuts - 1)):
        behind = max(0, 2 * (cuts - 1 - section) - 1) + shift
        assert numbers == [max(0, micro_batch - behind) for micro_batch in range(count)]


@pytest.mark.parametrize("cuts", [1, 2, 3, 5])
def test_the_versions_that_micro_batches_see(cuts: int) -> None:
    versions(0, cuts)


def test_versions_that_are_off_by_one_are_rejected() -> None:
    assert rejected(versions, 1, st.sampled_from([1, 2, 3]))


@BUILDING
@given(plans(), st.integers(1, 6), st.data())
def test_every_micro_batch_passes_every_section_once_and_in_order(
    plan: Plan, queue_size: int, data: st.DataObject
) -> None:
    sections = 2 * len(plan.marks) + 1
    concurrency = data.draw(st.lists(st.integers(1, 3), min_size=sections, max_size=sections))
    order = turns(7, concurrency, queue_size)
    assert sorted(order) == [Turn(section, m) for section in range(sections) for m in range(7)]
    for section in range(sections):
        assert [turn.micro_batch for turn in order if turn.section == section] == list(range(7))
    begun, ended = set(), set()
    for turn in order:
        begun.add(turn.micro_batch)
        assert len(begun - ended) <= queue_size
        assert all(Turn(i, turn.micro_batch) in order[: order.index(turn)] for i in range(turn.section))
        if turn.section == sections - 1:
            ended.add(turn.micro_batch)


# Threads.


@BUILDING
@given(plans(), st.integers(1, 6), st.data())
def test_threads_agree_with_the_reference_that_repeats_their_order(
    plan: Plan, queue_size: int, data: st.DataObject
) -> None:
    sections = 2 * len(plan.marks) + 1
    concurrency = data.draw(st.lists(st.integers(1, 2), min_size=sections, max_size=sections))
    real, repeated = (piped(plan, queue_size, concurrency_list=concurrency) for _ in range(2))
    trace = threaded(real, feeds(COUNT), [real.loss])
    again = repeated.optimizer.repeat(repeated.executor, feeds(COUNT), trace.events, [repeated.loss])
    assert same_bits(trace.fetched, again.fetched)
    assert same_bits(real.parameters, repeated.parameters)
    assert trace.saw == again.saw
    entered = [event.turn for event in trace.events if event.kind == "enter"]
    assert sorted(entered) == [Turn(section, m) for section in range(sections) for m in range(COUNT)]
    for section, workers in enumerate(concurrency):
        order = [turn.micro_batch for turn in entered if turn.section == section]
        if workers == 1 and max(concurrency[:section], default=1) == 1:
            assert order == list(range(COUNT))  # queues are first in, first out
    for turn, saw in trace.saw.items():
        if max(concurrency) == 1:
            assert all(turn.micro_batch - version < queue_size for version in saw.values())


def _forgets_an_event(events: list[Any]) -> list[Any]:
    return [event for event in events if event != events[-1]]


def test_a_trace_that_lacks_an_event_is_rejected() -> None:
    real, repeated = (piped(chain(2), 4) for _ in range(2))
    trace = threaded(real, feeds(COUNT))
    repeated.optimizer.repeat(repeated.executor, feeds(COUNT), _forgets_an_event(trace.events))
    assert not same_bits(real.parameters, repeated.parameters)


def test_a_failure_in_a_section_ends_the_threads_and_is_raised() -> None:
    with fresh():
        label = layers.data("label", [None, 1], "int64")
        hidden = layers.fc(layers.data("x", [None, 3]), 2, act="softmax")
        loss = layers.mean(layers.cross_entropy(hidden, label))
        optimizer = PipelineOptimizer(SGD(0.1), [[hidden], [loss]])
        optimizer.minimize(loss)
        executor = Executor()
        executor.run(default_startup_program())
    micro_batches = [{**feed, "label": np.full((4, 1), 7 * (i == 2))} for i, feed in enumerate(feeds(COUNT))]
    with pytest.raises(ArgumentError, match="cross_entropy: label: 7, must be in"):
        threads.train(optimizer, executor, micro_batches)
