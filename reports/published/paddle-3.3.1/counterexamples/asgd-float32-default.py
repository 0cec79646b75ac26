"""paddle 3.3.1 on asgd in float32.

Runs the documented rule in float64, and compares what paddle 3.3.1 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

from types import SimpleNamespace as State

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
hyper = State(batch_num=2, weight_decay=wide(0.01), slots=('d', 'history'))
learning_rates = [0.1, 0.1]
parameters = [[1.0]]
grads = [[[0.0]], [[0.0]]]  # one list a step; None: no gradient
given = [[[0.9990000128746033]], [[0.9980005025863647]]]  # the parameters after each step, as paddle 3.3.1 has them
allowed = [[[1.1940311855311588e-07]], [[2.388062442490181e-07]]]  # 2 times the rounding-error bound of float32


def initial_state(self, param):
    return State(d=np.zeros_like(param), history=np.zeros_like(param, shape=(self.batch_num, *param.shape)))


def update(self, param, grad, state, lr, t):
    batch = (t - 1) % self.batch_num
    d = state.d + (grad - state.history[batch])
    this_batch = (np.arange(self.batch_num) == batch).reshape((-1,) + (1,) * param.ndim)
    history = np.where(this_batch, grad, state.history)
    step = d / min(t, self.batch_num) + self.weight_decay * param
    return param - lr * step, State(d=d, history=history)


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
