"""tinygrad 0.14.0 on torch.adam in float32 breaks the law `resuming`.

The law: a run resumed from its saved state continues bit for bit. The table compares the two sides
that must agree by it.
The last column of the table is what is allowed; the script fails when nothing differs by more.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64

# What was run: hyperparameters, learning rates, parameters, and what was fed and came back, step by step.
hyper = {'beta1': 0.9, 'beta2': 0.5, 'eps': 0.01, 'weight_decay': 0.0, 'amsgrad': False, 'maximize': False, 'decoupled_weight_decay': False}
learning_rates = [0.1, 0.1]
parameters = [1.0, [0.0010000000474974513]]
fed = [[1.0, [0.0]], [-1.0, [1.0]]]

first = [[0.906201183795929, -0.06268031150102615]]
given = [[[0.906201183795929, -0.06268031895160675]]]
allowed = [[[0.0, 0.0]]]


def steps():
    for row in first:
        yield [np.asarray(row, dtype=wide)]


row = "{:>4} {:>6} {:>7} {:>24} {:>24} {:>10} {:>10}".format
print(row("step", "tensor", "element", "one", "other", "difference", "allowed"))
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
print(f"{beyond} of the values above differ by more than is allowed")
assert beyond
