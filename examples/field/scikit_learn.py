"""scikit-learn: the optimizers of its multi-layer perceptron, in NumPy."""

from __future__ import annotations

from sklearn.neural_network._stochastic_optimizers import AdamOptimizer, SGDOptimizer

from examples.field.helpers import Library, OnePerParameter


class SGD:
    """One parameter; its learning rate is an attribute."""

    def __init__(self, parameter, **keywords):
        self.parameter = parameter
        self.optimizer = SGDOptimizer([parameter], **keywords)

    def step(self, grad, learning_rate):
        self.optimizer.learning_rate = learning_rate
        self.optimizer.update_params([self.parameter], [grad])
        return self.parameter


class Adam(SGD):
    """One parameter; the learning rate of each step is formed from the initial one."""

    def __init__(self, parameter, **keywords):
        self.parameter = parameter
        self.optimizer = AdamOptimizer([parameter], **keywords)

    def step(self, grad, learning_rate):
        self.optimizer.learning_rate_init = learning_rate
        return super().step(grad, learning_rate)


def sgd(hyper, parameters):
    return OnePerParameter(lambda w: SGD(w, momentum=0.0, nesterov=False), parameters)


def momentum(hyper, parameters):
    mu, nesterov = hyper["momentum"], hyper["use_nesterov"]
    return OnePerParameter(lambda w: SGD(w, momentum=mu, nesterov=nesterov), parameters)


def adam(hyper, parameters):
    b1, b2, epsilon = hyper["beta1"], hyper["beta2"], hyper["epsilon"]
    return OnePerParameter(lambda w: Adam(w, beta_1=b1, beta_2=b2, epsilon=epsilon), parameters)


class Target(Library):
    distribution = "scikit-learn"
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam}
