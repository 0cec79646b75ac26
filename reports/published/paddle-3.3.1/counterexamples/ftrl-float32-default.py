"""paddle 3.3.1 on ftrl in float32.

Runs the documented rule in float64, and compares what paddle 3.3.1 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace as State

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
hyper = State(l1=wide(0.0), l2=wide(0.5), lr_power=wide(-1.0), slots=('squared_accum', 'linear_accum'))
learning_rates = [0.1]
parameters = [[1.0]]
grads = [[[0.00019999999494757503]]]  # one list a step; None: no gradient
given = [[[-0.00019959981727879494]]]  # the parameters after each step, as paddle 3.3.1 has them
allowed = [[[9.542713200640156e-11]]]  # 2 times the rounding-error bound of float32


def initial_state(self, param):
    return State(**{slot: np.zeros_like(param) for slot in self.slots})


def update(self, param, grad, state, lr, t):
    squared = state.squared_accum + np.square(grad)
    new_rate, old_rate = squared**-self.lr_power, state.squared_accum**-self.lr_power
    linear = state.linear_accum + grad - (new_rate - old_rate) / lr * param
    x = self.l1 * np.sign(linear) - linear
    y = new_rate / lr + 2 * self.l2
    return np.where(np.abs(linear) > self.l1, x / y, 0.0), State(squared_accum=squared, linear_accum=linear)


def array(values):
    return np.asarray(values, dtype=wide)


params = [array(values) for values in parameters]
states, counts, beyond = [initial_state(hyper, param) for param in params], [0] * len(params), 0
row = "{:>4} {:>6} {:>7} {:>24} {:>24} {:>10} {:>10}".format
print(row("step", "tensor", "element", "documented", "given", "difference", "allowed"))
with np.errstate(all="ignore"):
    for step, lr in enumerate(learning_rates):
        for i, grad in enumerate(grads[step]):
            if grad is not None:
                counts[i] += 1
                params[i], states[i] = update(hyper, params[i], array(grad), states[i], wide(lr), counts[i])
            rows = zip(params[i].ravel(), np.ravel(given[step][i]), np.ravel(allowed[step][i]))
            for element, (documented, got, limit) in enumerate(rows):
                apart = abs(documented - got)
                beyond += not apart <= limit and np.isfinite(limit)
                numbers = f"{documented:.17g}", f"{got:.17g}", f"{apart:.3g}", f"{limit:.3g}"
                print(row(step + 1, i, element, *numbers))
print(f"{beyond} of the values above differ by more than rounding can explain")
assert beyond
