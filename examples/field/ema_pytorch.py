"""ema-pytorch: a moving average of a model of PyTorch, here in every step and without the growth of its decay."""

from __future__ import annotations

import torch
from ema_pytorch import EMA

from examples.field.helpers import Average, Library


def exponential_moving_average(hyper, parameters):
    model = torch.nn.ParameterList([torch.nn.Parameter(torch.tensor(parameter)) for parameter in parameters])
    decay = hyper["decay"]
    average = EMA(model, beta=decay, min_value=decay, update_after_step=0, update_every=1)

    def update(fed):
        for parameter, value in zip(model, fed, strict=True):
            parameter.data = torch.tensor(value)
        average.update()

    return Average(update, lambda: [x.detach().numpy().copy() for x in average.ema_model.parameters()])


class Target(Library):
    distribution = "ema-pytorch"
    rules = {}
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {"exponential_moving_average": {"scheduled": False}}
