"""DGCMomentumOptimizer as a documented class, its errors, and a run with real processes."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from optimetry.reference import L2Decay
from optimetry.reference.distributed.dgc_momentum import DGCMomentum
from optimetry.reference.distributed.dgc_optimizer import DGCMomentumOptimizer
from optimetry.reference.distributed.training import DGCTraining
from optimetry.reference.errors import ArgumentError, HyperparameterError, OptimetryError, UsageError
from optimetry.reference.programs import Executor, Program, layers
from tests.reference.random_programs import same_bits
from tests.reference.small import fresh

GENERATOR = np.random.default_rng(0)


def test_a_program_takes_the_steps_of_a_single_worker() -> None:
    """Clip, then regularizer, then compression; with a parameter's own regularizer and learning rate."""
    with fresh() as (main, startup):
        attr = layers.ParamAttr(name="w", regularizer=L2Decay(0.25), learning_rate=0.5)
        loss = layers.mean(layers.fc(layers.data("x", [None, 8]), 4, act="tanh", param_attr=attr, bias_attr=False))
        optimizer = DGCMomentumOptimizer(
            0.5, 0.9, 2, 2, [0.5, 0.75], True, local_grad_clip_norm=0.01, num_trainers=1, regularization=L2Decay(9.0)
        )
        _, params_grads = optimizer.minimize(loss)
    executor = Executor()
    executor.run(startup)
    rule = DGCMomentum(
        momentum=0.9,
        rampup_begin_step=2,
        rampup_step=2,
        sparsity=[0.5, 0.75],
        use_nesterov=True,
        local_grad_clip_norm=0.01,
        num_trainers=1,
        regularizer=L2Decay(0.25),
    )
    workers = DGCTraining(rule, [executor.scope.values["w"]], 1)
    for step in range(6):
        feed = {"x": np.random.default_rng(step).standard_normal((4, 8)).astype("float32")}
        grads = executor.run(main, feed, [params_grads[0][1]])
        assert same_bits(workers.step([grads], 0.25), [executor.scope.values["w"]])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_every_dtype_is_kept(dtype: Any) -> None:
    grads = [np.arange(6.0).reshape(2, 3).astype(dtype) for _ in range(2)]
    rule = DGCMomentum(momentum=0.9, rampup_begin_step=1, local_grad_clip_norm=1.0, num_trainers=2)
    workers = DGCTraining(rule, [np.ones((2, 3), dtype)], 2)
    for _ in range(3):
        (param,) = workers.step([[grad] for grad in grads], 0.1)
        assert param.dtype == dtype


def built() -> tuple[Program, Executor, DGCMomentumOptimizer]:
    with fresh() as (main, startup):
        loss = layers.mean(layers.fc(layers.data("x", [None, 8]), 4, act="tanh"))
        optimizer = DGCMomentumOptimizer(0.5, 0.9, 2, 4, [0.5, 0.75])
        optimizer.minimize(loss)
    executor = Executor()
    executor.run(startup)
    return main, executor, optimizer


@pytest.mark.parametrize("step", [1, 2, 3, 6])
def test_resume_equals_uninterrupted(step: int) -> None:
    whole, first, second = built(), built(), built()
    for number in range(8):
        if number == step:
            second[1].scope.values.update(first[1].scope.values)
            second[2].set_dict(first[2].state_dict())
        feed = {"x": np.random.default_rng(number).standard_normal((4, 8)).astype("float32")}
        for main, executor, _ in (whole, first if number < step else second):
            executor.run(main, feed)
    assert same_bits(whole[1].scope.values, second[1].scope.values)


WRONG: dict[str, tuple[Callable[[], Any], type[OptimetryError], str]] = {
    "momentum": (
        lambda: DGCMomentumOptimizer(0.1, 1.0, 0),
        HyperparameterError,
        r"momentum = 1.0, must be in \[0, 1\)",
    ),
    "begin": (lambda: DGCMomentumOptimizer(0.1, 0.9, -1), HyperparameterError, "rampup_begin_step = -1"),
    "rampup": (lambda: DGCMomentumOptimizer(0.1, 0.9, 0, 0), HyperparameterError, "rampup_step = 0"),
    "no sparsity": (lambda: DGCMomentumOptimizer(0.1, 0.9, 0, 1, []), HyperparameterError, r"sparsity = \[\]"),
    "a number": (lambda: DGCMomentumOptimizer(0.1, 0.9, 0, 1, 0.9), HyperparameterError, "sparsity = 0.9"),  # type: ignore[arg-type]
    "sparsity 1": (
        lambda: DGCMomentumOptimizer(0.1, 0.9, 0, 1, [0.5, 1.0]),
        HyperparameterError,
        r"sparsity\[1\] = 1.0",
    ),
    "clip alone": (
        lambda: DGCMomentumOptimizer(0.1, 0.9, 0, local_grad_clip_norm=1.0),
        HyperparameterError,
        "num_trainers = None, must be given with local_grad_clip_norm = 1.0",
    ),
    "clip 0": (
        lambda: DGCMomentumOptimizer(0.1, 0.9, 0, local_grad_clip_norm=0.0, num_trainers=1),
        HyperparameterError,
        "local_grad_clip_norm = 0.0",
    ),
    "no workers": (lambda: DGCMomentumOptimizer(0.1, 0.9, 0, num_trainers=0), HyperparameterError, "num_trainers = 0"),
    "regularizer": (
        lambda: DGCMomentumOptimizer(0.1, 0.9, 0, regularization=0.1),  # type: ignore[arg-type]
        ArgumentError,
        "regularization = 0.1",
    ),
    "other workers": (
        lambda: DGCTraining(DGCMomentum(momentum=0.9, rampup_begin_step=0, num_trainers=3), [np.zeros(2)], 2),
        UsageError,
        "workers = 2, must be 3",
    ),
}


@pytest.mark.parametrize(("make", "error", "text"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_named(make: Callable[[], Any], error: type[OptimetryError], text: str) -> None:
    with pytest.raises(error, match="dgc_momentum: .*" + text):
        make()


@pytest.mark.parametrize("grads", [[[np.zeros(2)]], [[np.zeros(2)], []], [[np.zeros(2)], [np.zeros(3)]]])
def test_gradients_that_do_not_fit_change_nothing(grads: Any) -> None:
    workers = DGCTraining(DGCMomentum(momentum=0.9, rampup_begin_step=0), [np.ones(2)], 2)
    with pytest.raises(UsageError, match="dgc_momentum: gradients of shapes"):
        workers.step(grads, 0.1)
    assert (workers.steps, workers.parameters[0].tolist()) == (0, [1.0, 1.0])


@pytest.mark.slow
def test_four_processes_agree_with_the_simulation_and_send_0_25_percent() -> None:
    """One process for each worker, over gloo: the same bits as `DGCTraining`, and few of them on the wire."""
    pytest.importorskip("torch", reason="the extra torch is not installed")
    from optimetry.accelerated.distributed import run_workers

    shapes, workers, steps = [(400, 500), (500,)], 4, 6
    rule = DGCMomentum(
        momentum=0.9,
        rampup_begin_step=2,
        rampup_step=2,
        sparsity=[0.75, 0.9],
        use_nesterov=True,
        local_grad_clip_norm=10.0,
        num_trainers=workers,
        regularizer=L2Decay(0.01),
    )
    drawn = [
        [[GENERATOR.standard_normal(shape).astype("float32") for shape in shapes] for _ in range(steps)]
        for _ in range(workers)
    ]
    parameters = [GENERATOR.standard_normal(shape).astype("float32") for shape in shapes]
    reports = run_workers(rule, parameters, drawn, 0.1)
    simulation = DGCTraining(rule, parameters, workers)
    for step in range(steps):
        simulation.step([of_worker[step] for of_worker in drawn], 0.1)
    for rank, report in enumerate(reports):
        assert same_bits(report.parameters, simulation.parameters)
        assert report.dense == sum(param.nbytes for param in parameters)
        assert report.sent[:2] == [report.dense] * 2
        assert all(sent <= 0.0025 * report.dense for sent in report.sent[4:])
        assert report.sent[-1] == sum(message.nbytes for message in simulation.sent[rank] if message is not None)
