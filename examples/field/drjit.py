"""Dr.Jit: arrays that are compiled for the processor by LLVM, for differentiable rendering."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

# LLVM of the package karellen-llvm-core, and the libraries that it needs. Dr.Jit looks for another one itself.
FOLDER = Path(sys.prefix, "lib")
for llvm in FOLDER.glob("libLLVM.so.*"):
    os.environ.setdefault("DRJIT_LIBLLVM_PATH", str(llvm))
    for name in ("libunwind", "libc++abi", "libc++"):
        for needed in FOLDER.glob(f"*/{name}.so.1.0"):
            ctypes.CDLL(str(needed), ctypes.RTLD_GLOBAL)

import drjit  # noqa: E402
import numpy as np  # noqa: E402
from drjit.llvm.ad import TensorXf, TensorXf64  # noqa: E402
from drjit.opt import SGD, Adam, AdamW, Muon, RMSProp  # noqa: E402

from examples.field.helpers import Library, OnePerParameter  # noqa: E402

TENSORS = {np.dtype("float32"): TensorXf, np.dtype("float64"): TensorXf64}


class Parameter:
    """One parameter, which its optimizer owns."""

    def __init__(self, cls, parameter, **numbers):
        self.tensor = TENSORS[parameter.dtype]
        self.optimizer = cls(lr=1.0, params={"w": self.tensor(parameter)}, **numbers)

    def step(self, grad, learning_rate):
        self.optimizer.set_learning_rate(learning_rate)
        drjit.set_grad(self.optimizer["w"], self.tensor(grad))
        self.optimizer.step()
        return np.array(drjit.detach(self.optimizer["w"])).reshape(grad.shape)


def each(cls, parameters, **numbers):
    return OnePerParameter(lambda parameter: Parameter(cls, parameter, **numbers), parameters)


def betas(hyper):
    return {"beta_1": hyper["beta1"], "beta_2": hyper["beta2"]}


def sgd(hyper, parameters):
    return each(SGD, parameters)


def momentum(hyper, parameters):
    return each(SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def decayed_adagrad(hyper, parameters):
    return each(RMSProp, parameters, alpha=hyper["decay"], epsilon=hyper["epsilon"])


def torch_rmsprop(hyper, parameters):
    return each(RMSProp, parameters, alpha=hyper["alpha"], epsilon=hyper["eps"])


def adam(hyper, parameters):
    return each(Adam, parameters, **betas(hyper), epsilon=hyper["epsilon"])


def torch_adam(hyper, parameters):
    return each(Adam, parameters, **betas(hyper), epsilon=hyper["eps"], amsgrad=hyper["amsgrad"])


def amsgrad(hyper, parameters):
    return each(Adam, parameters, **betas(hyper), epsilon=0.0, amsgrad=True)


def torch_adamw(hyper, parameters):
    numbers = {"epsilon": hyper["eps"], "weight_decay": hyper["weight_decay"], "amsgrad": hyper["amsgrad"]}
    return each(AdamW, parameters, **betas(hyper), **numbers)


def muon(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "nesterov", "ns_steps", "weight_decay")}
    return each(Muon, parameters, **numbers)


class Target(Library):
    distribution = "drjit"
    cannot = ("empty parameters",)
    rules = {
        "sgd": sgd,
        "momentum": momentum,
        "decayed_adagrad": decayed_adagrad,
        "torch.rmsprop": torch_rmsprop,
        "adam": adam,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "papers.amsgrad": amsgrad,
        "torch.adamw": torch_adamw,
        "torch.muon": muon,
    }
    pinned = {
        "torch.rmsprop": {"weight_decay": 0.0, "momentum": 0.0, "centered": False, "maximize": False},
        "torch.adam": {"weight_decay": 0.0, "decoupled_weight_decay": False, "maximize": False},
        "torch.adamw": {"maximize": False},
        "torch.muon": {"a": 3.4445, "b": -4.775, "c": 2.0315, "eps": 1e-7, "match_rms_adamw": False},
    }

    def refusal(self, subject, hyper):
        nesterov = subject == "momentum" and hyper["use_nesterov"] and not hyper["momentum"]
        return "Nesterov's needs a momentum" if nesterov else None
