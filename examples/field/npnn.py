"""NPNN: a library in NumPy whose tensors are batches of matrices, here of one column each."""

from __future__ import annotations

from npnn import optim
from npnn.autograd import Tensor

from examples.field.helpers import Library


class Run:
    """Tensors, each with the gradient of one backward pass, and one optimizer."""

    def __init__(self, parameters, cls, **numbers):
        self.shapes = [x.shape for x in parameters]
        self.tensors = [Tensor(x.copy().reshape(1, -1, 1), requires_grad=True) for x in parameters]
        self.optimizer = cls(self.tensors, lr=1.0, **numbers)

    def step(self, grads, learning_rate):
        self.optimizer.lr = learning_rate
        for tensor, grad in zip(self.tensors, grads, strict=True):
            tensor.grad, tensor.back_counter = grad.copy().reshape(1, -1, 1), 1
        self.optimizer.step()
        return [tensor.data.copy().reshape(shape) for tensor, shape in zip(self.tensors, self.shapes, strict=True)]


def sgd(hyper, parameters):
    return Run(parameters, optim.SGD)


def momentum(hyper, parameters):
    return Run(parameters, optim.SGD, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def adam(hyper, parameters):
    return Run(parameters, optim.Adam, betas=[hyper["beta1"], hyper["beta2"]], eps=hyper["epsilon"])


class Target(Library):
    distribution = "npnn"
    cannot = ("missing gradients",)
    rules = {"sgd": sgd, "momentum": momentum, "adam": adam}
