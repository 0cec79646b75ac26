"""Resuming from a state dict gives the bits of the run that was not interrupted: every class, at any step."""

import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optimetry.reference as ref
from optimetry.reference.programs import Executor, layers
from optimetry.reference.programs.eager import EagerParameter
from tests.reference.small import fresh

OPTIMIZERS = {
    "SGD": {},
    "Momentum": {"momentum": 0.9, "use_nesterov": True},
    "LarsMomentum": {"momentum": 0.9, "lars_coeff": 0.1},
    "Adagrad": {"epsilon": 1e-2, "initial_accumulator_value": 0.1},
    "DecayedAdagrad": {"decay": 0.5},
    "Adadelta": {"rho": 0.5},
    "Adam": {"beta1": 0.5, "epsilon": 1e-2},
    "Adamax": {"beta2": 0.5},
    "RMSProp": {"momentum": 0.5, "centered": True, "epsilon": 0.1},
    "Ftrl": {"l1": 0.01, "l2": 0.02},
    "Lamb": {"lamb_weight_decay": 0.3},
    "ASGD": {"batch_num": 3, "weight_decay": 0.1},
    "DGCMomentumOptimizer": {"momentum": 0.9, "rampup_begin_step": 2, "rampup_step": 4, "sparsity": [0.25, 0.75]},
}
SINGLE_PRECISION = {"DGCMomentumOptimizer"}
"""Classes without ``multi_precision``."""

SHAPES = {"a": (2, 3), "b": (), "c": (4,)}


def test_every_class_is_tried():
    classes = {getattr(ref, name) for name in ref.__all__ if hasattr(getattr(ref, name), "rule_name")}
    classes |= {ref.ASGD, ref.DGCMomentumOptimizer}
    assert classes == {getattr(ref, name) for name in OPTIMIZERS}


class Run:
    """An optimizer over three parameters, one of which has no gradient now and then."""

    def __init__(self, name, dtype, seed, values=None, state=None):
        rng = np.random.default_rng([seed, 1])
        fresh = {key: rng.standard_normal(shape).astype(dtype) for key, shape in SHAPES.items()}
        self.seed = seed
        self.parameters = [EagerParameter(key, (values or fresh)[key]) for key in SHAPES]
        self.scheduler = ref.StepDecay(0.1, 2, 0.5, automatic=True)
        self.optimizer = getattr(ref, name)(
            learning_rate=self.scheduler,
            parameters=self.parameters,
            grad_clip=ref.GradientClipByGlobalNorm(2.0),
            **OPTIMIZERS[name] | ({} if name in SINGLE_PRECISION else {"multi_precision": True}),
        )
        if state is not None:
            self.optimizer.set_state_dict(state)

    def step(self, number):
        rng = np.random.default_rng([self.seed, 2, number])
        for parameter in self.parameters:
            has_gradient = rng.random() < 0.8
            grad = rng.standard_normal(parameter.shape).astype(parameter.dtype)
            parameter.grad = grad if has_gradient else None
        self.optimizer.step()

    def values(self):
        return {parameter.name: parameter.value for parameter in self.parameters}


def same_bits(here, there):
    assert here.keys() == there.keys()
    for key in here:
        a, b = np.asarray(here[key]), np.asarray(there[key])
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), key


@pytest.mark.parametrize("name", OPTIMIZERS)
@settings(derandomize=True, deadline=None, max_examples=12)
@given(
    before=st.integers(0, 5),
    after=st.integers(1, 4),
    seed=st.integers(0, 2**16),
    dtype=st.sampled_from([np.float16, ml_dtypes.bfloat16, np.float32, np.float64]),
)
def test_an_eager_run_resumes(name, before, after, seed, dtype):
    whole = Run(name, dtype, seed)
    for number in range(before):
        whole.step(number)
    saved = pickle.loads(pickle.dumps((whole.values(), whole.optimizer.state_dict())))
    resumed = Run(name, dtype, seed, *saved)
    same_bits(resumed.optimizer.state_dict(), whole.optimizer.state_dict())
    for number in range(before, before + after):
        whole.step(number)
        resumed.step(number)
    same_bits(resumed.values(), whole.values())
    same_bits(resumed.optimizer.state_dict(), whole.optimizer.state_dict())
    assert whole.scheduler.last_epoch == resumed.scheduler.last_epoch == before + after


def program_run(name):
    """A program with its executor, optimizer and loss."""
    with fresh() as (_, startup):
        x = layers.data("x", [None, 3])
        loss = layers.mean(layers.fc(layers.fc(x, 4, act="tanh"), 1))
        optimizer = getattr(ref, name)(learning_rate=0.1, **OPTIMIZERS[name])
        optimizer.minimize(loss)
    executor = Executor()
    executor.run(startup)
    return executor, optimizer, loss.program


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_program_resumes(name):
    feeds = [{"x": np.random.default_rng(i).standard_normal((2, 3), np.float32)} for i in range(5)]
    executor, optimizer, program = program_run(name)
    for feed in feeds[:2]:
        executor.run(program, feed)
    there, resumed, other = program_run(name)
    there.scope.values.update(executor.scope.values)
    resumed.set_dict(pickle.loads(pickle.dumps(optimizer.state_dict())))
    for feed in feeds[2:]:
        executor.run(program, feed)
        there.run(other, feed)
    same_bits(there.scope.values, executor.scope.values)
    same_bits(resumed.state_dict(), optimizer.state_dict())


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_state_dict_is_a_copy(name, dtype):
    run = Run(name, dtype, 3)
    run.step(0)
    saved = run.optimizer.state_dict()
    kept = {key: np.array(value) for key, value in saved.items()}
    for is_loaded in (False, True):
        if is_loaded:
            run.optimizer.set_state_dict(saved)
        for value in saved.values():
            if isinstance(value, np.ndarray):
                value[...] = 7
        same_bits(run.optimizer.state_dict(), kept)
        saved = run.optimizer.state_dict()
