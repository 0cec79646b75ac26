"""keras 3.15.0 on clip_by_norm in float64.

Evaluates the documented formula in longdouble, and compares what keras 3.15.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.longdouble
hyper = SimpleNamespace(clip_norm=wide(0.1))
parameters = [[0.0]]  # before the first step
fed = [[[-0.01]]]  # one list a step
given = [[[-0.00999999985098839]]]  # what keras 3.15.0 gave after each step
allowed = [[[4.440896333665363e-18]]]  # 2 times the rounding-error bound of float64


def norm(arrays):
    return np.sqrt(sum(np.sum(np.square(array)) for array in arrays))


def feed(hyper, fed, parameters, past):
    return [grad * hyper.clip_norm / max(hyper.clip_norm, norm([grad])) for grad in fed]


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
