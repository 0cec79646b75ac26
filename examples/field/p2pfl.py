"""P2PFL: federated learning between peers, each of which takes in the changes of the others."""

from __future__ import annotations

import numpy as np

from examples.field.helpers import Library, OnePerParameter, without_init

# The packages import the nodes and what they communicate with.
without_init("p2pfl", "p2pfl.learning", "p2pfl.learning.aggregators", "p2pfl.learning.frameworks")

from p2pfl.learning.aggregators.fedopt import FedAdagrad, FedAdam, FedYogi  # noqa: E402


class Model:
    """What an aggregator asks of the model of a peer."""

    def __init__(self, parameters):
        self.parameters = parameters

    def get_parameters(self):
        return self.parameters

    def get_num_samples(self):
        return 1

    def get_contributors(self):
        return ["peer"]

    def build_copy(self, params, **others):
        return Model(params)


class Peer:
    """An aggregator and one parameter, 0 before a round: what a peer changes is the negated gradient itself."""

    def __init__(self, cls, parameter, **numbers):
        self.parameter, self.aggregator = parameter, cls(**numbers)
        self.aggregator.set_addr("peer")

    def step(self, grad, learning_rate):
        self.aggregator.eta, self.aggregator.current_weights = learning_rate, [np.zeros_like(grad)]
        (change,) = self.aggregator.aggregate([Model([-grad])]).get_parameters()
        # What is computed in float64 is loaded into the model.
        self.parameter = (self.parameter + change).astype(grad.dtype)
        return self.parameter


def each(cls, parameters, **numbers):
    return OnePerParameter(lambda parameter: Peer(cls, parameter, **numbers), parameters)


def adagrad(hyper, parameters):
    return each(FedAdagrad, parameters, beta_1=0.0, tau=hyper["epsilon"])


def papers_adagrad(hyper, parameters):
    return each(FedAdagrad, parameters, beta_1=0.0, tau=hyper["delta"])


def adam(hyper, parameters):
    return each(FedAdam, parameters, beta_1=hyper["beta1"], beta_2=hyper["beta2"], tau=hyper["epsilon"])


def yogi(hyper, parameters):
    return each(FedYogi, parameters, beta_1=hyper["beta1"], beta_2=hyper["beta2"], tau=hyper["epsilon"])


class Target(Library):
    distribution = "p2pfl"
    rules = {
        "adagrad": adagrad,
        "papers.adagrad": papers_adagrad,
        "adam": adam,
        "papers.adam": adam,
        "papers.yogi": yogi,
    }
    pinned = {"adagrad": {"initial_accumulator_value": 0.0}}
