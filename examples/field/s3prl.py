"""S3PRL: speech models for PyTorch, and optimizers that they are trained with."""

from __future__ import annotations

from s3prl.optimizers import AdamW, Lamb

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "s3prl"
    rules = {
        "torch.adamw": (AdamW, {}),
        "lamb": (Lamb, {}),
        "papers.lamb": (Lamb, {"correct_bias": True}),
    }
