"""open-lars: LARS with the interface of `torch.optim`."""

from __future__ import annotations

from open_lars import LARS

from examples.field.helpers import Library, TorchRun


def lars_momentum(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "trust_coefficient": hyper["lars_coeff"],
        "weight_decay": hyper["lars_weight_decay"],
    }
    return TorchRun(lambda tensors: LARS(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "open-lars"
    rules = {"lars_momentum": lars_momentum}
