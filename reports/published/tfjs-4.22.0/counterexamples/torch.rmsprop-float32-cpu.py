"""tfjs 4.22.0 on torch.rmsprop in float32.

Evaluates the documented formula in float64, and compares what tfjs 4.22.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
parameters = [[1.0]]  # before the first step
learning_rates = [0.1]
grads = [[[0.003000000026077032]]]  # one list a step; None: no gradient
given = [[[0.7995540499687195]]]  # what tfjs 4.22.0 gave after each step
allowed = [[[3.397444290282657e-07]]]  # 2 times the rounding-error bound of float32


from types import SimpleNamespace as State


def with_decay(grad, param, weight_decay):
    return grad + weight_decay * param


def directed(grad, maximize):
    return -grad if maximize else grad


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def initial_state(self, param):
        return State(**{slot: np.zeros_like(param) for slot in self.slots})

    def update(self, param, grad, state, lr, t):
        grad = with_decay(directed(grad, self.maximize), param, self.weight_decay)
        square_avg = self.alpha * state.square_avg + (1 - self.alpha) * np.square(grad)
        grad_avg = self.alpha * state.grad_avg + (1 - self.alpha) * grad if self.centered else state.grad_avg
        variance = square_avg - np.square(grad_avg) if self.centered else square_avg
        root = np.sqrt(variance) + self.eps
        buffer = self.momentum * state.momentum_buffer + grad / root
        step = np.where(self.momentum > 0, lr * buffer, lr * grad / root)
        return (param - step, State(square_avg=square_avg, grad_avg=grad_avg, momentum_buffer=buffer))


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(alpha=wide(0.5), eps=wide(1e-08), weight_decay=wide(0.0), momentum=wide(0.0), centered=True, maximize=False, slots=('square_avg', 'grad_avg', 'momentum_buffer'))


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
