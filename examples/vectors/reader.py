"""Judges an optimizer by test vectors, without optimetry: python reader.py vectors/fluid/adam-*.json."""

import json
import math
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


# The reader: bits are little-endian elements, other numbers hex floats, and what is too short begins again.
def at(items, index):
    return items[index % len(items)]


def array(text, dtype, shape):
    return np.resize(np.frombuffer(bytes.fromhex(text), np.dtype(dtype).newbyteorder("<")).astype(dtype), shape)


def number(value):
    return float.fromhex(value) if isinstance(value, str) else value


def played(vector, dtype):
    """Return a row of all elements after each step that is checked, or None where a gradient was changed."""
    hyper = {name: number(value) for name, value in vector["hyper"].items()}
    sent = [at(vector["parameters"], i) for i in range(vector["tensors"])]
    params = [array(param["bits"], dtype, param["shape"]) for param in sent]
    optimizers, buffers = [Adam(hyper, param) for param in params], [np.empty_like(param) for param in params]
    rows = []
    for step in range(vector["checked"][-1]):
        grads, rate = at(vector["grads"], step), number(at(vector["learning_rates"], step))
        for i, (param, optimizer, buffer) in enumerate(zip(params, optimizers, buffers, strict=True)):
            if at(grads, i) is not None:
                buffer[...] = grad = array(at(grads, i), dtype, param.shape)  # where the one before was, too
                optimizer.step(param, buffer, rate)
                if buffer.tobytes() != grad.tobytes():
                    return None
        if step + 1 in vector["checked"]:
            rows.append(np.concatenate([param.reshape(-1) for param in params]).astype(float))
    return rows


def near(vector, dtype, rows):
    sizes = [math.prod(at(vector["parameters"], i)["shape"]) for i in range(vector["tensors"])]
    for row, values, errors in zip(rows, vector["expected"], vector["allowed"], strict=True):
        value = np.concatenate([array(at(values, i), dtype, size) for i, size in enumerate(sizes)])
        limits = [np.resize([number(error) for error in at(errors, i).split()], n) for i, n in enumerate(sizes)]
        allowed = np.concatenate(limits)
        within = (np.abs(row - value.astype(float)) <= allowed) | np.isinf(allowed)
        if not np.all(np.where(np.isnan(allowed), ~np.isfinite(row), within)):
            return False
    return True


if not sys.argv[1:]:
    sys.exit("usage: python reader.py FILE [FILE ...]")  # no file, no verdict
rejected = set()
np.seterr(all="ignore")
for name in sys.argv[1:]:
    document, first = json.loads(Path(name).read_text()), {}
    for vector in document["vectors"] + document["vectors"][::-1]:  # there and back: no run may know the one before
        rows = played(vector, document["dtype"])
        same = rows is not None and np.array_equal(rows, first.setdefault(vector["id"], rows), equal_nan=True)
        if not (same and near(vector, document["dtype"], rows)) and vector["id"] not in rejected:
            rejected.add(vector["id"])
            print("rejected:", vector["id"], *vector["flags"])
print(len(rejected), "rejected")
sys.exit(len(rejected) > 0)
