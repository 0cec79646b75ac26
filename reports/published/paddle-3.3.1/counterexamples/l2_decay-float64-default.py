"""paddle 3.3.1 on l2_decay in float64.

Evaluates the documented formula in longdouble, and compares what paddle 3.3.1 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.longdouble
hyper = SimpleNamespace(regularization_coeff=wide(0.01))
parameters = [[1.0]]  # before the first step
fed = [[[0.0]]]  # one list a step
given = [[[0.009999999776482582]]]  # what paddle 3.3.1 gave after each step
allowed = [[[2.2204481668326813e-18]]]  # 2 times the rounding-error bound of float64


def feed(hyper, fed, parameters, past):
    return [grad + hyper.regularization_coeff * param for grad, param in zip(fed, parameters)]


def arrays(lists):
    return [np.asarray(values, dtype=wide) for values in lists]


beyond, past = 0, []
row = "{:>4} {:>6} {:>7} {:>24} {:>24} {:>10} {:>10}".format
print(row("step", "tensor", "element", "documented", "given", "difference", "allowed"))
with np.errstate(all="ignore"):
    for step, lists in enumerate(fed):
        past.append(arrays(lists))
        for i, result in enumerate(feed(hyper, past[-1], arrays(parameters), past)):
            rows = zip(np.ravel(result), np.ravel(given[step][i]), np.ravel(allowed[step][i]))
            for element, (documented, got, limit) in enumerate(rows):
                apart = abs(documented - got)
                beyond += not apart <= limit and np.isfinite(limit)
                numbers = f"{documented:.17g}", f"{got:.17g}", f"{apart:.3g}", f"{limit:.3g}"
                print(row(step + 1, i, element, *numbers))
print(f"{beyond} of the values above differ by more than rounding can explain")
assert beyond
