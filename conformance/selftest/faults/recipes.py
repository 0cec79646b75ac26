"""What trainers put around an optimizer, several things at once: a clip, a decay and a schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from optimetry.conformance.selftest.faults.around import Lookahead
from optimetry.conformance.selftest.faults.fault import Fault, Memory, Start, enter
from optimetry.conformance.selftest.faults.hooks import Change, Grads, HookedRun, Hooks, changed
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.norms import norm
from optimetry.reference.rule import Rule


def _of(rule: Rule, change: Change) -> Rule:
    """Return a rule, with its hyperparameters, whose every update gets something else."""
    return changed(type(rule), change).of(rule.hyper())


def _around(change: Change, grads: Callable[[Grads], Grads] = lambda grads: grads) -> Start:
    """Begin runs of the documented rule in which every update gets something else, and all gradients of a step do."""

    def start(rule: Rule, parameters: list[Any], memory: Memory) -> RuleRun:
        return HookedRun(_of(rule, change), parameters, Hooks(grads=grads))

    return start


def _pulled_back(change: Change) -> Start:
    return lambda rule, parameters, memory: Lookahead(_of(rule, change), parameters)


def clipped_together(grads: Grads) -> Grads:
    """Scale all gradients of a step to a norm of at most 1, as `torch.nn.utils.clip_grad_norm_` does."""
    with np.errstate(all="ignore"):
        squares = [np.sum(np.square(grad), dtype=grad.dtype) for grad in grads if grad is not None]
        total = np.sqrt(np.sum(squares, dtype=squares[0].dtype)) if squares else np.float32(0)
        one = total.dtype.type(1)
        factor = one / np.maximum(total, one)
        return [None if grad is None else np.asarray(grad * factor) for grad in grads]


def each_clipped(grads: Grads) -> Grads:
    """Scale each gradient to a norm of at most 1, as a loop over parameters does."""
    return [grad for each in grads for grad in clipped_together([each])]


def _adapted(part: float, axes_of: Callable[[int], tuple[int, ...]]) -> Change:
    """Limit the norms of gradients over some axes to a part of those of the parameter, as NFNets do."""

    def size(array: Any) -> Any:
        axes = axes_of(len(array.shape))
        return np.sqrt(np.sum(np.square(array), axis=axes, keepdims=True)) if axes else norm(array)

    def change(param: Any, grad: Any, lr: Any, t: int) -> tuple[Any, Any, Any]:
        most = part * np.maximum(size(param), 1e-3)
        return param, grad * (most / np.maximum(size(grad), most)), lr

    return change


enter(
    Fault(
        name="clip_and_warm_up",
        optimizer="papers.adam",
        defect="a trainer clips by the norm of all gradients, and warms up",
        start=_around(lambda param, grad, lr, t: (param, grad, lr * min(1.0, t / 10)), clipped_together),
        outcome="diverges: documented, but scales all gradients together to a norm of at most 1; and multiplies the "
        "learning rate by min(1, t/10)",
    ),
    Fault(
        name="clip_decay_and_warm_up",
        optimizer="momentum",
        defect="the same with a decay, which the document does not have, behind the clip",
        start=_around(lambda param, grad, lr, t: (param, grad + 0.01 * param, lr * min(1.0, t / 4)), clipped_together),
        outcome="diverges: documented, but decays by 0.01, unasked, as part of the gradient; and scales all gradients "
        "together to a norm of at most 1; and multiplies the learning rate by min(1, t/4)",
    ),
    Fault(
        name="decay_apart_and_limited_gradients",
        optimizer="rmsprop",
        defect="a decay apart from the gradient, whose elements are clipped to ±0.5",
        start=_around(lambda param, grad, lr, t: (param * (1 - lr * 0.1), np.minimum(np.maximum(grad, -0.5), 0.5), lr)),
        outcome="diverges: documented, but decays by 0.1, unasked, apart from the gradient, times the learning rate; "
        "and clips every gradient element to ±0.5",
    ),
    Fault(
        name="decay_and_pulled_back",
        optimizer="sgd",
        defect="a default weight decay within Lookahead, which pulls parameters back every five steps",
        start=_pulled_back(lambda param, grad, lr, t: (param, grad + 0.01 * param, lr)),
        outcome="diverges: documented, but decays by 0.01, unasked, as part of the gradient; and moves parameters back "
        "to 0.5 of their way every 5 steps",
    ),
    Fault(
        name="rate_falls_every_third_update",
        optimizer="adamax",
        defect="StepLR(step_size=3, gamma=0.1) within the optimizer",
        start=_around(lambda param, grad, lr, t: (param, grad, lr * 0.1 ** ((t - 1) // 3))),
        outcome="diverges: documented, but multiplies the learning rate by 0.1**floor((t - 1)/3)",
    ),
    Fault(
        name="warm_up_from_a_tenth_and_decay",
        optimizer="adagrad",
        defect="LinearLR(start_factor=0.1, total_iters=6) and a default weight decay",
        start=_around(
            lambda param, grad, lr, t: (param, grad + 1e-3 * param, lr * (0.1 + 0.9 * min(1.0, (t - 1) / 6)))
        ),
        outcome="diverges: documented, but decays by 0.001, unasked, as part of the gradient; and multiplies the "
        "learning rate by 0.1 + 0.9*min(1, (t - 1)/6)",
    ),
    Fault(
        name="rate_in_pieces",
        optimizer="papers.lion",
        defect="MultiStepLR(milestones=[3, 5], gamma=0.5) within the optimizer, which falls twice and no more",
        start=_around(lambda param, grad, lr, t: (param, grad, lr * (1.0 if t < 4 else 0.5 if t < 6 else 0.25))),
        outcome="diverges: documented, but multiplies the learning rate by 1 while t < 4, 0.5 while t < 6, then 0.25",
    ),
    Fault(
        name="gradients_adapted_to_the_parameter",
        optimizer="sgd",
        defect="the adaptive clip of NFNets, of whole tensors, unasked",
        start=_around(_adapted(0.01, lambda count: ())),
        outcome="diverges: documented, but scales each gradient to a norm of at most 0.01 of that of the parameter",
    ),
    Fault(
        name="rows_adapted_to_the_parameter",
        optimizer="momentum",
        defect="the same of each row, as timm does",
        start=_around(_adapted(0.02, lambda count: tuple(range(1, count)))),
        outcome="diverges: documented, but scales each row of a gradient to a norm of at most 0.02 of that of the "
        "parameter",
    ),
    Fault(
        name="columns_adapted_to_the_parameter",
        optimizer="adadelta",
        defect="the same of each column, as Optax does",
        start=_around(_adapted(0.1, lambda count: tuple(range(count - 1)))),
        outcome="diverges: documented, but scales each column of a gradient to a norm of at most 0.1 of that of the "
        "parameter",
    ),
)
