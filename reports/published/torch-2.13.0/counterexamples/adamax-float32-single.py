"""torch 2.13.0 on adamax in float32.

Runs the documented rule in float64, and compares what torch 2.13.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace as State

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
hyper = State(beta1=wide(0.5), beta2=wide(0.999), epsilon=wide(1e-08), slots=('moment', 'inf_norm'))
learning_rates = [0.1]
parameters = [[0.0]]
grads = [[[0.00019999999494757503]]]  # one list a step; None: no gradient
given = [[[-0.09999500215053558]]]  # the parameters after each step, as torch 2.13.0 has them
allowed = [[[9.834780810856606e-08]]]  # 2 times the rounding-error bound of float32


def initial_state(self, param):
    return State(**{slot: np.zeros_like(param) for slot in self.slots})


def update(self, param, grad, state, lr, t):
    moment = self.beta1 * state.moment + (1 - self.beta1) * grad
    inf_norm = np.maximum(self.beta2 * state.inf_norm + self.epsilon, np.abs(grad))
    return param - lr / (1 - self.beta1**t) * (moment / inf_norm), State(moment=moment, inf_norm=inf_norm)


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
