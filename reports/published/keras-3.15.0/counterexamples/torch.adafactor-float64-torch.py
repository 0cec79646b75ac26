"""keras 3.15.0 on torch.adafactor in float64.

Evaluates the documented formula in longdouble, and compares what keras 3.15.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.longdouble
parameters = [[[0.0]]]  # before the first step
learning_rates = [0.1]
grads = [[[[1.0]]]]  # one list a step; None: no gradient
given = [[[[-0.04980582525133985]]]]  # what keras 3.15.0 gave after each step
allowed = [[[[3.441695293866029e-16]]]]  # 2 times the rounding-error bound of float64


from types import SimpleNamespace as State


def directed(grad, maximize):
    return -grad if maximize else grad


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def initial_state(self, param):
        if param.ndim < 2:
            return State(row_var=0.0, col_var=0.0, variance=np.zeros_like(param))
        return State(row_var=np.zeros_like(param[..., :1]), col_var=np.zeros_like(param[..., :1, :]), variance=0.0)

    def update(self, param, grad, state, lr, t):
        grad, beta2 = (directed(grad, self.maximize), 1 - t ** self.beta2_decay)
        scale = np.maximum(self.eps2, rms(param)) * np.minimum(lr, 1 / t ** 0.5)
        param = param - lr * self.weight_decay * param
        squared = np.square(grad)
        row_var, col_var, variance = (state.row_var, state.col_var, state.variance)
        if grad.ndim > 1:
            row_var = beta2 * row_var + (1 - beta2) * np.mean(squared, axis=-1, keepdims=True)
            col_var = beta2 * col_var + (1 - beta2) * np.mean(squared, axis=-2, keepdims=True)
            estimate = row_var * col_var / np.maximum(np.mean(row_var, axis=-2, keepdims=True), self.eps1)
        else:
            estimate = variance = beta2 * variance + (1 - beta2) * squared
        update = grad / np.maximum(np.sqrt(estimate), self.eps1)
        param = param - scale * update / np.maximum(1.0, rms(update) / self.d)
        return (param, State(row_var=row_var, col_var=col_var, variance=variance))


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(beta2_decay=wide(-0.3), eps1=wide(0.0078125), eps2=wide(0.5), d=wide(1.0), weight_decay=wide(0.0), maximize=False, slots=('row_var', 'col_var', 'variance'))


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
