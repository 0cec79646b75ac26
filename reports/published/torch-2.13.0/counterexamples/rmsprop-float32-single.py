"""torch 2.13.0 on rmsprop in float32.

Evaluates the documented formula in float64, and compares what torch 2.13.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
parameters = [[0.0]]  # before the first step
learning_rates = [0.1]
grads = [[[-1.0]]]  # one list a step; None: no gradient
given = [[[0.5]]]  # what torch 2.13.0 gave after each step
allowed = [[[1.6991234518037763e-07]]]  # 2 times the rounding-error bound of float32


from types import SimpleNamespace as State


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def initial_state(self, param):
        return State(**{slot: np.zeros_like(param) for slot in self.slots})

    def update(self, param, grad, state, lr, t):
        mean_square = self.rho * state.mean_square + (1 - self.rho) * np.square(grad)
        mean_grad = self.rho * state.mean_grad + (1 - self.rho) * grad if self.centered else state.mean_grad
        variance = mean_square - np.square(mean_grad) if self.centered else mean_square
        velocity = self.momentum * state.velocity + lr * grad / np.sqrt(variance + self.epsilon)
        return (param - velocity, State(mean_square=mean_square, mean_grad=mean_grad, velocity=velocity))


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(rho=wide(0.99), epsilon=wide(0.1), momentum=wide(0.0), centered=False, slots=('mean_square', 'mean_grad', 'velocity'))


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
