"""Targets that train by sgd, and end or hang where the first parameter begins with 666. This file needs NumPy alone."""

import os
import signal
import time

import numpy as np

BAD = 666.0


class Target:
    name = "brittle"
    version = "1.0"

    def start(self, optimizer, hyper, parameters):
        if parameters[0].flat[0] == BAD:
            self.deed()
        return Run(parameters)


class Run:
    def __init__(self, parameters):
        self.parameters = [np.array(param) for param in parameters]

    def step(self, grads, learning_rate):
        pairs = zip(self.parameters, grads, strict=True)
        self.parameters = [param - grad.dtype.type(learning_rate) * grad for param, grad in pairs]
        return self.parameters


class Ends(Target):
    def deed(self):
        os._exit(7)


class Hangs(Target):
    def deed(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        time.sleep(600)


class Raises(Target):
    def deed(self):
        raise ArithmeticError("brittle")


class Refuses(Target):
    def unsupported(self, optimizer, hyper, dtype):
        return None

    def deed(self):
        raise SystemExit("not this one")
