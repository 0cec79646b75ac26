"""bert4keras: Adam that collects the gradients of two steps."""

from __future__ import annotations

from examples.field.bert4keras import Adam, OfBert4keras, Run, betas, epsilon  # isort: skip
from bert4keras.optimizers import extend_with_gradient_accumulation


def adam(hyper, parameters):
    return Run(parameters, extend_with_gradient_accumulation(Adam)(**betas(hyper), **epsilon(hyper)))


class Target(OfBert4keras):
    distribution = "bert4keras"
    rules = {"papers.adam": adam}
