"""The gradient that a class of torch.optim takes: perhaps negated, and with one of two kinds of weight decay."""

from __future__ import annotations

from optimetry.reference.books.torch.adam import Adam
from optimetry.reference.books.torch.nadam import NAdam
from optimetry.reference.books.torch.radam import RAdam


def sign_of(maximize: bool) -> float:
    """Return what gradients are multiplied by."""
    return -1.0 if maximize else 1.0


def decay_of(rule: Adam | NAdam | RAdam, lr: float) -> tuple[float, float, float]:
    """Return the sign of the gradient, its L2 penalty, and the share of the parameter that a decoupled decay keeps."""
    decay = rule.weight_decay
    return sign_of(rule.maximize), *((0.0, 1 - lr * decay) if rule.decoupled_weight_decay else (decay, 1.0))
