"""fairseq: sequence models for PyTorch, with optimizers, a clip and an average of its own."""

from __future__ import annotations

import sys
from argparse import Namespace
from types import ModuleType

import torch

from examples.field.helpers import Average, Gradients, Library, TorchRun, without_init

# The packages import all models and tasks, and configurations that Python 3.11 refuses. Only the registry and the
# bases of configurations are replaced.
without_init("fairseq", "fairseq.dataclass", "fairseq.models", "fairseq.models.ema", "fairseq.optim")


def module(name, **attributes):
    stand_in = sys.modules[name] = sys.modules.get(name) or ModuleType(name)
    vars(stand_in).update(attributes)


module("omegaconf", II=str, DictConfig=dict, OmegaConf=None)
module("fairseq", checkpoint_utils=None)
module("fairseq.dataclass", FairseqDataclass=object)
module("fairseq.dataclass.utils", gen_parser_from_dataclass=None)

from fairseq.optim.fairseq_optimizer import FairseqOptimizer, LegacyFairseqOptimizer  # noqa: E402

module(
    "fairseq.optim",
    FairseqOptimizer=FairseqOptimizer,
    LegacyFairseqOptimizer=LegacyFairseqOptimizer,
    register_optimizer=lambda name, dataclass=None: lambda kind: kind,
)

from fairseq.models.ema.ema import EMA  # noqa: E402
from fairseq.optim.adadelta import Adadelta  # noqa: E402
from fairseq.optim.adafactor import Adafactor  # noqa: E402
from fairseq.optim.adam import Adam  # noqa: E402
from fairseq.optim.adamax import Adamax  # noqa: E402
from fairseq.optim.nag import NAG  # noqa: E402
from fairseq.utils import clip_grad_norm_  # noqa: E402


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def adam(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: Adam(tensors, lr=1.0, **numbers), parameters)


def amsgrad(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": 0.0, "amsgrad": True}
    return TorchRun(lambda tensors: Adam(tensors, lr=1.0, **numbers), parameters)


def torch_adamw(hyper, parameters):
    numbers = {
        "betas": betas(hyper),
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
        "amsgrad": hyper["amsgrad"],
    }
    return TorchRun(lambda tensors: Adam(tensors, lr=1.0, **numbers), parameters)


def adamax(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: Adamax(tensors, lr=1.0, **numbers), parameters)


def torch_adamax(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["eps"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Adamax(tensors, lr=1.0, **numbers), parameters)


def momentum(hyper, parameters):
    return TorchRun(lambda tensors: NAG(tensors, lr=1.0, momentum=hyper["momentum"]), parameters)


def torch_sgd(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: NAG(tensors, lr=1.0, **numbers), parameters)


def torch_adadelta(hyper, parameters):
    arguments = Namespace(
        lr=[1.0],
        adadelta_rho=hyper["rho"],
        adadelta_eps=hyper["eps"],
        weight_decay=hyper["weight_decay"],
    )
    return TorchRun(lambda tensors: Adadelta(arguments, tensors), parameters)


def torch_adafactor(hyper, parameters):
    numbers = {
        "eps": (hyper["eps1"], hyper["eps2"]),
        "clip_threshold": hyper["d"],
        "decay_rate": hyper["beta2_decay"],
        "weight_decay": hyper["weight_decay"],
        "relative_step": False,
    }
    return TorchRun(lambda tensors: Adafactor(tensors, lr=1.0, **numbers), parameters)


def clip_by_global_norm(hyper, parameters):
    def clipped(grads):
        tensors = []
        for grad in grads:
            tensor = torch.nn.Parameter(torch.zeros(grad.shape, dtype=torch.tensor(grad).dtype))
            tensor.grad = torch.tensor(grad)
            tensors.append(tensor)
        clip_grad_norm_(tensors, hyper["clip_norm"])
        return [tensor.grad.numpy() for tensor in tensors]

    return Gradients(clipped)


def model(parameters):
    return torch.nn.ParameterList([torch.tensor(parameter) for parameter in parameters])


def exponential_moving_average(hyper, parameters):
    options = Namespace(
        ema_decay=hyper["decay"],
        ema_seed_model=None,
        ema_fp32=False,
        ema_update_freq=1,
        ema_start_update=0,
    )
    average, updates = EMA(model(parameters), options), iter(range(1, 1_000_000))
    return Average(
        lambda fed: average.step(model(fed), next(updates)),
        lambda: [parameter.detach().numpy().copy() for parameter in average.get_model()],
    )


class Target(Library):
    distribution = "fairseq"
    rules = {
        "adam": adam,
        "papers.amsgrad": amsgrad,
        "torch.adamw": torch_adamw,
        "adamax": adamax,
        "torch.adamax": torch_adamax,
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "torch.adadelta": torch_adadelta,
        "torch.adafactor": torch_adafactor,
    }
    wrappers = {
        "clip_by_global_norm": clip_by_global_norm,
        "exponential_moving_average": exponential_moving_average,
    }
    pinned = {
        "torch.adamw": {"maximize": False},
        "torch.adamax": {"maximize": False},
        "momentum": {"use_nesterov": True},
        "torch.sgd": {"dampening": 0.0, "nesterov": True, "maximize": False},
        "torch.adadelta": {"maximize": False},
        "torch.adafactor": {"maximize": False},
        "exponential_moving_average": {"scheduled": False},
    }

    def unsupported(self, subject, hyper, dtype):
        if subject == "clip_by_global_norm" and dtype == "float64":
            return "PyTorch takes no norm of float64 in float32"
        return super().unsupported(subject, hyper, dtype)
