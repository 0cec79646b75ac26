"""pytorch_optimizer: more than a hundred optimizers with the interface of `torch.optim`, each with many options."""

from __future__ import annotations

import pytorch_optimizer

from examples.field.helpers import Library, TorchRun, adan_numbers


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def adabelief(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: pytorch_optimizer.AdaBelief(tensors, lr=1.0, **numbers), parameters)


def adan(hyper, parameters):
    return TorchRun(lambda tensors: pytorch_optimizer.Adan(tensors, lr=1.0, **adan_numbers(hyper)), parameters)


def lion(hyper, parameters):
    numbers = {"betas": betas(hyper), "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: pytorch_optimizer.Lion(tensors, lr=1.0, **numbers), parameters)


def yogi(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"], "initial_accumulator": 0.0}
    return TorchRun(lambda tensors: pytorch_optimizer.Yogi(tensors, lr=1.0, **numbers), parameters)


def novograd(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"], "weight_decay": hyper["weight_decay"]}
    return TorchRun(lambda tensors: pytorch_optimizer.NovoGrad(tensors, lr=1.0, **numbers), parameters)


def radam(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": 0.0, "n_sma_threshold": 4, "degenerated_to_sgd": True}
    return TorchRun(lambda tensors: pytorch_optimizer.RAdam(tensors, lr=1.0, **numbers), parameters)


def torch_radam(hyper, parameters):
    numbers = {
        "betas": betas(hyper),
        "eps": hyper["eps"],
        "weight_decay": hyper["weight_decay"],
        "weight_decouple": hyper["decoupled_weight_decay"],
        "n_sma_threshold": 5,
        "degenerated_to_sgd": True,
        "maximize": hyper["maximize"],
    }
    return TorchRun(lambda tensors: pytorch_optimizer.RAdam(tensors, lr=1.0, **numbers), parameters)


def lamb(hyper, parameters):
    numbers = {
        "betas": betas(hyper),
        "eps": hyper["epsilon"],
        "weight_decay": hyper["weight_decay"],
        "weight_decouple": False,
    }
    return TorchRun(lambda tensors: pytorch_optimizer.Lamb(tensors, lr=1.0, **numbers), parameters)


def lars(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "weight_decay": hyper["weight_decay"],
        "trust_coefficient": hyper["eta"],
    }
    return TorchRun(lambda tensors: pytorch_optimizer.LARS(tensors, lr=1.0, **numbers), parameters)


def signum(hyper, parameters):
    return TorchRun(lambda tensors: pytorch_optimizer.SignSGD(tensors, lr=1.0, momentum=hyper["beta"]), parameters)


def adamax(hyper, parameters):
    return TorchRun(lambda tensors: pytorch_optimizer.AdaMax(tensors, lr=1.0, betas=betas(hyper), eps=0.0), parameters)


def adadelta(hyper, parameters):
    numbers = {"rho": hyper["rho"], "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: pytorch_optimizer.AdaDelta(tensors, lr=1.0, **numbers), parameters)


def ftrl(hyper, parameters):
    numbers = {"beta": hyper["beta"], "lambda_1": hyper["lambda1"], "lambda_2": hyper["lambda2"]}
    return TorchRun(lambda tensors: pytorch_optimizer.FTRL(tensors, lr=1.0, **numbers), parameters)


def sgd(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "dampening": hyper["dampening"],
        "weight_decay": hyper["weight_decay"],
        "weight_decouple": False,
        "nesterov": hyper["nesterov"],
        "maximize": hyper["maximize"],
    }
    return TorchRun(lambda tensors: pytorch_optimizer.SGDW(tensors, lr=1.0, **numbers), parameters)


def muon(hyper, parameters):
    numbers = {
        "momentum": hyper["momentum"],
        "weight_decay": hyper["weight_decay"],
        "nesterov": hyper["nesterov"],
        "ns_steps": hyper["ns_steps"],
        "ns_coeffs": (hyper["a"], hyper["b"], hyper["c"]),
        "use_adjusted_lr": hyper["match_rms_adamw"],
    }

    def make(tensors):
        return pytorch_optimizer.Muon([{"params": tensors, "use_muon": True}], lr=1.0, **numbers)

    return TorchRun(make, parameters)


def adafactor(hyper, parameters):
    numbers = {
        "betas": (None, 0.999),
        "decay_rate": hyper["beta2_decay"],
        "weight_decay": hyper["weight_decay"],
        "clip_threshold": hyper["d"],
        "relative_step": False,
        "eps1": hyper["eps1"],
        "eps2": hyper["eps2"],
        "maximize": hyper["maximize"],
    }
    return TorchRun(lambda tensors: pytorch_optimizer.AdaFactor(tensors, lr=1.0, **numbers), parameters)


def adopt(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: pytorch_optimizer.ADOPT(tensors, lr=1.0, **numbers), parameters)


def ademamix(hyper, parameters):
    numbers = {
        "betas": (*betas(hyper), hyper["beta3"]),
        "alpha": hyper["alpha"],
        "eps": hyper["epsilon"],
        "weight_decay": hyper["weight_decay"],
        "weight_decouple": True,
    }
    return TorchRun(lambda tensors: pytorch_optimizer.AdEMAMix(tensors, lr=1.0, **numbers), parameters)


def adamod(hyper, parameters):
    numbers = {"betas": (*betas(hyper), hyper["beta3"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: pytorch_optimizer.AdaMod(tensors, lr=1.0, **numbers), parameters)


def laprop(hyper, parameters):
    numbers = {"betas": (hyper["mu"], hyper["nu"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: pytorch_optimizer.LaProp(tensors, lr=1.0, **numbers), parameters)


def madgrad(hyper, parameters):
    numbers = {"momentum": 1 - hyper["c"], "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: pytorch_optimizer.MADGRAD(tensors, lr=1.0, **numbers), parameters)


def qhadam(hyper, parameters):
    numbers = {"betas": betas(hyper), "nus": (hyper["nu1"], hyper["nu2"]), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: pytorch_optimizer.QHAdam(tensors, lr=1.0, **numbers), parameters)


def adam(hyper, parameters):
    numbers = {"betas": betas(hyper), "nus": (1.0, 1.0), "eps": hyper["epsilon"]}
    return TorchRun(lambda tensors: pytorch_optimizer.QHAdam(tensors, lr=1.0, **numbers), parameters)


def qhm(hyper, parameters):
    numbers = {"momentum": hyper["beta"], "nu": hyper["nu"]}
    return TorchRun(lambda tensors: pytorch_optimizer.QHM(tensors, lr=1.0, **numbers), parameters)


def momentum(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "nu": 1.0}
    return TorchRun(lambda tensors: pytorch_optimizer.QHM(tensors, lr=1.0, **numbers), parameters)


class Target(Library):
    distribution = "pytorch-optimizer"
    rules = {
        "papers.adabelief": adabelief,
        "papers.adan": adan,
        "papers.lion": lion,
        "papers.yogi": yogi,
        "papers.novograd": novograd,
        "papers.radam": radam,
        "torch.radam": torch_radam,
        "papers.lamb": lamb,
        "papers.lars": lars,
        "papers.signum": signum,
        "papers.adamax": adamax,
        "papers.adadelta": adadelta,
        "papers.ftrl": ftrl,
        "torch.sgd": sgd,
        "torch.muon": muon,
        "torch.adafactor": adafactor,
        "papers.adopt": adopt,
        "papers.ademamix": ademamix,
        "papers.adamod": adamod,
        "papers.laprop": laprop,
        "papers.madgrad": madgrad,
        "papers.qhadam": qhadam,
        "papers.adam": adam,
        "papers.qhm": qhm,
        "momentum": momentum,
    }
    pinned = {"torch.muon": {"eps": 1e-7}, "momentum": {"use_nesterov": False}}

    def refusal(self, subject, hyper):
        if hyper.get("rho") == 1:
            return "AdaDelta takes a rho below 1"
        if hyper.get("ns_steps") == 0:
            return "Muon takes one iteration or more"
        return None
