"""tensorflow 2.21.0 on adam in float32.

Evaluates the documented formula in float64, and compares what tensorflow 2.21.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
parameters = [[-1.0]]  # before the first step
learning_rates = [0.1, 0.1]
grads = [[[-1.0]], [[-0.004000000189989805]]]  # one list a step; None: no gradient
given = [[[-0.8999999761581421]], [[11.00437068939209]]]  # what tensorflow 2.21.0 gave after each step
allowed = [[[5.513444231130956e-07]], [[4.440634618656993e-05]]]  # 2 times the rounding-error bound of float32


from types import SimpleNamespace as State


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def initial_state(self, param):
        return State(**{slot: np.zeros_like(param) for slot in self.slots})

    def update(self, param, grad, state, lr, t):
        moment1 = self.beta1 * state.moment1 + (1 - self.beta1) * grad
        moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
        lr_t = lr * np.sqrt(1 - self.beta2 ** t) / (1 - self.beta1 ** t)
        step = lr_t * moment1 / (np.sqrt(moment2) + self.epsilon)
        return (param - step, State(moment1=moment1, moment2=moment2))


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(beta1=wide(0.9), beta2=wide(0.0), epsilon=wide(1e-08), slots=('moment1', 'moment2'))


def steps():
    params = [array(values) for values in parameters]
    states, counts = [documented.initial_state(param) for param in params], [0] * len(params)
    for grad_lists, lr in zip(grads, learning_rates):
        for i, grad in enumerate(grad_lists):
            if grad is not None:
                counts[i] += 1
                params[i], states[i] = documented.update(params[i], array(grad), states[i], wide(lr), counts[i])
        yield params

row = "{:>4} {:>6} {:>7} {:>24} {:>24} {:>10} {:>10}".format
print(row("step", "tensor", "element", "documented", "given", "difference", "allowed"))
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
print(f"{beyond} of the values above differ by more than rounding can explain")
assert beyond
