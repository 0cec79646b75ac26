"""torch 2.13.0 on clip_by_norm in float32.

Evaluates the documented formula in float64, and compares what torch 2.13.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
parameters = [[-1.0]]  # before the first step
fed = [[[-1.0]]]  # one list a step
given = [[[-0.9999990463256836]]]  # what torch 2.13.0 gave after each step
allowed = [[[4.1723296018157806e-07]]]  # 2 times the rounding-error bound of float32


def clip_by_global_norm(grads, limit):
    if not grads:
        return []
    squares = [np.sum(np.square(grad), initial=0.0) for grad in grads]
    divisor = np.maximum(np.sqrt(sum(squares[1:], start=squares[0])), limit)
    return [grad * limit / divisor for grad in grads]


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def feed(self, fed, parameters, state):
        return ([clipped for grad in fed for clipped in clip_by_global_norm([grad], self.clip_norm)], None)


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(clip_norm=wide(1.0))


def steps():
    state = None
    for lists in fed:
        arrays = [array(values) for values in lists]
        results, state = documented.feed(arrays, [array(values) for values in parameters], state)
        yield results

row = "{:>4} {:>6} {:>7} {:>24} {:>24} {:>10} {:>10}".format
print(row("step", "tensor", "element", "documented", "given", "difference", "allowed"))
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
print(f"{beyond} of the values above differ by more than rounding can explain")
assert beyond
