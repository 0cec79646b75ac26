"""Where Adam, NAdam and RAdam of torch.optim take a weight decay, which none of their families varies."""

from __future__ import annotations

from typing import Any

from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.rule import Array


def decayed(rule: Any, param: Array, grad: Array, lr: Any) -> tuple[Array, Array]:
    """Return the parameter and the gradient to descend along, one of which holds the decay as the rule's flag says."""
    grad = directed(grad, rule.maximize)
    if rule.decoupled_weight_decay:
        return param - lr * rule.weight_decay * param, grad
    return param, with_decay(grad, param, rule.weight_decay)
