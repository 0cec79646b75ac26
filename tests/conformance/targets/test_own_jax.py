"""Functions for JAX and Optax of a user are judged by what they compute, and compiled as seldom as can be."""

import numpy as np
import pytest

from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets import for_jax, for_optax
from tests.conformance.judged import assert_rejected
from tests.conformance.targets.test_own import FEW, classes, judged, needs

pytestmark = pytest.mark.usefixtures("miniatures")


@pytest.mark.slow
@needs("jax", "optax")
def test_a_transformation_is_judged_by_what_it_computes():
    mine = classes("jax")
    for ball in (mine.heavy_ball, mine.bare_ball):
        assert judged(for_optax(ball, "momentum"), "momentum").verdict == "conforms"
    assert judged(for_optax(mine.averaging_ball, "momentum"), "momentum").verdict in ("dialect", "diverges")


@needs("jax", "optax")
def test_a_value_that_a_function_refuses_is_not_tried():
    mine = classes("jax")
    ball, descent = for_optax(mine.picky_ball, "momentum"), for_jax(mine.picky_descent, momentum={})
    asked = {"momentum": 0.0, "use_nesterov": True}
    assert ball.unsupported("momentum", asked, "float32") == "picky_ball refuses it: nesterov needs a momentum"
    assert descent.unsupported("momentum", asked, "float32") == "picky_descent refuses it: mass must not be 0"
    assert judged(ball, "momentum").verdict == "conforms"


@needs("jax", "optax")
def test_a_function_that_cannot_be_compiled_is_judged_eagerly_and_says_why():
    target = for_optax(classes("jax").untraceable_sgd, "momentum")
    assert [engine.engine for engine in target.engines()] == ["eager", "tree"]
    assert "TracerBoolConversionError" in target.not_run()["jit"]


@needs("jax", "optax")
def test_python_takes_the_branches_of_what_is_not_compiled():
    """JAX compiled them in every step anew: a chain with `optax.MultiSteps` was judged for more than five minutes."""
    mine = classes("jax")
    eager, compiled = for_optax(mine.branching_sgd, "sgd").engines()[:2]
    gradient, infinite = np.full(3, 0.5, np.float32), np.full(3, np.inf, np.float32)
    for engine in (eager, compiled):
        run = engine.start("sgd", {}, [np.ones(3, np.float32)])
        mine.BRANCHED.clear()
        for grad, expected in ((gradient, 0.5), (infinite, 0.5), (gradient, 0.0)):
            assert run.step([grad], 1.0)[0].tolist() == [expected] * 3
        assert mine.BRANCHED == [False, False] if engine is eager else all(mine.BRANCHED)


@needs("jax", "optax")
def test_what_has_no_branches_runs_as_it_is():
    """What is compiled within a transformation stays so."""
    run = for_optax(classes("jax").compiled_within, "sgd").engines()[0].start("sgd", {}, [np.ones(3, np.float32)])
    classes("jax").TRACED.clear()
    for _ in range(2):
        run.step([np.ones(3, np.float32)], 1.0)
    assert classes("jax").TRACED == []


@needs("jax")
def test_a_triple_is_judged_by_what_it_computes():
    mine = classes("jax")
    assert judged(for_jax(mine.descent, momentum={}), "momentum").verdict == "conforms"
    assert judged(for_jax(mine.damped, momentum={}), "momentum").verdict in ("dialect", "diverges")


@needs("jax")
def test_a_triple_that_compiles_is_traced_once_for_a_shape_and_a_rate():
    """Made anew in each step, it was compiled eight thousand times for eighty cases, in more than five minutes."""
    mine = classes("jax")
    parameters = [np.ones(3, np.float32), np.ones(2, np.float32)]
    run = for_jax(mine.compiled_descent, momentum={}).start("momentum", {"momentum": 0.5}, parameters)
    mine.TRACED.clear()
    for rate in (0.1, 0.1, 0.2, 0.1):
        run.step(parameters, rate)
    assert mine.TRACED == [(3,), (2,), (3,), (2,)]


@pytest.mark.slow
@needs("jax", "optax")
@pytest.mark.parametrize(
    ("make", "each", "all_"),
    [
        (for_optax, "rates_of_each", "rates_of_all"),
        (for_jax, "triple_of_each", "triple_of_all"),
    ],
)
def test_a_norm_of_all_parameters_is_found_in_one_tree_alone(make, each, all_):
    honest, (alone, together) = (
        [engine for engine in make(getattr(classes("jax"), name), "lars_momentum").engines() if engine.engine != "jit"]
        for name in (each, all_)
    )
    verdicts = judge(honest, "lars_momentum", "float32", effort=FEW, seed=0)
    assert [verdict.verdict for verdict in verdicts] == ["conforms", "conforms"]
    assert [verdict.untried for verdict in verdicts] == [[], ["missing gradients"]]
    (verdict,) = judge([alone], "lars_momentum", "float32", effort=FEW, seed=0)
    assert verdict.verdict == "conforms", "every parameter has a state of its own there"
    assert together.engine == "tree"
    assert_rejected([together], "lars_momentum", "float32", FEW)


@needs("jax", "optax")
def test_a_function_of_one_array_has_no_tree():
    mine = classes("jax")
    for target in (for_optax(mine.bare_ball, "momentum"), for_jax(mine.descent, momentum={})):
        assert "tree" not in [engine.engine for engine in target.engines()]
        assert target.not_run()["tree"].startswith("its first step raised TypeError")


@needs("jax", "optax")
def test_one_tree_is_saved_and_resumed():
    tree = for_optax(classes("jax").heavy_ball, "momentum").engines()[-1]
    assert tree.engine == "tree"
    parameters, hyper = [np.ones(2), np.ones((2, 3))], {"momentum": 0.5, "use_nesterov": False}
    before = tree.start("momentum", hyper, parameters)
    reached = before.step(parameters, 0.5)
    after = tree.start("momentum", hyper, reached)
    after.load(before.state())
    ours, theirs = (run.step(parameters, 0.5) for run in (after, before))
    assert [array.tolist() for array in ours] == [array.tolist() for array in theirs]


@needs("jax", "optax")
def test_the_key_of_a_random_generator_is_saved_and_loaded():
    target = for_optax(classes("jax").keyed_sgd, "sgd")
    parameters, grads = [np.ones(3, np.float32)], [np.full(3, 0.5, np.float32)]
    run = target.start("sgd", {}, parameters)
    after = run.step(grads, 0.1)
    resumed = target.start("sgd", {}, after)
    resumed.load(run.state())
    (own,), (again,) = run.step(grads, 0.1), resumed.step(grads, 0.1)
    assert again.tobytes() == own.tobytes()
    assert judged(target, "sgd").verdict == "conforms"
