"""flashoptim: optimizers of PyTorch in less memory; on a CPU there are none but plain ones, in float32."""

from __future__ import annotations

from flashoptim import FlashAdamW, FlashLion, FlashSGD

from examples.field.torch_classes import TorchClasses

PLAIN = {"quantize": False, "fused": False, "master_weight_bits": None}


class Target(TorchClasses):
    distribution = "flashoptim"
    dtypes = ("float32",)
    rules = {
        "torch.sgd": (FlashSGD, PLAIN),
        "torch.adamw": (FlashAdamW, PLAIN),
        "papers.lion": (FlashLion, PLAIN),
    }
