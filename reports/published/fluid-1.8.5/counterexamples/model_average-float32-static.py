"""fluid 1.8.5 on model_average in float32.

Evaluates the documented formula in float64, and compares what fluid 1.8.5 gave with it.
The last column of the table is what rounding can explain; the script fails when it explains the difference.
"""

import numpy as np

inf, nan = float("inf"), float("nan")
wide = np.float64
parameters = [[1.0]]  # before the first step
fed = [[[-1.0]], [[-1.0]], [[1.0]], [[-1.0]]]  # one list a step
given = [[[-1.0]], [[-1.0]], [[-0.3333333432674408]], [[0.0]]]  # what fluid 1.8.5 gave after each step
allowed = [[[1.1920940323761897e-07]], [[2.3841892726763177e-07]], [[2.781555229113467e-07]], [[4.1723329502519264e-07]]]  # 2 times the rounding-error bound of float32


from typing import Any, NamedTuple
from dataclasses import dataclass


class Windows(NamedTuple):
    updates: object
    in_window: object
    in_previous: object
    recent: object
    folded: object
    previous: object


def _zeros(like):
    return [np.zeros_like(array) for array in like]


def _added(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


FOLD = 16384


@dataclass(frozen=True)
class WindowAverage:
    rate: object
    minimum: object
    maximum: object

    def start(self, parameters):
        return Windows(0, 0, 0, _zeros(parameters), _zeros(parameters), _zeros(parameters))

    def update(self, state, parameters):
        updates, in_window, in_previous, recent, folded, previous = state
        updates, in_window = (updates + 1, in_window + 1)
        recent = _added(recent, parameters)
        if updates % FOLD == 0:
            folded, recent = (_added(folded, recent), _zeros(parameters))
        if self.is_full(updates, in_window):
            previous = _added(recent, folded)
            recent, folded = (_zeros(parameters), _zeros(parameters))
            in_previous, in_window = (in_window, 0)
        return Windows(updates, in_window, in_previous, recent, folded, previous)

    def is_full(self, updates, in_window):
        return in_window >= self.minimum and in_window >= np.minimum(self.maximum, updates * self.rate)

    def averages(self, state):
        count = state.in_window + state.in_previous
        return [total / count for total in _added(_added(state.recent, state.folded), state.previous)]


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def feed(self, fed, parameters, state):
        held = self.average.update(state or self.first(fed), fed)
        return (self.result(held), held)

    @property
    def average(self):
        return WindowAverage(self.average_window_rate, self.min_average_window, self.max_average_window)

    def first(self, fed):
        return self.average.start(fed)

    def result(self, state):
        return self.average.averages(state)


def array(values):
    return np.asarray(values, dtype=wide)


documented = Documented(average_window_rate=wide(0.7498942093324559), min_average_window=2, max_average_window=10000)


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
