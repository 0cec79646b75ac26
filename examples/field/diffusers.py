"""Diffusers: the moving average of a model in training, whose decay always follows a schedule."""

from __future__ import annotations

import sys

import torch

from examples.field.helpers import Average, Library

sys.modules.update(torchvision=None, transformers=None)  # it takes them where they are, and needs neither here

from diffusers.training_utils import EMAModel  # noqa: E402


def exponential_moving_average(hyper, parameters):
    model = [torch.nn.Parameter(torch.tensor(parameter)) for parameter in parameters]
    average = EMAModel(model, decay=hyper["decay"])

    def update(fed):
        for parameter, value in zip(model, fed, strict=True):
            parameter.data = torch.tensor(value)
        average.step(model)

    def averages():
        average.store(model)
        average.copy_to(model)
        copies = [parameter.detach().numpy().copy() for parameter in model]
        average.restore(model)
        return copies

    return Average(update, averages)


class Target(Library):
    distribution = "diffusers"
    rules = {}
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {"exponential_moving_average": {"scheduled": True}}
