"""keras 3.15.0 on lamb in float32.

Runs the documented rule in float64, and compares what keras 3.15.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace as State

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
hyper = State(lamb_weight_decay=wide(0.01), beta1=wide(0.9), beta2=wide(0.999), epsilon=wide(1e-06), slots=('moment1', 'moment2'))
learning_rates = [0.1]
parameters = [[1.0]]
grads = [[[0.0]]]  # one list a step; None: no gradient
given = [[[0.9990000128746033]]]  # the parameters after each step, as keras 3.15.0 has them
allowed = [[[2.1457696657714555e-07]]]  # 2 times the rounding-error bound of float32


def norm(x):
    return np.sqrt(np.sum(np.square(x), initial=0.0))  # not every dtype has a default for no terms


def initial_state(self, param):
    return State(**{slot: np.zeros_like(param) for slot in self.slots})


def update(self, param, grad, state, lr, t):
    moment1 = self.beta1 * state.moment1 + (1 - self.beta1) * grad
    moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
    direction = moment1 / (np.sqrt(moment2) + self.epsilon) + self.lamb_weight_decay * param
    param_norm, direction_norm = norm(param), norm(direction)
    ratio = np.where((param_norm > 0) & (direction_norm > 0), param_norm / direction_norm, 1.0)
    return param - lr * ratio * direction, State(moment1=moment1, moment2=moment2)


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
