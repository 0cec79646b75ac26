"""torchao: AdamW with moments of 8 bits, here of tensors so small that it keeps them in float32."""

from __future__ import annotations

import torch
from torchao.optim import AdamW8bit

from examples.field.torch_classes import TorchClasses

torch.compiler.set_stance("force_eager")  # a step would be compiled anew for each shape


class Target(TorchClasses):
    distribution = "torchao"
    rules = {"torch.adamw": (AdamW8bit, {})}
