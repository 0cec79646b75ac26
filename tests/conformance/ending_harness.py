"""A harness of SGD whose process ends where the learning rate is 13, and that knows which runs it has begun."""

from __future__ import annotations

import os

from optimetry.conformance.harness import python_harness


class Run:
    """A run of SGD."""

    def __init__(self, parameters):
        self.parameters = parameters

    def step(self, grads, learning_rate):
        if learning_rate == 13:
            os._exit(3)
        self.parameters = [
            param - param.dtype.type(learning_rate) * grad for param, grad in zip(self.parameters, grads, strict=True)
        ]
        return self.parameters


class Target:
    """Offers SGD."""

    name, version = "ending", "1.0"

    def start(self, optimizer, hyper, parameters):
        return Run(parameters)


class Strict(python_harness.Player):
    """Ends no run that it has not begun."""

    def end(self, request):
        self._run(request)
        return super().end(request)


if __name__ == "__main__":
    python_harness.converse(Strict("ending_harness:Target"))
