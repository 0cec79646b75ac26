"""Makes counterexamples: small cases, and standalone NumPy scripts that show the difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.shrink import shrunk
from optimetry.conformance.judging.source import formula
from optimetry.conformance.laws.law import Law
from optimetry.conformance.laws.variations import shaped
from optimetry.conformance.numerics.agreement import SLACK, Expected, compare
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, hold_contents, trajectory
from optimetry.reference.errors import TargetFault, TargetHung

TEMPLATE = '''"""{title}

Evaluates the documented formula in {wide}, and compares what {target} gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.{wide}
parameters = {parameters}  # before the first step
{inputs}given = {given}  # what {target} gave after each step
allowed = {allowed}  # {slack:g} times the rounding-error bound of {dtype}


{functions}


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented({hyper})
{loop}

row = "{{:>4}} {{:>6}} {{:>7}} {{:>24}} {{:>24}} {{:>10}} {{:>10}}".format
print(row("step", "tensor", "element", "documented", "given", "difference", "allowed"))
beyond = 0
with np.errstate(all="ignore"):
    for step, results in enumerate(steps()):
        for i, result in enumerate(results):
            rows = zip(np.ravel(result), np.ravel(given[step][i]), np.ravel(allowed[step][i]))
            for element, (value, got, limit) in enumerate(rows):
                apart = abs(value - got)
                beyond += not apart <= limit and np.isfinite(limit)
                numbers = f"{{value:.17g}}", f"{{got:.17g}}", f"{{apart:.3g}}", f"{{limit:.3g}}"
                print(row(step + 1, i, element, *numbers))
print(f"{{beyond}} of the values above differ by more than rounding can explain")
assert beyond
'''

RULE_INPUTS = """learning_rates = {rates}
grads = {grads}  # one list a step; None: no gradient
"""

RULE_LOOP = """

def steps():
    params = [array(values) for values in parameters]
    states, counts = [documented.initial_state(param) for param in params], [0] * len(params)
    for grad_lists, lr in zip(grads, learning_rates):
        for i, grad in enumerate(grad_lists):
            if grad is not None:
                counts[i] += 1
                params[i], states[i] = documented.update(params[i], array(grad), states[i], wide(lr), counts[i])
        yield params"""

WRAPPER_INPUTS = """fed = {grads}  # one list a step
"""

WRAPPER_LOOP = """

def steps():
    state = None
    for lists in fed:
        arrays = [array(values) for values in lists]
        results, state = documented.feed(arrays, [array(values) for values in parameters], state)
        yield results"""


def script(case: Case, after: Array, oracle: Expected, *, title: str, target: str) -> str:
    """Write the text of a standalone script.

    Args:
        case: a small case.
        after: the target's trajectory, shape (steps, elements).
        oracle: the expected value of the documented subject.
        title: one line on what is shown.
        target: the target's name and version.
    """
    subject = subject_of(case)
    hyper = [f"{name}={_number(value)}" for name, value in case.hyper.items()]
    methods: tuple[str, ...] = ("feed",)
    inputs, loop = WRAPPER_INPUTS, WRAPPER_LOOP
    if isinstance(subject, RuleSubject):
        methods, inputs, loop = ("initial_state", "update"), RULE_INPUTS, RULE_LOOP
        hyper.append(f"slots={subject.declaration.slots!r}")
    return TEMPLATE.format(
        title=title,
        target=target,
        wide="longdouble" if case.dtype == "float64" else "float64",
        parameters=_listed(case.parameters),
        inputs=inputs.format(rates=list(case.learning_rates), grads=[_listed(grads) for grads in case.grads]),
        given=[_listed(shaped(case, row)) for row in after],
        allowed=[_listed(shaped(case, row)) for row in SLACK * oracle.bound.astype(np.float64)],
        slack=SLACK,
        dtype=case.dtype,
        functions=formula(subject.declaration, *methods),
        hyper=", ".join(hyper),
        loop=loop,
    )


def _number(value: Any) -> str:
    """Write a hyperparameter for the script."""
    return f"wide({value!r})" if isinstance(value, float) else repr(value)


def _listed(arrays: Any) -> list[Any]:
    """Return arrays as nested lists of numbers."""
    return [None if array is None else array.astype(np.float64).tolist() for array in arrays]


def difference(target: Target, case: Case, guard: Guard) -> dict[str, Any]:
    """Shrink a rejected case to a counterexample to the documented subject, with its script."""

    def fails(smaller: Case) -> bool:
        try:
            if reason_unsupported(target, smaller) is not None:
                return False
            return not compare(trajectory(target, smaller, guard), expected(smaller), smaller.form).conforms
        except TargetFault:
            return False

    small = _shrunk(case, fails)
    after, oracle = trajectory(target, small, guard), expected(small)
    worst = compare(after, oracle, small.form)
    assert worst.worst is not None
    step, element = worst.worst
    name = f"{target.name} {target.version}"
    title = f"{name} on {small.optimizer} in {small.dtype}."
    return {
        "case": small.to_json(),
        "step": step + 1,
        "element": element,
        "given": repr(after[step, element].item()),
        "documented": str(oracle.value[step, element]),
        "bound": float(oracle.bound[step, element]),
        "share": worst.share,
        "script": script(small, after, oracle, title=title, target=name),
    }


def lawless(target: Target, law: Law, found: str, case: Case, guard: Guard) -> dict[str, Any]:
    """Shrink the case of a broken law; only the target itself can show it, so there is no script."""

    def fails(smaller: Case) -> bool:
        try:
            return law.broken(target, smaller, guard) is not None
        except TargetFault:
            return False

    small = case if law.slow else _shrunk(case, fails, budget=100)
    return {"case": small.to_json(), "law": law.name, "found": found, "script": None}


def faulty(target: Target, fault: TargetFault, case: Case, guard: Guard) -> dict[str, Any]:
    """Shrink the case of a fault against the protocol; a hang is not repeated."""

    def fails(smaller: Case) -> bool:
        try:
            if reason_unsupported(target, smaller) is not None:
                return False
            hold_contents(target, smaller, guard)
        except TargetFault as again:
            return not isinstance(again, TargetHung)
        return False

    small = case if isinstance(fault, TargetHung) or not fails(case) else _shrunk(case, fails)
    return {"case": small.to_json(), "script": None}


def _shrunk(case: Case, fails: Callable[[Case], bool], **limits: int) -> Case:
    return shrunk(case, fails, subject_of(case).hyperparameters(), **limits)
