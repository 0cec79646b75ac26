"""pytorch-pretrained-bert: the Adam that BERT was published with, and the one of GPT, before Transformers."""

from __future__ import annotations

import warnings

from examples.field.helpers import Library, TorchRun, without_init

# The package imports its models.
without_init("pytorch_pretrained_bert")

from pytorch_pretrained_bert.optimization import BertAdam  # noqa: E402
from pytorch_pretrained_bert.optimization_openai import OpenAIAdam  # noqa: E402

warnings.filterwarnings("ignore", "This overload of", UserWarning)


def bert(hyper, parameters, decay):
    numbers = {"b1": hyper["beta1"], "b2": hyper["beta2"], "e": hyper["epsilon"], "weight_decay": decay}
    return TorchRun(lambda tensors: BertAdam(tensors, lr=1.0, schedule="none", max_grad_norm=-1, **numbers), parameters)


def openai(hyper, parameters, epsilon, decay):
    numbers = {"b1": hyper["beta1"], "b2": hyper["beta2"], "e": epsilon, "weight_decay": decay}
    return TorchRun(
        lambda tensors: OpenAIAdam(tensors, lr=1.0, schedule="none", max_grad_norm=-1, vector_l2=True, **numbers),
        parameters,
    )


def adam(hyper, parameters):
    return bert(hyper, parameters, 0.0)


def published(hyper, parameters):
    return bert(hyper, parameters, hyper["weight_decay"])


def torch_adamw(hyper, parameters):
    return openai(hyper, parameters, hyper["eps"], hyper["weight_decay"])


class Target(Library):
    distribution = "pytorch-pretrained-bert"
    rules = {"adam": adam, "papers.adamw": published, "torch.adamw": torch_adamw}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
