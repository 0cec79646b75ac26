"""DeepSpeed: its optimizers for offloaded parameters, whose vectorised C++ is compiled at the first use, in float32."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import cpuinfo
import ninja

os.environ["PATH"] = os.pathsep.join([str(Path(ninja.__file__).parents[1] / "bin"), os.environ["PATH"]])  # it compiles

from deepspeed.ops.adagrad import DeepSpeedCPUAdagrad
from deepspeed.ops.adam import DeepSpeedCPUAdam
from deepspeed.ops.lion import DeepSpeedCPULion
from deepspeed.ops.op_builder import CPUAdagradBuilder, CPUAdamBuilder, CPULionBuilder

from examples.field.helpers import Library, TorchRun, averages

cpuinfo.get_cpu_info = cache(cpuinfo.get_cpu_info)  # every optimizer asks for it, which takes a second
for builder in (CPUAdamBuilder, CPUAdagradBuilder, CPULionBuilder):
    builder().load()  # a run would wait for the compiler


def run(kind, parameters, **numbers):
    return TorchRun(lambda tensors: kind(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    return run(DeepSpeedCPUAdam, parameters, **averages(hyper))


def torch_adam(hyper, parameters):
    decay = {"weight_decay": hyper["weight_decay"], "adamw_mode": hyper["decoupled_weight_decay"]}
    return run(DeepSpeedCPUAdam, parameters, **averages(hyper), **decay)


def adamw(hyper, parameters):
    return run(DeepSpeedCPUAdam, parameters, **averages(hyper), weight_decay=hyper["weight_decay"])


def adagrad(hyper, parameters):
    return run(DeepSpeedCPUAdagrad, parameters, eps=hyper["epsilon"])


def torch_adagrad(hyper, parameters):
    return run(DeepSpeedCPUAdagrad, parameters, eps=hyper["eps"], weight_decay=hyper["weight_decay"])


def papers_adagrad(hyper, parameters):
    return run(DeepSpeedCPUAdagrad, parameters, eps=hyper["delta"])


def lion(hyper, parameters):
    betas = hyper["beta1"], hyper["beta2"]
    return run(DeepSpeedCPULion, parameters, betas=betas, weight_decay=hyper["weight_decay"])


class Target(Library):
    distribution = "deepspeed"
    dtypes = ("float32",)
    rules = {
        "adam": adam,
        "adagrad": adagrad,
        "papers.adam": adam,
        "papers.adagrad": papers_adagrad,
        "papers.lion": lion,
        "torch.adam": torch_adam,
        "torch.adamw": adamw,
        "torch.adagrad": torch_adagrad,
    }
    pinned = {
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adam": {"amsgrad": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
        "torch.adagrad": {"lr_decay": 0.0, "initial_accumulator_value": 0.0, "maximize": False},
    }
