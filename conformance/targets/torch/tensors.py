"""Tensors that share memory with NumPy arrays."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import torch

from optimetry.conformance.numerics.arrays import Array


def tensor_over(array: Array) -> torch.Tensor:
    """Make a tensor over the memory of ``array``. torch does not know NumPy's bfloat16, so its bits are passed."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def array_of(tensor: torch.Tensor) -> Array:
    """Copy ``tensor`` to a NumPy array."""
    if tensor.dtype == torch.bfloat16:
        return np.array(tensor.view(torch.uint16).numpy()).view(ml_dtypes.bfloat16)
    return np.array(tensor.numpy())
