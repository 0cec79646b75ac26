"""MLX Optimizers on the CPU, in float32; its Muon iterates in bfloat16."""

from __future__ import annotations

from mlx_optimizers import ADOPT, MADGRAD, Lamb, Muon, QHAdam

from examples.field.helpers import Library
from examples.field.mlx import each  # on the CPU


def lamb(hyper, parameters):
    betas = [hyper["beta1"], hyper["beta2"]]
    decay = hyper["weight_decay"] if "weight_decay" in hyper else hyper["lamb_weight_decay"]
    return each(parameters, Lamb, betas=betas, eps=hyper["epsilon"], weight_decay=decay)


def muon(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nesterov": hyper["nesterov"], "backend_steps": hyper["ns_steps"]}
    return each(parameters, Muon, **numbers)


def adopt(hyper, parameters):
    return each(parameters, ADOPT, betas=[hyper["beta1"], hyper["beta2"]], eps=hyper["epsilon"])


def madgrad(hyper, parameters):
    return each(parameters, MADGRAD, momentum=1 - hyper["c"], eps=hyper["epsilon"])


def qhadam(hyper, parameters):
    betas, nus = [hyper["beta1"], hyper["beta2"]], [hyper["nu1"], hyper["nu2"]]
    return each(parameters, QHAdam, betas=betas, nus=nus, eps=hyper["epsilon"])


def adam(hyper, parameters):
    betas = [hyper["beta1"], hyper["beta2"]]
    return each(parameters, QHAdam, betas=betas, nus=[1.0, 1.0], eps=hyper["epsilon"])


class Target(Library):
    distribution = "mlx-optimizers"
    dtypes = ("float32",)
    rules = {
        "lamb": lamb,
        "papers.lamb": lamb,
        "torch.muon": muon,
        "papers.adopt": adopt,
        "papers.madgrad": madgrad,
        "papers.qhadam": qhadam,
        "papers.adam": adam,
    }
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
