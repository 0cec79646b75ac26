"""bert4keras: Adam that collects the gradients of two steps."""

from __future__ import annotations

from examples.field.bert4keras import Adam, Run, betas, epsilon, no_epsilon_of_zero  # isort: skip
from bert4keras.optimizers import extend_with_gradient_accumulation

from examples.field.helpers import Library


def adam(hyper, parameters):
    return Run(parameters, extend_with_gradient_accumulation(Adam)(**betas(hyper), **epsilon(hyper)))


class Target(Library):
    distribution = "bert4keras"
    rules = {"papers.adam": adam}

    def refusal(self, subject, hyper):
        return no_epsilon_of_zero(hyper)
