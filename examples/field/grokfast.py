"""grokfast-pytorch: an AdamW that adds an average of the gradients to each, and can be told not to."""

from __future__ import annotations

from grokfast_pytorch import GrokFastAdamW

from examples.field.torch_classes import TorchClasses

PLAIN = {"grokfast": False}


class Target(TorchClasses):
    distribution = "grokfast-pytorch"
    rules = {
        "adam": (GrokFastAdamW, PLAIN),
        "papers.adam": (GrokFastAdamW, PLAIN),
        "torch.adam": (GrokFastAdamW, PLAIN),
        "torch.adamw": (GrokFastAdamW, {}),
    }
