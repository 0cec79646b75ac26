"""Runs of ``torch.optim`` over groups of parameters, as ``param_groups`` and ``add_param_group`` make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.torch.tensors import tensor_over

Keywords = Callable[[Hyper, Sequence[Array]], Mapping[str, Any]]
"""The keyword arguments of a class for hyperparameters, and the parameters that they are for."""


class TorchGroups:
    """One optimizer over groups of parameters.

    Args:
        cls: its class.
        keywords: the arguments of a group.
        rate: the name of the learning rate among them.
        sparse: whether gradients are given as sparse tensors.
        groups: hyperparameters and parameters of each.
    """

    def __init__(
        self, cls: Any, keywords: Keywords, rate: str, sparse: bool, groups: Sequence[tuple[Hyper, list[Array]]]
    ) -> None:
        self._keywords, self._rate, self._sparse = keywords, rate, sparse
        self._arrays: list[Array] = []
        self._parameters: list[torch.nn.Parameter] = []
        first = keywords(*groups[0])
        made = [self._group(hyper, parameters) for hyper, parameters in groups]
        self._optimizer = cls(made, **{rate: 1.0}, **first)

    def _group(self, hyper: Hyper, parameters: Sequence[Array]) -> dict[str, Any]:
        arrays = [np.array(parameter, order="C") for parameter in parameters]
        tensors = [torch.nn.Parameter(tensor_over(array)) for array in arrays]
        self._arrays += arrays
        self._parameters += tensors
        return {"params": tensors, self._rate: 1.0, **self._keywords(hyper, parameters)}

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group, which ``Optimizer.add_param_group`` does."""
        self._optimizer.add_param_group(self._group(hyper, parameters))

    def step(self, grads: list[Array | None], learning_rates: list[float]) -> list[Array]:
        """One ``Optimizer.step``."""
        for group, rate in zip(self._optimizer.param_groups, learning_rates, strict=True):
            group[self._rate] = float(rate)
        for parameter, grad in zip(self._parameters, grads, strict=True):
            tensor = None if grad is None else tensor_over(np.array(grad, order="C"))
            parameter.grad = tensor if tensor is None or not self._sparse else tensor.to_sparse()
        self._optimizer.step()
        return [array.copy() for array in self._arrays]
