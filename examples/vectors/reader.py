"""Judges an optimizer by test vectors, without optimetry: python reader.py vectors/fluid/adam-*.json."""

import json
import sys
from pathlib import Path

import numpy as np


class Adam:
    """The implementation: made for one parameter; a step changes it in place."""

    def __init__(self, hyper, param):
        self.beta1, self.beta2, self.epsilon = hyper["beta1"], hyper["beta2"], hyper["epsilon"]
        self.moment1, self.moment2, self.steps = np.zeros_like(param), np.zeros_like(param), 0

    def step(self, param, grad, learning_rate):
        self.steps += 1
        self.moment1 = self.beta1 * self.moment1 + (1 - self.beta1) * grad
        self.moment2 = self.beta2 * self.moment2 + (1 - self.beta2) * grad * grad
        rate = learning_rate * np.sqrt(1 - self.beta2**self.steps) / (1 - self.beta1**self.steps)
        param -= param.dtype.type(rate) * self.moment1 / (np.sqrt(self.moment2) + self.epsilon)


# The reader: bits are little-endian elements, and other numbers hex floats.
def array(text, dtype):
    return np.frombuffer(bytes.fromhex(text), np.dtype(dtype).newbyteorder("<")).astype(dtype)


def number(value):
    return float.fromhex(value) if isinstance(value, str) else value


def accepted(vector, dtype):
    hyper = {name: number(value) for name, value in vector["hyper"].items()}
    params = [array(param["bits"], dtype).reshape(param["shape"]) for param in vector["parameters"]]
    optimizers = [Adam(hyper, param) for param in params]
    for step, grads in enumerate(vector["grads"]):
        for param, optimizer, grad in zip(params, optimizers, grads, strict=True):
            if grad is not None:
                rate = number(vector["learning_rates"][step])
                optimizer.step(param, array(grad["bits"], dtype).reshape(param.shape), rate)
        for param, bits, errors in zip(params, vector["expected"][step], vector["allowed"][step], strict=True):
            value, limits = array(bits, dtype), np.array([float.fromhex(error) for error in errors.split()])
            distance = np.abs(param.reshape(-1).astype(float) - value.astype(float))
            if not np.all((distance <= limits) | np.isinf(limits)):
                return False
    return True


rejected = 0
np.seterr(all="ignore")
for name in sys.argv[1:]:
    vectors = json.loads(Path(name).read_text())
    for vector in vectors["vectors"]:
        if not (
            accepted(vector, vectors["dtype"]) and accepted(vector, vectors["dtype"])
        ):  # no run knows the one before
            rejected += 1
            print("rejected:", vector["id"], *vector["flags"])
print(rejected, "rejected")
sys.exit(rejected > 0)
