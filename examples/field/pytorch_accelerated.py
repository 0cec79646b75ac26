"""pytorch-accelerated: a loop of training for PyTorch, and an average of a model."""

from __future__ import annotations

import torch

from examples.field.helpers import Average, Library, without_init

# The package imports its trainer.
without_init("pytorch_accelerated")

from pytorch_accelerated.utils import ModelEma  # noqa: E402


def moving_average(hyper, parameters):
    model = torch.nn.Module()
    model.parameters_ = torch.nn.ParameterList([torch.from_numpy(parameter.copy()) for parameter in parameters])
    average = ModelEma(model, hyper["decay"])

    def update(given):
        with torch.no_grad():
            for parameter, array in zip(model.parameters_, given, strict=True):
                parameter.copy_(torch.from_numpy(array))
        average.update(model)

    return Average(update, lambda: [parameter.detach().numpy().copy() for parameter in average.module.parameters_])


class Target(Library):
    distribution = "pytorch-accelerated"
    rules = {}
    wrappers = {"exponential_moving_average": moving_average}
    pinned = {"exponential_moving_average": {"scheduled": False}}
