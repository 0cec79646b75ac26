"""SGD-boost: momentum whose rate is scaled by the signal-to-noise ratio of the first gradient, in a call of its own."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

from sgd_boost import SGD_boost

from examples.field.helpers import Library, TorchRun


class Boosted(TorchRun):
    """Calls for the ratio in the first step of a parameter."""

    def set_learning_rate(self, learning_rate):
        super().set_learning_rate(learning_rate)
        if any(p.grad is not None and p not in self._optimizer.state for p in self._parameters):
            with redirect_stdout(StringIO()):
                self._optimizer.warmup_step()


def momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "weight_decay": hyper.get("weight_decay", 0.0)}
    return Boosted(lambda tensors: SGD_boost(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "sgd-boost"
    rules = {"momentum": momentum, "torch.sgd": momentum}
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"dampening": 0.0, "nesterov": False, "maximize": False},
    }

    def refusal(self, subject, hyper):
        return None if hyper["momentum"] else "SGD-boost raises an error without momentum"
