"""fluid 1.8.5 on exponential_moving_average in float32.

Evaluates the documented formula in float64, and compares what fluid 1.8.5 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
parameters = [[0.0]]  # before the first step
fed = [[[1.0]], [[-1.0]]]  # one list a step
given = [[[1.0]], [[0.0]]]  # what fluid 1.8.5 gave after each step
allowed = [[[5.96047115664282e-07]], [[4.2385574780039464e-07]]]  # 2 times the rounding-error bound of float32


from typing import Any, NamedTuple
from dataclasses import dataclass


class Decayed(NamedTuple):
    product: object
    biased: object


@dataclass(frozen=True)
class ExponentialAverage:
    decay: object

    def decay_at(self, thres_steps):
        if thres_steps is None:
            return self.decay
        scheduled = self.scheduled(thres_steps)
        if isinstance(self.decay, float):
            return min(self.decay, scheduled)
        return np.minimum(self.decay, scheduled)

    def scheduled(self, thres_steps):
        return (1 + thres_steps) / (10 + thres_steps)

    def start(self, parameters):
        return Decayed(1.0, [np.zeros_like(param) for param in parameters])

    def update(self, state, parameters, thres_steps=None):
        decay = self.decay_at(thres_steps)
        biased = [decay * e + (1 - decay) * param for e, param in zip(state.biased, parameters, strict=True)]
        return Decayed(decay * state.product, biased)

    def averages(self, state):
        return [e / (1 - state.product) for e in state.biased]


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def feed(self, fed, parameters, state):
        updates, held = state or self.first(fed)
        held = self.average.update(held, fed, updates if self.scheduled else None)
        return (self.average.averages(held), (updates + 1, held))

    def first(self, fed):
        return (0, self.average.start(fed))

    @property
    def average(self):
        return ExponentialAverage(self.decay)


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(decay=wide(0.5), scheduled=False)


def steps():
    state = None
    for lists in fed:
        arrays = [array(values) for values in lists]
        results, state = documented.feed(arrays, [array(values) for values in parameters], state)
        yield results

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
