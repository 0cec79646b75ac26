"""pytorch-ranger: RAdam with a look ahead, which here never comes; parameters are made float32."""

from __future__ import annotations

import warnings

from pytorch_ranger import Ranger

from examples.field.helpers import Library, TorchRun

warnings.filterwarnings("ignore", "This overload of", UserWarning)

NEVER = 10**9  # steps until a look ahead


def radam(hyper, parameters):
    numbers = {
        "betas": (hyper["beta1"], hyper["beta2"]),
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
    }
    return TorchRun(lambda tensors: Ranger(tensors, lr=1.0, k=NEVER, **numbers), parameters)


class Target(Library):
    distribution = "pytorch-ranger"
    dtypes = ("float32",)
    rules = {"torch.radam": radam}
    pinned = {"torch.radam": {"decoupled_weight_decay": True, "maximize": False}}

    def refusal(self, subject, hyper):
        return "Ranger needs an eps above 0" if not hyper["eps"] else None
