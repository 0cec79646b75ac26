"""torch-ema: an exponential moving average of the parameters of a model in PyTorch."""

from __future__ import annotations

import torch
from torch_ema import ExponentialMovingAverage

from examples.field.helpers import Average, Library


def exponential_moving_average(hyper, parameters):
    model = [torch.nn.Parameter(torch.tensor(parameter)) for parameter in parameters]
    average = ExponentialMovingAverage(model, decay=hyper["decay"], use_num_updates=hyper["scheduled"])

    def update(fed):
        for parameter, value in zip(model, fed, strict=True):
            parameter.data = torch.tensor(value)
        average.update()

    def averages():
        with average.average_parameters():
            return [parameter.detach().numpy().copy() for parameter in model]

    return Average(update, averages)


class Target(Library):
    distribution = "torch-ema"
    rules = {}
    wrappers = {"exponential_moving_average": exponential_moving_average}
