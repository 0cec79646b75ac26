"""AllenNLP: models of language, with a moving average of parameters."""

from __future__ import annotations

import torch

from examples.field.helpers import Average, Library, without_init

# The packages import the models.
without_init("allennlp", "allennlp.training", "allennlp.common")

from allennlp.training.moving_average import ExponentialMovingAverage  # noqa: E402


def exponential_moving_average(hyper, parameters):
    model = [torch.tensor(parameter) for parameter in parameters]
    average = ExponentialMovingAverage([(str(i), tensor) for i, tensor in enumerate(model)], hyper["decay"])
    count = 0

    def update(fed):
        nonlocal count
        count += 1
        for tensor, value in zip(model, fed, strict=True):
            tensor.copy_(torch.tensor(value))
        average.apply(count if hyper["scheduled"] else None)

    def averages():
        average.assign_average_value()
        values = [tensor.numpy().copy() for tensor in model]
        average.restore()
        return values

    return Average(update, averages)


class Target(Library):
    distribution = "allennlp"
    rules = {}
    wrappers = {"exponential_moving_average": exponential_moving_average}
