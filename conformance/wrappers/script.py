"""A wrapper's counterexample as a standalone NumPy script: the formula, the inputs, what the target gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from optimetry.conformance.judging.evidence import COMPARED, HEADING, listed, number, unflattened
from optimetry.conformance.numerics.agreement import SLACK, Expected
from optimetry.conformance.numerics.arrays import Array

NORM = """def norm(arrays):
    return np.sqrt(sum(np.sum(np.square(array)) for array in arrays))


"""

FORMULAS: Mapping[str, str] = {
    "clip_by_value": """def feed(hyper, fed, parameters, past):
    return [np.clip(grad, hyper.min, hyper.max) for grad in fed]
""",
    "clip_by_norm": NORM
    + """def feed(hyper, fed, parameters, past):
    return [grad * hyper.clip_norm / max(hyper.clip_norm, norm([grad])) for grad in fed]
""",
    "clip_by_global_norm": NORM
    + """def feed(hyper, fed, parameters, past):
    return [grad * hyper.clip_norm / max(hyper.clip_norm, norm(fed)) for grad in fed]
""",
    "l1_decay": """def feed(hyper, fed, parameters, past):
    return [grad + hyper.regularization_coeff * np.sign(param) for grad, param in zip(fed, parameters)]
""",
    "l2_decay": """def feed(hyper, fed, parameters, past):
    return [grad + hyper.regularization_coeff * param for grad, param in zip(fed, parameters)]
""",
    "clip_then_decay": NORM
    + """def feed(hyper, fed, parameters, past):
    clipped = [grad * hyper.clip_norm / max(hyper.clip_norm, norm(fed)) for grad in fed]
    return [grad + hyper.regularization_coeff * param for grad, param in zip(clipped, parameters)]
""",
    "exponential_moving_average": """def feed(hyper, fed, parameters, past):
    averages, product = [0 * array for array in fed], wide(1)
    for step, arrays in enumerate(past):
        decay = min(hyper.decay, wide(1 + step) / (10 + step)) if hyper.scheduled else hyper.decay
        averages = [decay * e + (1 - decay) * w for e, w in zip(averages, arrays)]
        product *= decay
    return [e / (1 - product) for e in averages]
""",
    "model_average": """def feed(hyper, fed, parameters, past):
    previous, current = [], []
    for updates, arrays in enumerate(past, 1):
        current.append(arrays)
        longest = min(hyper.max_average_window, updates * float(hyper.average_window_rate))
        if len(current) >= hyper.min_average_window and len(current) >= longest:
            previous, current = current, []
    windows = previous + current
    return [sum(arrays[i] for arrays in windows) / len(windows) for i in range(len(fed))]
""",
    "dgc_compress": """def feed(hyper, fed, parameters, past):
    return [message([arrays[i] for arrays in past], hyper) for i in range(len(fed))]


def message(gradients, hyper):
    u, v = 0 * gradients[0], 0 * gradients[0]
    for g in gradients:
        u = hyper.momentum * (u + g) if hyper.use_nesterov else hyper.momentum * u + g
        v = v + (u + g if hyper.use_nesterov else u)
        number = min(v.size, max(1, int(v.size * (1 - hyper.sparsity))))
        order = np.argsort(-np.abs(v).reshape(-1), kind="stable")
        taken = np.isin(np.arange(v.size), order[:number]).reshape(v.shape)
        sent, u, v = np.where(taken, v, 0), np.where(taken, 0, u), np.where(taken, 0, v)
    return sent
""",
}
"""What each wrapper gives in one step; ``past`` is all that it was fed so far, this step included."""

TEMPLATE = (
    '''"""{title}

Evaluates the documented formula in {wide}, and compares what {target} gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.{wide}
hyper = SimpleNamespace({hyper})
parameters = {parameters}  # before the first step
fed = {fed}  # one list a step
given = {given}  # what {target} gave after each step
allowed = {allowed}  # {slack:g} times the rounding-error bound of {dtype}


{formula}

def arrays(lists):
    return [np.asarray(values, dtype=wide) for values in lists]


beyond, past = 0, []
'''
    + HEADING
    + """    for step, lists in enumerate(fed):
        past.append(arrays(lists))
        for i, result in enumerate(feed(hyper, past[-1], arrays(parameters), past)):
            rows = zip(np.ravel(result), np.ravel(given[step][i]), np.ravel(allowed[step][i]))
"""
    + COMPARED
)


def script(case: Any, after: Array, oracle: Expected, *, title: str, target: str) -> str:
    """The script's text; arguments as for `optimetry.conformance.judging.evidence.script`."""
    return TEMPLATE.format(
        title=title,
        target=target,
        wide="longdouble" if case.dtype == "float64" else "float64",
        hyper=", ".join(f"{name}={number(value)}" for name, value in case.hyper.items()),
        parameters=listed(case.parameters),
        fed=[listed(fed) for fed in case.grads],
        given=[unflattened(case, row) for row in after],
        allowed=[unflattened(case, row) for row in SLACK * oracle.bound.astype(np.float64)],
        slack=SLACK,
        dtype=case.dtype,
        formula=FORMULAS[case.optimizer],
    )
