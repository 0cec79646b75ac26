"""MLX Optimizers on the CPU: LAMB, and Muon, which iterates in bfloat16; what comes from NumPy is float32."""

from __future__ import annotations

from mlx_optimizers import Lamb, Muon

from examples.field.helpers import Library
from examples.field.mlx import each  # on the CPU


def lamb(hyper, parameters):
    betas = [hyper["beta1"], hyper["beta2"]]
    decay = hyper["weight_decay"] if "weight_decay" in hyper else hyper["lamb_weight_decay"]
    return each(parameters, Lamb, betas=betas, eps=hyper["epsilon"], weight_decay=decay)


def muon(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nesterov": hyper["nesterov"], "backend_steps": hyper["ns_steps"]}
    return each(parameters, Muon, **numbers)


class Target(Library):
    distribution = "mlx-optimizers"
    dtypes = ("float32",)
    rules = {"lamb": lamb, "papers.lamb": lamb, "torch.muon": muon}
    pinned = {
        "torch.muon": {
            "weight_decay": 0.0,
            "a": 3.4445,
            "b": -4.775,
            "c": 2.0315,
            "eps": 1e-7,
            "match_rms_adamw": False,
        },
    }
