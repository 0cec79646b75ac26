"""Ignite: training loops for PyTorch, and the moving average of a model that follows one."""

from __future__ import annotations

import torch
from ignite.engine import Engine, Events
from ignite.handlers import EMAHandler

from examples.field.helpers import Average, Library


def exponential_moving_average(hyper, parameters):
    model = torch.nn.ParameterList([torch.nn.Parameter(torch.tensor(parameter)) for parameter in parameters])
    handler = EMAHandler(model, momentum=1 - hyper["decay"])
    engine = Engine(lambda engine, batch: None)
    handler.attach(engine, event=Events.ITERATION_COMPLETED)

    def update(fed):
        for parameter, value in zip(model, fed, strict=True):
            parameter.data = torch.tensor(value)
        with torch.no_grad():
            engine.fire_event(Events.ITERATION_COMPLETED)

    return Average(update, lambda: [x.detach().numpy().copy() for x in handler.ema_model.parameters()])


class Target(Library):
    distribution = "pytorch-ignite"
    rules = {}
    wrappers = {"exponential_moving_average": exponential_moving_average}
    pinned = {"exponential_moving_average": {"scheduled": False}}

    def refusal(self, subject, hyper):
        return "EMAHandler needs a momentum below 1" if not hyper["decay"] else None
