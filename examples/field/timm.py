"""timm: image models for PyTorch, and the optimizers that they are trained with."""

from __future__ import annotations

from examples.field.helpers import Library, TorchRun, adan_numbers, without_init

# The package imports its layers, and torchvision with them.
without_init("timm", "timm.optim")

from timm.optim.adabelief import AdaBelief  # noqa: E402
from timm.optim.adafactor import Adafactor  # noqa: E402
from timm.optim.adamw import AdamWLegacy  # noqa: E402
from timm.optim.adan import Adan  # noqa: E402
from timm.optim.adopt import Adopt  # noqa: E402
from timm.optim.lamb import Lamb  # noqa: E402
from timm.optim.laprop import LaProp  # noqa: E402
from timm.optim.lars import Lars  # noqa: E402
from timm.optim.lion import Lion  # noqa: E402
from timm.optim.madgrad import MADGRAD  # noqa: E402
from timm.optim.muon import Muon  # noqa: E402
from timm.optim.nadam import NAdamLegacy  # noqa: E402
from timm.optim.nvnovograd import NvNovoGrad  # noqa: E402
from timm.optim.radam import RAdamLegacy  # noqa: E402
from timm.optim.rmsprop_tf import RMSpropTF  # noqa: E402
from timm.optim.sgdw import SGDW  # noqa: E402


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def adabelief(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"], "rectify": False}
    return TorchRun(lambda tensors: AdaBelief(tensors, lr=1.0, **numbers), parameters)


def adan(hyper, parameters):
    return TorchRun(lambda tensors: Adan(tensors, lr=1.0, **adan_numbers(hyper)), parameters)


def lion(hyper, parameters):
    numbers = {"betas": betas(hyper), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: Lion(tensors, lr=1.0, **numbers), parameters)


def nadam(hyper, parameters):
    numbers = {
        "betas": (hyper["mu"], hyper["nu"]),
        "eps": hyper["epsilon"],
        "schedule_decay": hyper["momentum_decay"],
    }
    return TorchRun(lambda tensors: NAdamLegacy(tensors, lr=1.0, **numbers), parameters)


def torch_nadam(hyper, parameters):
    numbers = {
        "betas": betas(hyper),
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
        "schedule_decay": hyper["momentum_decay"],
    }
    return TorchRun(lambda tensors: NAdamLegacy(tensors, lr=1.0, **numbers), parameters)


def novograd(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: NvNovoGrad(tensors, lr=1.0, **numbers), parameters)


def radam(hyper, parameters):
    return TorchRun(lambda tensors: RAdamLegacy(tensors, lr=1.0, betas=betas(hyper), eps=0.0), parameters)


def lamb(hyper, parameters):
    numbers = {
        "betas": betas(hyper),
        "eps": hyper["epsilon"],
        "weight_decay": hyper["weight_decay"],
        "max_grad_norm": None,
        "always_adapt": True,
    }
    return TorchRun(lambda tensors: Lamb(tensors, lr=1.0, **numbers), parameters)


def lars(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "weight_decay": hyper["weight_decay"],
        "trust_coeff": hyper["eta"],
        "eps": 0.0,
        "always_adapt": True,
    }
    return TorchRun(lambda tensors: Lars(tensors, lr=1.0, **numbers), parameters)


def adafactor(hyper, parameters):
    numbers = {
        "eps": hyper["eps1"],
        "eps_scale": hyper["eps2"],
        "clip_threshold": hyper["d"],
        "decay_rate": hyper["beta2_decay"],
        "weight_decay": hyper["weight_decay"],
        "min_dim_size_to_factor": 0,
    }
    return TorchRun(lambda tensors: Adafactor(tensors, lr=1.0, **numbers), parameters)


def rmsprop(hyper, parameters):
    numbers = {
        "alpha": hyper["rho"],
        "eps": hyper["epsilon"],
        "momentum": hyper["momentum"],
        "centered": hyper["centered"],
    }
    return TorchRun(lambda tensors: RMSpropTF(tensors, lr=1.0, **numbers), parameters)


def torch_rmsprop(hyper, parameters):
    numbers = {
        "alpha": hyper["alpha"],
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
        "momentum": hyper["momentum"],
        "centered": hyper["centered"],
        "lr_in_momentum": False,
    }
    return TorchRun(lambda tensors: RMSpropTF(tensors, lr=1.0, **numbers), parameters)


def adamw(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: AdamWLegacy(tensors, lr=1.0, **numbers), parameters)


def muon(hyper, parameters):
    numbers = {
        "weight_decay": hyper["weight_decay"],
        "momentum": hyper["momentum"],
        "nesterov": hyper["nesterov"],
        "ns_steps": hyper["ns_steps"],
        "ns_coefficients": (hyper["a"], hyper["b"], hyper["c"]),
        "eps": hyper["eps"],
        "adjust_lr_fn": "match_rms_adamw" if hyper["match_rms_adamw"] else "original",
    }
    return TorchRun(lambda tensors: Muon([{"params": tensors, "use_muon": True}], lr=1.0, **numbers), parameters)


def sgd(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "dampening": hyper["dampening"],
        "weight_decay": hyper["weight_decay"],
        "nesterov": hyper["nesterov"],
        "maximize": hyper["maximize"],
    }
    return TorchRun(lambda tensors: SGDW(tensors, lr=1.0, **numbers), parameters)


def adopt(hyper, parameters):
    return TorchRun(lambda tensors: Adopt(tensors, lr=1.0, betas=betas(hyper), eps=hyper["epsilon"]), parameters)


def laprop(hyper, parameters):
    numbers = {"betas": (hyper["mu"], hyper["nu"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: LaProp(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    return TorchRun(lambda tensors: LaProp(tensors, lr=1.0, betas=betas(hyper), eps=hyper["epsilon"]), parameters)


def madgrad(hyper, parameters):
    numbers = {"momentum": 1 - hyper["c"], "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: MADGRAD(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "timm"
    rules = {
        "papers.adabelief": adabelief,
        "papers.adan": adan,
        "papers.lion": lion,
        "papers.nadam": nadam,
        "torch.nadam": torch_nadam,
        "papers.novograd": novograd,
        "papers.radam": radam,
        "papers.lamb": lamb,
        "papers.lars": lars,
        "torch.adafactor": adafactor,
        "rmsprop": rmsprop,
        "torch.rmsprop": torch_rmsprop,
        "papers.adamw": adamw,
        "torch.muon": muon,
        "torch.sgd": sgd,
        "papers.adopt": adopt,
        "papers.laprop": laprop,
        "adam": adam,
        "papers.madgrad": madgrad,
    }
    pinned = {
        "torch.nadam": {"decoupled_weight_decay": False, "maximize": False},
        "torch.adafactor": {"maximize": False},
        "torch.rmsprop": {"maximize": False},
    }

    def refusal(self, subject, hyper):
        if subject == "torch.sgd" and hyper["nesterov"] and (hyper["momentum"] == 0 or hyper["dampening"]):
            return "SGDW takes nesterov with a momentum and without dampening alone"
        return None
