"""MMEngine: what OpenMMLab trains with; its average weighs the parameters by ``momentum``, here 1 - decay."""

from __future__ import annotations

import torch
from mmengine.model import ExponentialMovingAverage

from examples.field.helpers import Average, Library


def exponential_moving_average(hyper, parameters):
    model = torch.nn.ParameterList([torch.nn.Parameter(torch.tensor(parameter)) for parameter in parameters])
    average = ExponentialMovingAverage(model, momentum=1 - hyper["decay"])

    def update(fed):
        for parameter, value in zip(model, fed, strict=True):
            parameter.data = torch.tensor(value)
        average.update_parameters(model)

    return Average(update, lambda: [x.detach().numpy().copy() for x in average.module.parameters()])


class Target(Library):
    distribution = "mmengine"
    rules = {}
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {"exponential_moving_average": {"scheduled": False}}

    def refusal(self, subject, hyper):
        return None if 0 < hyper["decay"] < 1 else "momentum must be in (0, 1)"
