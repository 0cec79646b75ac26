"""optax 0.2.8 on papers.madgrad in float64.

Evaluates the documented formula in longdouble, and compares what optax 0.2.8 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.longdouble
parameters = [[1.0]]  # before the first step
learning_rates = [0.1]
grads = [[[1.0]]]  # one list a step; None: no gradient
given = [[[0.8922777795292762]]]  # what optax 0.2.8 gave after each step
allowed = [[[7.709895822893146e-16]]]  # 2 times the rounding-error bound of float64


from types import SimpleNamespace as State


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def initial_state(self, param):
        return State(s=np.zeros_like(param), nu=np.zeros_like(param), x0=param)

    def update(self, param, grad, state, lr, t):
        weight = lr * t ** 0.5
        s = state.s + weight * grad
        nu = state.nu + weight * np.square(grad)
        z = state.x0 - s / (np.cbrt(nu) + self.epsilon)
        return ((1 - self.c) * param + self.c * z, State(s=s, nu=nu, x0=state.x0))


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(c=wide(0.5), epsilon=wide(1e-06), slots=('s', 'nu', 'x0'))


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
