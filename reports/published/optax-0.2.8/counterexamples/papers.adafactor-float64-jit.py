"""optax 0.2.8 on papers.adafactor in float64.

Evaluates the documented formula in longdouble, and compares what optax 0.2.8 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.longdouble
parameters = [[[[-1.0, -1.0]], [[-1.0, -1.0]]]]  # before the first step
learning_rates = [0.1]
grads = [[[[[0.30000000000000004, -0.5]], [[-0.07, 0.02]]]]]  # one list a step; None: no gradient
given = [[[[[-1.0981402091440602, -0.8993041267046993]], [[-0.8165890382514821, -1.0322606555188887]]]]]  # what optax 0.2.8 gave after each step
allowed = [[[[[7.216457706877699e-16, 6.772368073511162e-16]], [[6.772368073511162e-16, 7.216457706877699e-16]]]]]  # 2 times the rounding-error bound of float64


from types import SimpleNamespace as State


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def initial_state(self, param):
        if param.ndim < 2:
            return State(rows=0.0, columns=0.0, v=np.zeros_like(param))
        return State(rows=np.zeros_like(param[..., :1]), columns=np.zeros_like(param[..., :1, :]), v=0.0)

    def update(self, param, grad, state, lr, t):
        beta = 1 - t ** (-self.c)
        squared = np.square(grad) + self.eps1
        rows, columns, v = (state.rows, state.columns, state.v)
        if grad.ndim > 1:
            rows = beta * rows + (1 - beta) * np.mean(squared, axis=-1, keepdims=True)
            columns = beta * columns + (1 - beta) * np.mean(squared, axis=-2, keepdims=True)
            estimate = rows / np.mean(rows, axis=-2, keepdims=True) * columns
        else:
            estimate = v = beta * v + (1 - beta) * squared
        update = grad / np.sqrt(estimate)
        step = np.maximum(self.eps2, rms(param)) * lr * update / np.maximum(1.0, rms(update) / self.d)
        return (param - step, State(rows=rows, columns=columns, v=v))


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(c=wide(0.8), eps1=wide(1e-30), eps2=wide(0.001), d=wide(1.25), slots=('rows', 'columns', 'v'))


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
