"""APPFL: aggregators with which a server of federated learning takes in the models of its clients."""

from __future__ import annotations

import sys

import torch
from omegaconf import DictConfig

from examples.field.helpers import Library, OnePerParameter, without_init

# The packages import clients, data sets and communication, too.
without_init("appfl", "appfl.algorithm", "appfl.algorithm.aggregator", "appfl.privacy", "appfl.misc")

from appfl.algorithm.aggregator.base_aggregator import BaseAggregator  # noqa: E402

sys.modules["appfl.algorithm.aggregator"].BaseAggregator = BaseAggregator

from appfl.algorithm.aggregator.fedavg_aggregator import FedAvgAggregator  # noqa: E402

sys.modules["appfl.algorithm.aggregator"].FedAvgAggregator = FedAvgAggregator

from appfl.algorithm.aggregator.fedadagrad_aggregator import FedAdagradAggregator  # noqa: E402
from appfl.algorithm.aggregator.fedadam_aggregator import FedAdamAggregator  # noqa: E402
from appfl.algorithm.aggregator.fedavgm_aggregator import FedAvgMAggregator  # noqa: E402
from appfl.algorithm.aggregator.fedyogi_aggregator import FedYogiAggregator  # noqa: E402


class Server:
    """An aggregator and one parameter. Before a round it is 0, so that a client's change is its model itself."""

    def __init__(self, parameter, kind, numbers, client_rate):
        self.parameter, self.client_rate = torch.tensor(parameter), client_rate
        # Without this option the same is computed in place, and Python's garbage is collected in every round.
        self.aggregator = kind(aggregator_configs=DictConfig({"optimize_memory": False, **numbers}))

    def step(self, grad, learning_rate):
        change = -torch.tensor(grad)
        if self.client_rate:
            change = learning_rate * change
        else:
            self.aggregator.aggregator_configs.server_learning_rate = learning_rate
        self.aggregator.global_state = {"w": torch.zeros_like(self.parameter)}
        self.parameter = self.parameter + self.aggregator.aggregate({"client": {"w": change}})["w"]
        return self.parameter.numpy()


def each(parameters, kind, client_rate=False, **numbers):
    return OnePerParameter(lambda parameter: Server(parameter, kind, numbers, client_rate), parameters)


def momentum(hyper, parameters):
    # The learning rate is that of a client, which makes one step of gradient descent.
    return each(parameters, FedAvgMAggregator, client_rate=True, server_momentum_param_1=hyper["momentum"])


def adagrad(hyper, parameters):
    numbers = {"server_adapt_param": hyper["epsilon"], "server_momentum_param_1": 0.0}
    return each(parameters, FedAdagradAggregator, **numbers)


def betas(hyper):
    return {"server_momentum_param_1": hyper["beta1"], "server_momentum_param_2": hyper["beta2"]}


def adam(hyper, parameters):
    return each(parameters, FedAdamAggregator, server_adapt_param=hyper["epsilon"], **betas(hyper))


def yogi(hyper, parameters):
    return each(parameters, FedYogiAggregator, server_adapt_param=hyper["epsilon"], **betas(hyper))


class Target(Library):
    distribution = "appfl"
    rules = {"momentum": momentum, "adagrad": adagrad, "adam": adam, "papers.yogi": yogi}
    pinned = {
        "momentum": {"use_nesterov": False},
        "adagrad": {"initial_accumulator_value": 0.0},
    }
