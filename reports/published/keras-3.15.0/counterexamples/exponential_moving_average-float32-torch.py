"""keras 3.15.0 on exponential_moving_average in float32.

Evaluates the documented formula in float64, and compares what keras 3.15.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
hyper = SimpleNamespace(decay=wide(0.999), scheduled=False)
parameters = [[0.0]]  # before the first step
fed = [[[1.0]], [[-1.0]]]  # one list a step
given = [[[1.0]], [[0.9980000257492065]]]  # what keras 3.15.0 gave after each step
allowed = [[[0.0001710779080538924]], [[2.6134604850855068e-05]]]  # 2 times the rounding-error bound of float32


def feed(hyper, fed, parameters, past):
    averages, product = [0 * array for array in fed], wide(1)
    for step, arrays in enumerate(past):
        decay = min(hyper.decay, wide(1 + step) / (10 + step)) if hyper.scheduled else hyper.decay
        averages = [decay * e + (1 - decay) * w for e, w in zip(averages, arrays)]
        product *= decay
    return [e / (1 - product) for e in averages]


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
