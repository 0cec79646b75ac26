"""OneFlow: optimizers like torch's, whose kernels for the CPU are C++ and take all hyperparameters in float32."""

from __future__ import annotations

import ctypes
from functools import partial
from importlib.util import find_spec
from pathlib import Path

# The extension looks for libraries of CUDA where the system has them; pip has put them elsewhere.
CUDA = {
    "cublas": ("cublasLt.so.11", "cublas.so.11"),
    "cudnn": ("cudnn_ops_infer.so.8", "cudnn_cnn_infer.so.8", "cudnn_ops_train.so.8", "cudnn_cnn_train.so.8"),
}
for package, names in CUDA.items():
    (folder,) = find_spec(f"nvidia.{package}.lib").submodule_search_locations
    for name in names:
        ctypes.CDLL(str(Path(folder, f"lib{name}")), ctypes.RTLD_GLOBAL)

import oneflow  # noqa: E402
from oneflow import nn, optim  # noqa: E402

from examples.field.helpers import GroupsRun, Library, averages, clipped_in_place  # noqa: E402


def run(kind, parameters, **numbers):
    made = [nn.Parameter(oneflow.tensor(parameter)) for parameter in parameters]
    return GroupsRun(kind(made, lr=1.0, **numbers), made, oneflow.tensor)


def sgd(hyper, parameters):
    return run(optim.SGD, parameters)


def momentum(hyper, parameters):
    return run(optim.SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "nesterov", "weight_decay")}
    return run(optim.SGD, parameters, **numbers)


def adagrad(hyper, parameters):
    numbers = {"eps": hyper["epsilon"], "initial_accumulator_value": hyper["initial_accumulator_value"]}
    return run(optim.Adagrad, parameters, **numbers)


def torch_adagrad(hyper, parameters):
    names = ("lr_decay", "eps", "weight_decay", "initial_accumulator_value")
    return run(optim.Adagrad, parameters, **{name: hyper[name] for name in names})


def adadelta(hyper, parameters):
    return run(optim.Adadelta, parameters, rho=hyper["rho"], eps=hyper["epsilon"])


def torch_adadelta(hyper, parameters):
    numbers = {name: hyper[name] for name in ("rho", "eps", "weight_decay")}
    return run(optim.Adadelta, parameters, **numbers)


def decayed_adagrad(hyper, parameters):
    return run(optim.RMSprop, parameters, alpha=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return run(optim.RMSprop, parameters, alpha=hyper["rho"], eps=hyper["epsilon"], centered=hyper["centered"])


def torch_rmsprop(hyper, parameters):
    numbers = {name: hyper[name] for name in ("alpha", "eps", "weight_decay", "centered")}
    return run(optim.RMSprop, parameters, **numbers)


def adam(hyper, parameters):
    return run(optim.Adam, parameters, **averages(hyper))


def torch_adam(hyper, parameters):
    numbers = {"weight_decay": hyper["weight_decay"], "amsgrad": hyper["amsgrad"]}
    return run(optim.Adam, parameters, **averages(hyper), **numbers)


def adamw(hyper, parameters):
    numbers = {"weight_decay": hyper["weight_decay"], "amsgrad": hyper["amsgrad"]}
    return run(optim.AdamW, parameters, **averages(hyper), **numbers)


def lamb(hyper, parameters):
    numbers = {"weight_decay": hyper["lamb_weight_decay"], "do_bias_correction": False}
    return run(optim.LAMB, parameters, **averages(hyper), **numbers)


def papers_lamb(hyper, parameters):
    return run(optim.LAMB, parameters, **averages(hyper), weight_decay=hyper["weight_decay"])


def clip_by_global_norm(hyper, parameters):
    clip = partial(nn.utils.clip_grad_norm_, max_norm=hyper["clip_norm"])
    return clipped_in_place(clip, nn.Parameter, oneflow.tensor)


class Target(Library):
    distribution = "oneflow"
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adagrad": adagrad,
        "torch.adagrad": torch_adagrad,
        "adadelta": adadelta,
        "torch.adadelta": torch_adadelta,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "torch.adamw": adamw,
        "lamb": lamb,
        "papers.lamb": papers_lamb,
    }
    wrappers = {"clip_by_global_norm": clip_by_global_norm}
    cannot = ("empty parameters",)  # for one, Adam with AMSGrad and the clip end the process
    pinned = {
        "torch.sgd": {"dampening": 0.0, "maximize": False},
        "torch.adagrad": {"maximize": False},
        "torch.adadelta": {"maximize": False},
        "rmsprop": {"momentum": 0.0},
        "torch.rmsprop": {"momentum": 0.0, "maximize": False},
        "torch.adam": {"maximize": False, "decoupled_weight_decay": False},
        "torch.adamw": {"maximize": False},
    }
