"""The expected result of a first step: the rule on the gradients that the program itself yields."""

from typing import Any

import numpy as np

from optimetry.reference.precision import working
from optimetry.reference.programs import Executor, Program, Variable
from optimetry.reference.rules import rule_named


def values(executor: Executor, program: Program) -> dict[str, Any]:
    """Every parameter's value."""
    return {p.name: np.array(executor.scope.get(p.name)) for p in program.all_parameters()}


def expected(rule: str, lr: float, param: Any, grad: Any, **hyper: Any) -> Any:
    """A parameter after its first step, in its own precision."""
    declared = rule_named(rule).of(hyper)
    held = working(param)
    with np.errstate(all="ignore"):
        return np.asarray(declared.update(held, working(grad), declared.initial_state(held), lr, 1)[0])


def run_and_check(
    executor: Executor, program: Program, pairs: list[Any], feed: dict[str, Any], rule: str, lr: float, **hyper: Any
) -> None:
    """Run a program once, and check every parameter of the pairs, bit for bit."""
    before = values(executor, program)
    grads = executor.run(program, feed=feed, fetch_list=[grad for _, grad in pairs])
    after = values(executor, program)
    assert pairs
    assert all(isinstance(grad, Variable) for _, grad in pairs)
    for (parameter, _), grad in zip(pairs, grads, strict=True):
        np.testing.assert_array_equal(
            after[parameter.name], expected(rule, lr, before[parameter.name], grad, **hyper), strict=True
        )
        assert np.any(after[parameter.name] != before[parameter.name]), parameter.name
