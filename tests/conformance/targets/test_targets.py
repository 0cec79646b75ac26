"""The adapters of the frameworks: each test runs for those that are installed, and says which are not."""

import importlib
import itertools
import re
from dataclasses import replace
from importlib.util import find_spec

import ml_dtypes
import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.keras.backend import Backend
from optimetry.conformance.targets.loading import builtin_names, load_target
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetError, UnknownOptimizerError
from optimetry.reference.rules import RULES

DTYPES = {"bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
SHAPES = ((), (0,), (3,))  # each takes JAX some seconds to compile for, so all tests share them
FEW_RULES = ("sgd", "adam", "rmsprop")
HYPER = {"batch_num": 2, "epsilon": 0.01, "l1": 0.1, "l2": 0.3, "weight_decay": 0.1, "max": 1.0, "min": -1.0}
"""What differs from the documented default, or the first corner where there is none."""


def module_of(name):
    """The module of an adapter; skips the test where the framework is not installed."""
    row = FRAMEWORKS[name]
    if row.program:
        pytest.skip(f"{name} is a program: its runs are tested in a file of its own")
    if row.python:
        pytest.skip(f"{name} needs Python {row.python}: its runs are tested in a file of its own")
    if find_spec(row.module) is None:
        pytest.skip(f"{row.module} is not installed")
    return importlib.import_module(f"optimetry.conformance.targets.{name}.target")


def hyper_of(subject):
    known = SUBJECTS[subject].declaration.typical().hyper()
    return known | {name: value for name, value in HYPER.items() if name in known}


def offered(target, dtype):
    """Every rule that an engine offers in a dtype, with hyperparameters."""
    asked = {optimizer: hyper_of(optimizer) for optimizer in RULES}
    return {optimizer: hyper for optimizer, hyper in asked.items() if not target.unsupported(optimizer, hyper, dtype)}


def arrays(seed, dtype, shapes=SHAPES):
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.normal(size=shape)).astype(dtype) for shape in shapes]


def bits(parameters):
    return [parameter.tobytes() for parameter in parameters]


def judged(engine, optimizer, dtype, cases):
    """The verdict on one engine."""
    (verdict,) = judge([engine], optimizer, dtype, effort=Effort("tiny", cases, 0), seed=0)
    return verdict


each_framework = pytest.mark.parametrize("name", FRAMEWORKS)


@each_framework
def test_subjects_stand_in_the_table_or_are_absent_with_a_reason(name):
    target = module_of(name).target
    assert set(target.offers) | set(target.absent) <= set(SUBJECTS)
    assert not set(target.offers) & set(target.absent)
    for subject in SUBJECTS:
        reason = target.unsupported(subject, hyper_of(subject), "float32")
        assert (reason is None) == (subject in target.offers), subject
        assert reason is None or (reason == target.absent.get(subject, reason) and name in reason)


@pytest.mark.parametrize("name", builtin_names())
def test_what_stands_in_no_table_is_never_offered(name):
    """Whatever its hyperparameters: a wrapper that is not known must not pass for one that changes nothing."""
    if name in FRAMEWORKS and FRAMEWORKS[name].program:
        pytest.skip(f"{name} is a program, which is never asked for what it does not list")
    try:
        engines = engines_of(load_target(name))
    except TargetError as error:
        pytest.skip(str(error))
    hyper = {"clip_norm": 1.0, "decay": 0.9, "max": 1.0, "min": -1.0, "momentum": 0.9, "regularization_coeff": 0.1}
    for engine, unknown in itertools.product(engines, ("unknown_rule", "unknown_wrapper", "target", "kernel")):
        if hasattr(engine, "unsupported"):
            assert unknown in engine.unsupported(unknown, hyper, "float32")
        for start in (engine.start, engine.start_wrapper):
            with pytest.raises((ValueError, UnknownOptimizerError), match=unknown):
                start(unknown, hyper, [np.zeros(2, np.float32)])


@each_framework
def test_what_is_not_offered_raises_with_the_reason(name):
    for engine in engines_of(module_of(name).target):
        for subject in SUBJECTS:
            reason = engine.unsupported(subject, hyper_of(subject), "float32")
            if reason is not None:
                with pytest.raises(ValueError, match=re.escape(f"{subject}: {reason}")):
                    engine.start(subject, hyper_of(subject), [np.zeros(2, np.float32)])


def words(names):
    return (names,) if isinstance(names, str) else names


def table_of(name):
    """The module of a framework's table; skips the test where that needs the framework and it is not installed."""
    if not FRAMEWORKS[name].apart:
        module_of(name)
    table = f"optimetry.conformance.targets.{name}.table"
    if find_spec(table) is None:
        pytest.skip(f"{name} has the table of another release")
    return importlib.import_module(table)


@each_framework
def test_every_hyperparameter_is_passed_and_every_slot_is_documented(name):
    table = table_of(name)
    absent = set(getattr(table, "ABSENT", {}))
    assert set(table.OFFERS) | absent <= set(SUBJECTS)
    assert not set(table.OFFERS) & absent
    engines = getattr(table, "ENGINES", {"default": table.OFFERS})
    for optimizer, entry in [row for offers in engines.values() for row in offers.items()]:
        subject = SUBJECTS[optimizer]
        if not isinstance(subject, RuleSubject):
            continue
        declared = {hyperparameter.name for hyperparameter in subject.hyperparameters()}
        assert set(entry.slots) <= {*subject.declaration.slots, "momentum_buffer", "step"}, optimizer
        if not hasattr(entry, "arguments"):  # an operator, called with all of them
            continue
        renamed = getattr(entry, "names", {})
        arguments = entry.arguments.values() if isinstance(entry.arguments, dict) else entry.arguments
        passed = {word for name in arguments for word in words(renamed.get(name, name))}
        passed |= {chosen for chosen, _ in getattr(entry, "words", {}).values()}
        assert passed | set(entry.pinned) == declared, optimizer
        assert not passed & set(entry.pinned), optimizer


@pytest.mark.parametrize("dtype", DTYPES)
@each_framework
def test_the_protocol_is_kept_for_0d_and_empty_parameters(name, dtype):
    """`trajectory` raises where a shape or dtype is not kept, or an input is changed."""
    optimizers = 0
    start, *grads = (tuple(arrays(seed, DTYPES[dtype])) for seed in range(3))
    for engine in engines_of(module_of(name).target):
        for optimizer, hyper in offered(engine, dtype).items():
            if dtype != "float32" and optimizer not in FEW_RULES:
                continue
            case = Case(optimizer, dtype, hyper, (0.1, 0.03), start, tuple(grads))
            after = trajectory(engine, case, Guard())
            assert np.isfinite(after.astype(np.float64)).all(), optimizer
            if dtype != "bfloat16":  # whose numbers are too far apart for some rules to move them at all
                assert (after[-1] != np.concatenate([array.reshape(-1) for array in start])).any(), optimizer
            optimizers += 1
    assert optimizers > 0 or dtype not in FRAMEWORKS[name].dtypes


@each_framework
def test_a_parameter_without_a_gradient_keeps_its_bits_and_its_count(name):
    start, *grads = (arrays(seed, np.float32, ((3,), (3,))) for seed in range(5))
    for engine in engines_of(module_of(name).target):
        for optimizer, hyper in offered(engine, "float32").items():
            gap = engine.start(optimizer, hyper, start)
            before = gap.step(grads[0], 0.1)
            after = gap.step([None, grads[1][1]], 0.1)
            assert bits(after[:1]) == bits(before[:1]), optimizer
            assert bits(after[1:]) != bits(before[1:]), optimizer
            assert bits(gap.step([None, None], 0.1)) == bits(after), optimizer
            first = gap.step(grads[2], 0.1)[0]

            without = engine.start(optimizer, hyper, start)
            without.step(grads[0], 0.1)
            assert without.step(grads[2], 0.1)[0].tobytes() == first.tobytes(), optimizer


@each_framework
def test_a_run_resumes_bit_for_bit(name):
    start, *grads = (arrays(seed, np.float32, ((3,), (3,))) for seed in range(5))
    resumed = 0
    for engine in engines_of(module_of(name).target):
        for optimizer, hyper in offered(engine, "float32").items():
            run = engine.start(optimizer, hyper, start)
            if not hasattr(run, "load"):
                continue
            resumed += 1
            run.step(grads[0], 0.1)
            reached = run.step([grads[1][0], None], 0.1)
            again = engine.start(optimizer, hyper, reached)
            again.load(run.state())
            expected = bits(run.step(grads[2], 0.03))
            assert bits(again.step(grads[2], 0.03)) == expected, optimizer
            if run.state() and optimizer != "sgd":
                assert bits(engine.start(optimizer, hyper, reached).step(grads[2], 0.03)) != expected, optimizer
    if not resumed:
        pytest.skip(f"no run of {name} can be resumed")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_asgd_of_paddle_differs_in_nothing_but_what_it_remembers_of_decay(dtype, monkeypatch):
    paddle = module_of("paddle").target
    offers = paddle.unsupported

    def unsupported(optimizer, hyper, dtype):
        remembers = hyper["batch_num"] > 1 and hyper["weight_decay"] > 0
        return "left out here" if remembers else offers(optimizer, hyper, dtype)

    monkeypatch.setattr(paddle, "unsupported", unsupported, raising=False)
    assert judged(paddle, "asgd", dtype, 40).verdict == "conforms"


def test_a_wrong_mapping_is_rejected(monkeypatch):
    module = module_of("torch")
    swapped = replace(module.OFFERS["adam"], arguments={"betas": ("beta2", "beta1"), "eps": "epsilon"})
    monkeypatch.setitem(module.OFFERS, "adam", swapped)
    assert judged(module.TorchTarget("single"), "adam", "float32", cases=12).verdict == "diverges"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_optax_compiled_with_numbers_as_arguments_gives_the_bits_of_constants(dtype):
    module = module_of("optax")
    import jax

    from optimetry.conformance.targets.optax.rules import update

    start, *grads = (arrays(seed, dtype, ((3,),))[0] for seed in range(4))
    for optimizer, hyper in offered(module.OptaxTarget("jit"), dtype).items():
        run = module.OptaxTarget("jit").start(optimizer, hyper, [start])
        entry, keywords = module.OFFERS[optimizer], module.OFFERS[optimizer].keywords(hyper)
        with jax.enable_x64(True):

            def constant(parameter, grad, state, entry=entry, keywords=keywords):
                return update(entry.cls, {}, parameter, grad, state, 0.1, keywords)

            parameter = jax.numpy.array(start)
            state, compiled = entry.cls(0.1, **keywords).init(parameter), jax.jit(constant)
            for grad in grads:
                parameter, state = compiled(parameter, jax.numpy.asarray(grad), state)
                assert run.step([grad], 0.1)[0].tobytes() == np.asarray(parameter).tobytes(), optimizer


def test_a_state_of_optax_begins_with_the_learning_rate_of_its_first_gradient():
    """Which Rprop takes for its first step size; Optax makes that step one update later."""
    module = module_of("optax")
    start, grad = np.array([3.0], np.float32), np.array([1.0], np.float32)
    steps = ([grad, None], 0.5), ([grad, grad], 0.25), ([grad, grad], 1.0)
    for engine in engines_of(module.target):
        run = engine.start("torch.rprop", SUBJECTS["torch.rprop"].of({"etaplus": 1.2}).hyper(), [start, start])
        after = np.array([run.step(grads, rate) for grads, rate in steps])
        assert after[..., 0] == pytest.approx(np.array([[3, 3], [2.5, 3], [1.9, 2.75]]))


def test_optax_leaves_the_configuration_of_jax_as_it_was():
    module = module_of("optax")
    import jax

    before = jax.config.jax_enable_x64
    for engine in engines_of(module.target):
        engine.start("sgd", {}, [np.ones(2)]).step([np.ones(2)], 0.1)
        assert jax.config.jax_enable_x64 == before


def test_a_keras_process_that_ends_is_an_error_and_the_next_run_has_another():
    module = module_of("keras")
    target, start = module.KerasTarget("numpy"), [np.ones(2, np.float32)]
    lost = target.start("sgd", {}, start)
    Backend.of("numpy")._process.kill()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the process of its numpy backend ended with status -9"):
            lost.step(start, 0.5)
    assert target.start("sgd", {}, start).step(start, 0.5)[0].tolist() == [0.5, 0.5]


def test_what_keras_raises_comes_back_as_an_error_and_the_process_lives_on():
    module = module_of("keras")
    target, start = module.KerasTarget("numpy"), [np.ones(2, np.float32)]
    with pytest.raises(RuntimeError, match="ValueError: `l1_regularization_strength`"):
        target.start("ftrl", hyper_of("ftrl") | {"l1": -1.0}, start)
    assert target.start("sgd", {}, start).step(start, 0.5)[0].tolist() == [0.5, 0.5]


def test_keras_forgets_the_runs_that_are_over():
    module = module_of("keras")
    target, start = module.KerasTarget("numpy"), [np.ones(2, np.float32)]
    run = target.start("sgd", {}, start)
    number, backend = run._number, run._backend
    del run
    target.start("sgd", {}, start)
    with pytest.raises(RuntimeError, match=f"KeyError: {number}"):
        backend.ask("state", number, ())


def test_what_jax_compiles_for_one_rule_after_the_other_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from optimetry.conformance.targets.jax_caches import MOST, Caches

    cleared: list[int] = []
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(number))
    caches = Caches()
    for number in range(3 * MOST):
        for _ in range(3):
            caches.used("adam", f"dtype {number}")
    assert cleared == [MOST, 2 * MOST]
