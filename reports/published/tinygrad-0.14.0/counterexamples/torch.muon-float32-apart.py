"""tinygrad 0.14.0 on torch.muon in float32.

Evaluates the documented formula in float64, and compares what tinygrad 0.14.0 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
parameters = [[[0.0], [0.0]]]  # before the first step
learning_rates = [0.1]
grads = [[[[0.0], [-1.0]]]]  # one list a step; None: no gradient
given = [[[[0.0], [0.09999999403953552]]]]  # what tinygrad 0.14.0 gave after each step
allowed = [[[[0.0], [0.0061952490522754824]]]]  # 2 times the rounding-error bound of float32


from types import SimpleNamespace as State
import math


def in_bfloat16(x, function):
    return function(x)


def norm(x):
    return np.sqrt(np.sum(np.square(x), initial=0.0))


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def initial_state(self, param):
        return State(**{slot: np.zeros_like(param) for slot in self.slots})

    def update(self, param, grad, state, lr, t):
        rows, columns = param.shape
        buffer = self.momentum * state.momentum_buffer + grad
        ahead = grad + self.momentum * buffer if self.nesterov else buffer
        wide = np.matrix_transpose(ahead) if rows > columns else ahead
        orthogonal = in_bfloat16(wide, self.orthogonalized)
        step = np.matrix_transpose(orthogonal) if rows > columns else orthogonal
        scale = 0.2 * math.sqrt(max(rows, columns)) if self.match_rms_adamw else math.sqrt(max(1, rows / columns))
        param = param - lr * self.weight_decay * param
        return (param - lr * scale * step, State(momentum_buffer=buffer))

    def orthogonalized(self, x):
        x = x / (norm(x) + self.eps)
        for _ in range(self.ns_steps):
            gram = x @ np.matrix_transpose(x)
            x = self.a * x + (self.b * gram + self.c * (gram @ gram)) @ x
        return x


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(weight_decay=wide(0.0), momentum=wide(0.95), nesterov=True, a=wide(3.4445), b=wide(-0.5), c=wide(0.125), eps=wide(1e-07), ns_steps=0, match_rms_adamw=False, slots=('momentum_buffer',))


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
