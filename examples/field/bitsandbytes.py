"""bitsandbytes: optimizers with states of 8 bits or 32, here of 32 and on the processor."""

from __future__ import annotations

from bitsandbytes import optim

from examples.field.helpers import Library, TorchRun


def run(kind, parameters, **numbers):
    return TorchRun(lambda tensors: kind(tensors, lr=1.0, optim_bits=32, **numbers), parameters)


def betas(hyper):
    return hyper["beta1"], hyper["beta2"]


def momentum(hyper, parameters):
    return run(optim.SGD, parameters, momentum=hyper["momentum"], nesterov=hyper["use_nesterov"])


def torch_sgd(hyper, parameters):
    numbers = {name: hyper[name] for name in ("momentum", "dampening", "weight_decay", "nesterov")}
    return run(optim.SGD, parameters, **numbers)


def adagrad(hyper, parameters):
    return run(optim.Adagrad, parameters, eps=hyper["epsilon"])


def torch_adagrad(hyper, parameters):
    return run(optim.Adagrad, parameters, eps=hyper["eps"], weight_decay=hyper["weight_decay"])


def decayed_adagrad(hyper, parameters):
    return run(optim.RMSprop, parameters, alpha=hyper["decay"], eps=hyper["epsilon"])


def rmsprop(hyper, parameters):
    return run(optim.RMSprop, parameters, alpha=hyper["rho"], eps=hyper["epsilon"], momentum=hyper["momentum"])


def torch_rmsprop(hyper, parameters):
    numbers = {name: hyper[name] for name in ("alpha", "eps", "weight_decay", "momentum")}
    return run(optim.RMSprop, parameters, **numbers)


def adam(hyper, parameters):
    return run(optim.Adam, parameters, betas=betas(hyper), eps=hyper["epsilon"])


def torch_adam(hyper, parameters):
    return run(optim.Adam, parameters, betas=betas(hyper), eps=hyper["eps"], weight_decay=hyper["weight_decay"])


def adamw(hyper, parameters):
    return run(optim.AdamW, parameters, betas=betas(hyper), eps=hyper["epsilon"], weight_decay=hyper["weight_decay"])


def torch_adamw(hyper, parameters):
    return run(optim.AdamW, parameters, betas=betas(hyper), eps=hyper["eps"], weight_decay=hyper["weight_decay"])


def lion(hyper, parameters):
    return run(optim.Lion, parameters, betas=betas(hyper), weight_decay=hyper["weight_decay"])


def lamb(hyper, parameters):
    numbers = {"betas": betas(hyper), "eps": hyper["epsilon"], "weight_decay": hyper["weight_decay"]}
    return run(optim.LAMB, parameters, **numbers)


def lars(hyper, parameters):
    numbers = {"momentum": hyper["momentum"], "weight_decay": hyper["weight_decay"], "max_unorm": hyper["eta"]}
    return run(optim.LARS, parameters, **numbers)


def ademamix(hyper, parameters):
    numbers = {"alpha": hyper["alpha"], "eps": hyper["epsilon"], "weight_decay": hyper["weight_decay"]}
    return run(optim.AdEMAMix, parameters, betas=(*betas(hyper), hyper["beta3"]), **numbers)


class Target(Library):
    distribution = "bitsandbytes"
    rules = {
        "momentum": momentum,
        "torch.sgd": torch_sgd,
        "adagrad": adagrad,
        "torch.adagrad": torch_adagrad,
        "decayed_adagrad": decayed_adagrad,
        "rmsprop": rmsprop,
        "torch.rmsprop": torch_rmsprop,
        "papers.adam": adam,
        "torch.adam": torch_adam,
        "papers.adamw": adamw,
        "torch.adamw": torch_adamw,
        "papers.lion": lion,
        "papers.ademamix": ademamix,
        "papers.lamb": lamb,
        "papers.lars": lars,
    }
    pinned = {
        "momentum": {"use_nesterov": False},
        "torch.sgd": {"nesterov": False, "maximize": False},
        "adagrad": {"initial_accumulator_value": 0.0},
        "torch.adagrad": {"lr_decay": 0.0, "initial_accumulator_value": 0.0, "maximize": False},
        "rmsprop": {"centered": False},
        "torch.rmsprop": {"centered": False, "maximize": False},
        "torch.adam": {"amsgrad": False, "decoupled_weight_decay": False, "maximize": False},
        "torch.adamw": {"amsgrad": False, "maximize": False},
    }

    def refusal(self, subject, hyper):
        if hyper.get("momentum") == 0 and subject in ("momentum", "torch.sgd", "papers.lars"):
            return "SGD and LARS need a momentum"
        if 0 in (hyper.get("alpha"), hyper.get("rho"), hyper.get("decay")):
            return "RMSprop needs an alpha above 0"
        if hyper.get("dampening") == 1:
            return "SGD takes a dampening below 1"
        return None
