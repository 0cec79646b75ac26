"""A counterexample as a standalone NumPy script: the rule, the inputs, what the target gave, and the difference."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.numerics.agreement import SLACK, Expected
from optimetry.conformance.numerics.arrays import Array
from optimetry.reference.norms import norm
from optimetry.reference.rule import Rule

HEADING = """\
row = "{{:>4}} {{:>6}} {{:>7}} {{:>24}} {{:>24}} {{:>10}} {{:>10}}".format
print(row("step", "tensor", "element", "documented", "given", "difference", "allowed"))
with np.errstate(all="ignore"):
"""
"""How the table of a script begins."""

COMPARED = """\
            for element, (documented, got, limit) in enumerate(rows):
                apart = abs(documented - got)
                beyond += not apart <= limit and np.isfinite(limit)
                numbers = f"{{documented:.17g}}", f"{{got:.17g}}", f"{{apart:.3g}}", f"{{limit:.3g}}"
                print(row(step + 1, i, element, *numbers))
print(f"{{beyond}} of the values above differ by more than rounding can explain")
assert beyond
"""
"""How a script compares the values in ``rows``, and ends."""

TEMPLATE = (
    '''"""{title}

Runs the documented rule in {wide}, and compares what {target} gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace as State

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.{wide}
hyper = State({hyper}slots={slots!r})
learning_rates = {rates}
parameters = {parameters}
grads = {grads}  # one list a step; None: no gradient
given = {given}  # the parameters after each step, as {target} has them
allowed = {allowed}  # {slack:g} times the rounding-error bound of {dtype}


{functions}


def array(values):
    return np.asarray(values, dtype=wide)


params = [array(values) for values in parameters]
states, counts, beyond = [initial_state(hyper, param) for param in params], [0] * len(params), 0
'''
    + HEADING
    + """    for step, lr in enumerate(learning_rates):
        for i, grad in enumerate(grads[step]):
            if grad is not None:
                counts[i] += 1
                params[i], states[i] = update(hyper, params[i], array(grad), states[i], wide(lr), counts[i])
            rows = zip(params[i].ravel(), np.ravel(given[step][i]), np.ravel(allowed[step][i]))
"""
    + COMPARED
)


def script(case: Case, after: Array, oracle: Expected, *, title: str, target: str) -> str:
    """The script's text.

    Args:
        case: a small case.
        after: the target's trajectory, shape (steps, elements).
        oracle: what the documented rule has.
        title: one line on what is shown.
        target: the target's name and version.
    """
    rule = case.rule
    return TEMPLATE.format(
        title=title,
        target=target,
        wide="longdouble" if case.dtype == "float64" else "float64",
        hyper="".join(f"{name}={number(value)}, " for name, value in case.hyper.items()),
        slots=tuple(rule.slots),
        rates=list(case.learning_rates),
        parameters=listed(case.parameters),
        grads=[listed(grads) for grads in case.grads],
        given=[unflattened(case, row) for row in after],
        allowed=[unflattened(case, row) for row in SLACK * oracle.bound.astype(np.float64)],
        slack=SLACK,
        dtype=case.dtype,
        functions="\n\n\n".join(_functions(rule)),
    )


def number(value: Any) -> str:
    """A hyperparameter as the script has it."""
    return f"wide({value!r})" if isinstance(value, float) else repr(value)


def _functions(rule: Rule) -> list[str]:
    needed = [_source(type(rule).initial_state), _source(type(rule).update)]
    return [_source(norm), *needed] if any("norm(" in text for text in needed) else needed


def _source(function: Any) -> str:
    """A function's own text without annotations and docstring: the document's formula as it stands in the reference."""
    text = textwrap.dedent(inspect.getsource(function))
    header, body = text[: text.index(":\n", text.index(") ->")) + 2], text[text.index(":\n", text.index(") ->")) + 2 :]
    if function.__doc__:
        body = body[body.index('"""', body.index('"""') + 3) + 3 :].lstrip("\n")
    names = ", ".join(inspect.signature(function).parameters)
    return f"def {function.__name__}({names}):\n{body.rstrip()}" if header else body


def listed(arrays: Any) -> list[Any]:
    """Arrays as nested lists of numbers."""
    return [None if array is None else array.astype(np.float64).tolist() for array in arrays]


def unflattened(case: Case, row: Array) -> list[Any]:
    """A step of a trajectory as nested lists, one for each parameter."""
    ends = np.cumsum([param.size for param in case.parameters])[:-1]
    parts = np.split(row.astype(np.float64), ends)
    return [part.reshape(param.shape).tolist() for part, param in zip(parts, case.parameters, strict=True)]
