"""torch 2.13.0 on adam in float32.

Runs the documented rule in float64, and compares what torch 2.13.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace as State

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
hyper = State(beta1=wide(0.0), beta2=wide(0.999), epsilon=wide(0.01), slots=('moment1', 'moment2'))
learning_rates = [0.1]
parameters = [[1.0]]
grads = [[[1.0]]]  # one list a step; None: no gradient
given = [[[0.9009901285171509]]]  # the parameters after each step, as torch 2.13.0 has them
allowed = [[[1.0967893100880794e-05]]]  # 2 times the rounding-error bound of float32


def initial_state(self, param):
    return State(**{slot: np.zeros_like(param) for slot in self.slots})


def update(self, param, grad, state, lr, t):
    moment1 = self.beta1 * state.moment1 + (1 - self.beta1) * grad
    moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
    lr_t = lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)
    step = lr_t * moment1 / (np.sqrt(moment2) + self.epsilon)
    return param - step, State(moment1=moment1, moment2=moment2)


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
