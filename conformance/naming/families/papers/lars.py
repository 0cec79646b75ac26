"""Rules that are called LARS, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Dialect, Setting, axis, declare
from optimetry.reference.books.papers.lars import LARS
from optimetry.reference.books.papers.quotient import quotient
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class LARSFamily(LARS):
    """LARS, with a choice at every place where implementations differ; |x| is a norm over the tensor."""

    zero_norm: str = axis(
        "no_rate",
        {
            "no_rate": "lambda is 0 where |w| = 0 or |g| + wd*|w| = 0",
            "plain_rate": "lambda is 1 where |w| = 0 or |g| + wd*|w| = 0",
        },
    )
    rate_placement: str = axis(
        "inside",
        {
            "inside": "v = m*v + lr*lambda*(g + wd*w); w -= v",
            "outside": "v = m*v + lambda*(g + wd*w); w -= lr*v",
            "outside_with_ratio": "v = m*v + g + wd*w; w -= lr*lambda*v",
        },
    )
    vectors: str = axis(
        "scaled",
        {"scaled": "as any tensor", "plain": "lambda is 1 where w has fewer than two dimensions, and w does not decay"},
    )

    @property
    def reads_shapes(self) -> bool:
        return self.vectors == "plain"

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        ratio, decayed = self._local(param, grad)
        if self.rate_placement == "inside":
            v = self.momentum * state.v + lr * ratio * decayed
            return param - v, State(v=v)
        if self.rate_placement == "outside":
            v = self.momentum * state.v + ratio * decayed
            return param - lr * v, State(v=v)
        v = self.momentum * state.v + decayed
        return param - lr * ratio * v, State(v=v)

    def _local(self, param: Array, grad: Array) -> tuple[Any, Array]:
        """Return lambda, and the gradient with its decay."""
        if self.vectors == "plain" and param.ndim < 2:
            return 1.0, grad
        param_norm = norm(param)
        divisor = norm(grad) + self.weight_decay * param_norm
        ratio = self.eta * quotient(param_norm, divisor)
        if self.zero_norm == "plain_rate":
            ratio = np.where((param_norm > 0) & (divisor > 0), ratio, 1.0)
        return ratio, grad + self.weight_decay * param


declare(
    Dialect(
        name="ratio_outside",
        family=LARSFamily,
        point={"zero_norm": "plain_rate", "rate_placement": "outside_with_ratio"},
        origin="pylocron's LARS, which has no eta",
        reference="holocron/optim/lars.py, LARS.step",
        difference="v = m*v + g + wd*w; w -= lr*lambda*v; lambda is 1 where |w| = 0 or |g| + wd*|w| = 0",
    ),
    Dialect(
        name="vectors_plain",
        family=LARSFamily,
        point={"zero_norm": "plain_rate", "rate_placement": "outside", "vectors": "plain"},
        origin="pytorch-optimizer's LARS",
        reference="pytorch_optimizer/optimizer/lars.py, LARS.step",
        difference="v = m*v + lambda*(g + wd*w), or + g for vectors and scalars; w -= lr*v; lambda is 1 where "
        "|w| = 0 or |g| + wd*|w| = 0",
    ),
    settings=tuple(
        Setting({"momentum": 0.7, "eta": eta, "weight_decay": decay}, sizes=(-8, 1), grads=(-9, 1), pool=40)
        for eta, decay in ((0.7, 0.3), (0.1, 0.0))
    ),
)
