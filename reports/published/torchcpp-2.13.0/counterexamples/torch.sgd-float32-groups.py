"""torchcpp 2.13.0 on torch.sgd in float32 breaks the law `groups_are_independent`.

The law: a group of parameters is trained by its own options and learning rates, as if alone. The
table compares the two sides that must agree by it.
The last column of the table is what is allowed; the script fails when nothing differs by more.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64

# Run 1: hyperparameters, learning rates, parameters, and what was fed and came back, step by step.
hyper_1 = {'momentum': 0.5, 'dampening': 0.0, 'weight_decay': 0.5, 'nesterov': False, 'maximize': False}
learning_rates_1 = [0.1, 0.1]
parameters_1 = [[1.0]]
fed_1 = [[[0.0]], [[-1.0]]]
after_1 = [[[0.949999988079071]], [[0.9774999618530273]]]

# Run 2: hyperparameters, learning rates, parameters, and what was fed and came back, step by step.
hyper_2 = {'momentum': 0.9, 'dampening': 0.5, 'weight_decay': 0.0, 'nesterov': False, 'maximize': False}
learning_rates_2 = [0.05, 0.05]
parameters_2 = [[1.0]]
fed_2 = [[[0.0]], [[-1.0]]]
after_2 = [[[1.0]], [[1.024999976158142]]]

# Run 3: hyperparameters, learning rates, parameters, and what was fed and came back, step by step.
hyper_3 = {'momentum': 0.5, 'dampening': 0.0, 'weight_decay': 0.5, 'nesterov': False, 'maximize': False}
learning_rates_3 = [0.1]
parameters_3 = [[1.0]]
fed_3 = [[[-1.0]]]
after_3 = [[[1.0499999523162842]]]

first = [[1.0], [1.024999976158142]]
given = [[[0.9750000238418579]], [[0.9653125405311584]]]
allowed = [[[0.0]], [[2.6375080714458527e-07]]]


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
