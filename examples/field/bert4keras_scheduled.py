"""bert4keras: Adam whose rate rises in a line for four steps, falls to a tenth in the next eight, and stays."""

from __future__ import annotations

from examples.field.bert4keras import Adam, OfBert4keras, Run, betas, epsilon  # isort: skip
from bert4keras.optimizers import extend_with_piecewise_linear_lr


def adam(hyper, parameters):
    made = extend_with_piecewise_linear_lr(Adam)(**betas(hyper), **epsilon(hyper), lr_schedule={4: 1, 12: 0.1})
    return Run(parameters, made)


class Target(OfBert4keras):
    distribution = "bert4keras"
    rules = {"papers.adam": adam}
