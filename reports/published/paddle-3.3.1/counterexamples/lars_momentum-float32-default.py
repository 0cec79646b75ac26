"""paddle 3.3.1 on lars_momentum in float32.

Runs the documented rule in float64, and compares what paddle 3.3.1 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace as State

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
hyper = State(momentum=wide(0.9), lars_coeff=wide(0.1), lars_weight_decay=wide(0.0), slots=('velocity',))
learning_rates = [0.1]
parameters = [[1.0]]
grads = [[[-1.0]]]  # one list a step; None: no gradient
given = [[[1.100000023841858]]]  # the parameters after each step, as paddle 3.3.1 has them
allowed = [[[1.2934220498417814e-07]]]  # 2 times the rounding-error bound of float32


def norm(x):
    return np.sqrt(np.sum(np.square(x), initial=0.0))  # not every dtype has a default for no terms


def initial_state(self, param):
    return State(**{slot: np.zeros_like(param) for slot in self.slots})


def update(self, param, grad, state, lr, t):
    param_norm, grad_norm = norm(param), norm(grad)
    scaled = lr * self.lars_coeff * param_norm / (grad_norm + self.lars_weight_decay * param_norm)
    local_lr = np.where((param_norm > 0) & (grad_norm > 0), scaled, lr)
    velocity = self.momentum * state.velocity + local_lr * (grad + self.lars_weight_decay * param)
    return param - velocity, State(velocity=velocity)


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
