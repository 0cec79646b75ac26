"""torch-optim-sparse: Adam and more for PyTorch, of sparse gradients alone."""

from __future__ import annotations

from torch_optim_sparse import SparserAdam

from examples.field.torch_classes import TorchClasses


class Target(TorchClasses):
    distribution = "torch-optim-sparse"
    rules = {"torch.sparse_adam": (SparserAdam, {})}
