"""Makes ordinary runs: normally distributed gradients, and those of a small model while it is trained.

The cases of verdicts lie at corners, where defects show. These lie where users are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, cycle, islice

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.reference.optimizer import Optimizer
from optimetry.reference.programs import Executor, Program, layers, program_guard
from optimetry.reference.rules.sgd import SGD

INPUTS, HIDDEN, CLASSES = 16, 8, 3
SHAPES = ((INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,))
"""The parameters of the model: a perceptron with one hidden layer. Normally distributed ones have the same shapes."""

ROWS, BATCH, RATE = 512, 32, 0.1
TRAINED = 1024
"""Steps of training; the gradients of the last half of them come again in a longer run, where little changes."""

LABEL_NOISE = 0.1
"""The share of rows whose class is drawn, so that gradients stay as noisy as those of real data."""

Gradients = Sequence[Sequence[Array]]
"""For each step the gradient of each parameter, float64."""


def normal(steps: int) -> tuple[list[Array], Gradients]:
    """Return parameters and gradients that are normally distributed, mean 0 and variance 1."""
    rng = np.random.default_rng(0)
    parameters = [rng.standard_normal(shape) for shape in SHAPES]
    return parameters, [[rng.standard_normal(shape) for shape in SHAPES] for _ in range(steps)]


def training(steps: int) -> tuple[list[Array], Gradients]:
    """Return the parameters of a model before its training by gradient descent, and the gradients of each step."""
    parameters, grads = _trained()
    return parameters, list(islice(chain(grads, cycle(grads[TRAINED // 2 :])), steps))


KINDS = {"normal": normal, "training": training}
"""The kinds of gradients by the name that results give them."""


@lru_cache(maxsize=1)
def _trained() -> tuple[list[Array], Gradients]:
    """Train the model in float64 on a synthetic data set, whose classes are those of a linear map but for noise."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((ROWS, INPUTS))
    classes = np.argmax(rows @ rng.standard_normal((INPUTS, CLASSES)), axis=1)
    noisy = rng.random(ROWS) < LABEL_NOISE
    classes[noisy] = rng.integers(0, CLASSES, np.count_nonzero(noisy))
    main, startup = Program(), Program()
    with program_guard(main, startup):
        fed, labels = layers.data("rows", [BATCH, INPUTS], "float64"), layers.data("labels", [BATCH, 1], "int64")
        hidden = layers.fc(fed, HIDDEN, act="tanh")
        loss = layers.mean(layers.cross_entropy(layers.fc(hidden, CLASSES, act="softmax"), labels))
        _, pairs = Optimizer(RATE, rule=SGD()).minimize(loss)
    executor = Executor()
    executor.run(startup)
    before = [np.array(executor.scope.get(parameter.name)) for parameter, _ in pairs]
    grads = []
    for _ in range(TRAINED):
        batch = rng.integers(0, ROWS, BATCH)
        feed = {"rows": rows[batch], "labels": classes[batch, None]}
        grads.append(executor.run(main, feed, [gradient for _, gradient in pairs]))
    return before, grads
