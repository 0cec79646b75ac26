"""Flower: strategies with which a server of federated learning takes in the changes of its clients."""

from __future__ import annotations

import logging

import numpy as np
from flwr.app import Array, ArrayRecord, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAdagrad, FedAdam, FedAvgM, FedYogi
from flwr.supercore.task_identity import TaskIdentity

from examples.field.helpers import Library, OnePerParameter

logging.getLogger("flwr").setLevel(logging.ERROR)
# Messages carry the numbers of the process that a network would give.
TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 1


class Server:
    """A strategy and one parameter, which is 0 before a round: what a client changes is the negated gradient itself."""

    def __init__(self, parameter, make, rate):
        self.parameter, self.strategy, self.rate, self.round = parameter, make(), rate, 0

    def step(self, grad, learning_rate):
        self.round += 1
        setattr(self.strategy, self.rate, learning_rate)
        start, change = record(np.zeros_like(self.parameter)), record(-grad)
        self.strategy.current_arrays = start if self.rate == "server_learning_rate" else {"w": start["w"].numpy()}
        content = RecordDict({"arrays": change, "metrics": MetricRecord({"num-examples": 1})})
        reply = Message(content, dst_node_id=1, message_type="train")
        arrays, _ = self.strategy.aggregate_train(self.round, [reply])
        # What a server computes in float64 is loaded into the model.
        self.parameter = (self.parameter + arrays["w"].numpy()).astype(self.parameter.dtype)
        return self.parameter


def record(array):
    return ArrayRecord({"w": Array(np.asarray(array))})


def each(parameters, kind, rate="eta", **numbers):
    return OnePerParameter(lambda parameter: Server(parameter, lambda: kind(**numbers), rate), parameters)


def momentum(hyper, parameters):
    # A learning rate of 1, the default, without a momentum switches its step off.
    numbers = {"server_learning_rate": 0.5, "server_momentum": hyper["momentum"]}
    return each(parameters, FedAvgM, "server_learning_rate", **numbers)


def adagrad(hyper, parameters):
    return each(parameters, FedAdagrad, tau=hyper["epsilon"])


def papers_adagrad(hyper, parameters):
    return each(parameters, FedAdagrad, tau=hyper["delta"])


def adam(hyper, parameters):
    return each(parameters, FedAdam, beta_1=hyper["beta1"], beta_2=hyper["beta2"], tau=hyper["epsilon"])


def yogi(hyper, parameters):
    return each(parameters, FedYogi, beta_1=hyper["beta1"], beta_2=hyper["beta2"], tau=hyper["epsilon"])


class Target(Library):
    distribution = "flwr"
    rules = {
        "momentum": momentum,
        "adagrad": adagrad,
        "papers.adagrad": papers_adagrad,
        "adam": adam,
        "papers.adam": adam,
        "papers.yogi": yogi,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "adagrad": {"initial_accumulator_value": 0.0},
    }
