"""paddle 3.3.1 on l2_decay in float64.

Evaluates the documented formula in longdouble, and compares what paddle 3.3.1 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.longdouble
parameters = [[1.0]]  # before the first step
fed = [[[0.0]]]  # one list a step
given = [[[0.009999999776482582]]]  # what paddle 3.3.1 gave after each step
allowed = [[[2.2204481668326813e-18]]]  # 2 times the rounding-error bound of float64


def l2_term(strength, param):
    return strength * param


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def feed(self, fed, parameters, state):
        return ([grad + l2_term(self.regularization_coeff, p) for grad, p in zip(fed, parameters, strict=True)], None)


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(regularization_coeff=wide(0.01))


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
