"""Writes standalone NumPy scripts that show a difference, and makes sure that each shows what was judged."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Sequence
from contextlib import redirect_stdout
from decimal import Decimal
from string import Template
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import IN_ROWS
from optimetry.conformance.judging.counterexamples.source import formula
from optimetry.conformance.laws.law import Difference
from optimetry.conformance.numerics.agreement import SLACK, Expected, shares_of
from optimetry.conformance.numerics.arrays import Array, apart
from optimetry.conformance.numerics.formats import QUAD
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject

Ran = tuple[Case, Array | None]
"""A case that was run, and its trajectory; None where the run did not play the whole case."""

COLUMNS = '"documented", "given"'
"""The names of the two columns that are compared, as the script has them."""

FORMULA = Template('''"""$title

Evaluates the documented formula in $wide, and compares what $target gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.$wide
parameters = $parameters  # before the first step
${inputs}given = $given  # what $target gave after each step
allowed = $allowed  # $slack times the rounding-error bound of $dtype


$functions


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented($hyper)
$loop
''')

RECORDED = Template('''"""$title

$about
The last column of the table is what is allowed; the script fails when nothing differs by more.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.$wide
$runs
first = $first
given = $second
allowed = $allowed


def steps():
    for row in first:
        yield [np.asarray(row, dtype=wide)]

''')

TABLE = Template("""
row = "{:>4} {:>6} {:>7} {:>24} {:>24} {:>10} {:>10}".format
print(row("step", "tensor", "element", $columns, "difference", "allowed"))
beyond = 0
with np.errstate(all="ignore"):
    for step, results in enumerate(steps()):
        for i, result in enumerate(results):
            rows = zip(np.ravel(result), np.ravel(given[step][i]), np.ravel(allowed[step][i]))
            for element, (value, got, limit) in enumerate(rows):
                apart = abs(value - got)
                beyond += not apart <= limit and np.isfinite(limit)
                numbers = f"{value:.17g}", f"{got:.17g}", f"{apart:.3g}", f"{limit:.3g}"
                print(row(step + 1, i, element, *numbers))
print(f"{beyond} of the values above $differ")
assert beyond
""")

REPEATED = re.compile(r"(?<=[\[ ])([^\[\], ]+)(?:, \1){99,}(?=[,\]])")
"""The same number, many times one after the other in a list."""

RULE_INPUTS = Template("""learning_rates = $rates
grads = $grads  # one list a step; None: no gradient
""")

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

WRAPPER_INPUTS = Template("""fed = $grads  # one list a step
""")

WRAPPER_LOOP = """

def steps():
    state = None
    for lists in fed:
        arrays = [array(values) for values in lists]
        results, state = documented.feed(arrays, [array(values) for values in parameters], state)
        yield results"""

RUN = Template("""
# $which: hyperparameters, learning rates, parameters, and what was fed and came back, step by step.$lying
hyper$number = $hyper
learning_rates$number = $rates
parameters$number = $parameters
fed$number = $grads
$after""")


def script(case: Case, after: Array, oracle: Expected, *, title: str, target: str) -> str | None:
    """Write a script that evaluates the documented formula, and compares a target's results with it.

    Where a comparison in the formula lies within rounding, the script may decide it otherwise than the oracle, which
    allows for both; so a script that does not show the same differences is replaced by the oracle's numbers.

    Args:
        case: a small case.
        after: the target's trajectory, shape (steps, elements).
        oracle: the expected value of the documented subject.
        title: one line on what is shown.
        target: the target's name and version.

    Returns:
        The text; None in the improbable case that no script shows what was judged.
    """
    beyond = int(np.count_nonzero(shares_of(after, oracle) > SLACK))
    text = _shorter(_of_formula(case, after, oracle, title=title, target=target))
    if run_script(text) == beyond:
        return text
    about = f"Compares what {target} gave with the documented formula, as optimetry has evaluated it."
    shown = Difference.of("", oracle.value, after, np.where(oracle.known, SLACK * oracle.bound, np.inf))
    text = _shorter(_recorded(shown, [(case, after)], COLUMNS, dtype=case.dtype, title=title, about=about))
    return text if run_script(text) == beyond else None


def script_of_law(difference: Difference, ran: Sequence[Ran], *, dtype: str, title: str, about: str) -> str | None:
    """Write a script that compares two runs which a law says must agree.

    Args:
        difference: the difference between them.
        ran: all that was run to find it, with trajectories where there are any.
        dtype: of the runs.
        title: one line on what is shown.
        about: what the law says.

    Returns:
        The text; None where the difference is one of bits that no number shows, such as the sign of a zero.
    """
    text = _shorter(_recorded(difference, ran, '"one", "other"', dtype=dtype, title=title, about=about))
    return text if run_script(text) else None


def _shorter(text: str) -> str:
    """Write a number that stands a hundred times or more in a list as ``*[0.5] * 100``."""
    return REPEATED.sub(lambda found: f"*[{found[1]}] * {found[0].count(',') + 1}", text)


def run_script(text: str) -> int:
    """Run a script in this process, and return how many of the differences that its table shows are too large."""
    names: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        try:
            exec(compile(text, "counterexample", "exec"), names)
        except AssertionError:
            return 0
    return int(names["beyond"])


def _of_formula(case: Case, after: Array, oracle: Expected, *, title: str, target: str) -> str:
    subject = subject_of(case)
    hyper = [f"{name}={_number(value)}" for name, value in case.hyper.items()]
    methods: tuple[str, ...] = ("feed",)
    inputs, loop = WRAPPER_INPUTS, WRAPPER_LOOP
    if isinstance(subject, RuleSubject):
        methods, inputs, loop = ("initial_state", "update"), RULE_INPUTS, RULE_LOOP
        hyper.append(f"slots={subject.declaration.slots!r}")
    allowed = np.where(np.isfinite(oracle.value), SLACK * oracle.bound, np.inf)
    head = FORMULA.substitute(
        title=_escaped(title),
        target=_escaped(target),
        wide=_wide(case.dtype),
        parameters=_listed(case.parameters),
        inputs=inputs.substitute(rates=list(case.learning_rates), grads=[_listed(grads) for grads in case.grads]),
        given=_steps(case, after),
        allowed=_steps(case, allowed),
        slack=f"{SLACK:g}",
        dtype=case.dtype,
        functions=formula(subject.declaration, *methods),
        hyper=", ".join(hyper),
        loop=loop,
    )
    return head + TABLE.substitute(columns=COLUMNS, differ="differ by more than rounding can explain")


def _recorded(difference: Difference, ran: Sequence[Ran], columns: str, *, dtype: str, title: str, about: str) -> str:
    second, allowed = difference.second, np.broadcast_to(difference.allowed, difference.second.shape)
    runs = [_run(case, after, str(i) if len(ran) > 1 else "") for i, (case, after) in enumerate(ran, 1)]
    head = RECORDED.substitute(
        title=_escaped(title),
        about="\n".join(map(_escaped, textwrap.wrap(about, 100))),
        wide=_wide(dtype),
        runs="".join(runs),
        first=_rows(difference.first),
        second=[[row] for row in second.astype(np.float64).tolist()],
        allowed=[[row] for row in allowed.astype(np.float64).tolist()],
    )
    return head + TABLE.substitute(columns=columns, differ="differ by more than is allowed")


def _run(case: Case, after: Array | None, number: str) -> str:
    gave = "" if after is None else f"after{number and f'_{number}'} = {_steps(case, after)}\n"
    return RUN.substitute(
        which=f"Run {number}" if number else "What was run",
        number=number and f"_{number}",
        lying="" if case.layouts == IN_ROWS else f"\n# In memory, {case.lying}.",
        hyper=case.hyper,
        rates=list(case.learning_rates),
        parameters=_listed(case.parameters),
        grads=[_listed(grads) for grads in case.grads],
        after=gave,
    )


def _escaped(text: str) -> str:
    """Escape what may not stand in a docstring, or would end it or a comment, as a target's name may have it."""
    plain = "".join(char if char.isprintable() and char != "\\" else repr(char)[1:-1] for char in text)
    return plain.replace('"""', r"\"\"\"")


def _wide(dtype: str) -> str:
    return "longdouble" if dtype == "float64" else "float64"


def _rows(values: Any) -> list[Any]:
    """Return the rows of a trajectory as lists, of decimals where a Python number is too narrow."""
    if values.dtype != QUAD:
        return values.astype(np.float64).tolist()  # type: ignore[no-any-return]
    return [[f"{Decimal(str(number)):E}" for number in row] for row in values]


def _number(value: Any) -> str:
    """Write a hyperparameter for the script."""
    return f"wide({value!r})" if isinstance(value, float) else repr(value)


def _listed(arrays: Any) -> list[Any]:
    """Return arrays as nested lists of numbers."""
    return [None if array is None else array.astype(np.float64).tolist() for array in arrays]


def _steps(case: Case, rows: Any) -> list[list[Any]]:
    """Return the parameters after each step of a trajectory as such lists."""
    return [_listed(apart(row, case.parameters)) for row in rows]
