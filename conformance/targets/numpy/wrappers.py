"""Runs the documented wrappers by the reference's public classes, and any declared one, in working precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.wrappers.wrapper import Wrapper
from optimetry.conformance.targets.numpy.batches import mean_of, unscaled
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.clips import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue, GradientClipBase
from optimetry.reference.distributed.dgc_momentum import DGCMomentum, Message
from optimetry.reference.precision import working
from optimetry.reference.regularizers import L1Decay, L2Decay, WeightDecayRegularizer


class GradientFeed:
    """Feeds gradients to a wrapper, in their precision."""

    def __init__(self, wrapper: Wrapper, parameters: Sequence[Array]) -> None:
        self.wrapper = wrapper
        self.parameters = [working(array) for array in parameters]
        self._state: Any = None

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return the wrapper's result for these gradients."""
        with np.errstate(all="ignore"):
            fed = [working(grad) for grad in grads]
            results, self._state = self.wrapper.feed(fed, self.parameters, self._state)
        return [np.array(array, grad.dtype) for array, grad in zip(results, grads, strict=True)]


class Documented:
    """Runs the reference's own clips and regularizers, by their public methods."""

    def __init__(self, wrapper: str, hyper: Hyper, parameters: Sequence[Array]) -> None:
        self._parameters = [np.array(array) for array in parameters]
        self._clip = CLIPS[wrapper](hyper) if wrapper in CLIPS else None
        kind = REGULARIZERS.get(wrapper)
        self._regularizer = kind(hyper["regularization_coeff"]) if kind else None

    def transform(self, grads: list[Array]) -> list[Array]:
        """Apply the clip first, then the regularizer."""
        results = list(grads) if self._clip is None else self._clip.clipped(grads)
        if self._regularizer is not None:
            results = [self._regularizer.regularized(*pair) for pair in zip(self._parameters, results, strict=True)]
        return [np.array(array) for array in results]

    def transform_scaled(self, grads: list[Array], scale: float) -> list[Array]:
        """Divide gradients by their scale, then do the same."""
        return self.transform(unscaled(grads, scale))

    def transform_accumulated(self, parts: Sequence[list[Array]]) -> list[Array]:
        """Do the same with the mean of the gradients of all parts."""
        return self.transform(mean_of(parts))


CLIPS: Mapping[str, Callable[[Hyper], GradientClipBase]] = {
    "clip_by_value": lambda hyper: ClipGradByValue(hyper["max"], hyper["min"]),
    "clip_by_norm": lambda hyper: ClipGradByNorm(hyper["clip_norm"]),
    "clip_by_global_norm": lambda hyper: ClipGradByGlobalNorm(hyper["clip_norm"]),
    "clip_then_decay": lambda hyper: ClipGradByGlobalNorm(hyper["clip_norm"]),
}
REGULARIZERS: Mapping[str, type[WeightDecayRegularizer]] = {
    "l1_decay": L1Decay,
    "l2_decay": L2Decay,
    "clip_then_decay": L2Decay,
}


class Compressed:
    """Runs the reference's own compression; a message is an array with zeros for what is not sent."""

    def __init__(self, hyper: Hyper, parameters: Sequence[Array]) -> None:
        numbers = {name: hyper[name] for name in ("momentum", "use_nesterov")}
        self._rule, self._sparsity = DGCMomentum(rampup_begin_step=0, **numbers), hyper["sparsity"]
        self._states = [self._rule.initial_state(working(array)) for array in parameters]

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return each gradient's message as an array."""
        messages = []
        with np.errstate(all="ignore"):
            for i, grad in enumerate(grads):
                message, self._states[i] = self._rule.compress(working(grad), self._states[i], self._sparsity)
                messages.append(dense(message, grad))
        return messages


def dense(message: Message, like: Array) -> Array:
    """Return a message as an array of a gradient's shape and dtype."""
    array = np.zeros(like.size, like.dtype)
    with np.errstate(all="ignore"):
        array[message.indices] = np.asarray(message.values).astype(like.dtype)
    return array.reshape(like.shape)


class AverageFeed:
    """Runs an average; of float16 and bfloat16 parameters in float32, where 0.999 is not 1."""

    def __init__(self, wrapper: Wrapper, parameters: Sequence[Array]) -> None:
        self.wrapper = wrapper
        self.dtype = parameters[0].dtype if parameters else np.dtype(np.float32)
        self.first = [self._held(array) for array in parameters]
        self.training = [np.array(array) for array in parameters]
        self.inside = list(self.training)
        self.averages = list(self.training)
        self._state: Any = None

    def update(self, parameters: list[Array]) -> None:
        """Feed the parameters."""
        self.training = self.inside = [np.array(array) for array in parameters]
        with np.errstate(all="ignore"):
            held = [self._held(array) for array in parameters]
            averages, self._state = self.wrapper.feed(held, self.first, self._state)
            self.averages = [np.array(array).astype(self.dtype) for array in averages]

    def apply(self) -> list[Array]:
        """Put the averages in, and return them."""
        self.inside = self.averages
        return [array.copy() for array in self.inside]

    def restore(self) -> list[Array]:
        """Return the parameters as `update` was given them."""
        self.inside = self.training
        return [array.copy() for array in self.inside]

    def state(self) -> dict[str, list[Array]]:
        """Return all that the average holds, in one list; empty before the first update."""
        return {"state": [np.array(leaf) for leaf in _leaves(self._state)]} if self._state else {}

    def load(self, state: dict[str, list[Array]]) -> None:
        """Continue from what `state` returned."""
        with np.errstate(all="ignore"):
            _, like = self.wrapper.feed(self.first, self.first, None)
        self._state = _rebuilt(like, iter(state["state"])) if state else None

    def _held(self, array: Array) -> Any:
        return working(array.astype(np.float32) if array.dtype.itemsize < 4 else array)


def _leaves(state: Any) -> Iterator[Any]:
    if isinstance(state, tuple | list):
        for part in state:
            yield from _leaves(part)
    else:
        yield state


def _rebuilt(like: Any, leaves: Iterator[Array]) -> Any:
    if isinstance(like, tuple | list):
        parts = [_rebuilt(part, leaves) for part in like]
        return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
    leaf = next(leaves)
    return type(like)(leaf.item()) if isinstance(like, int | float) else working(leaf)


def started(wrapper: Wrapper, parameters: Sequence[Array]) -> GradientFeed | AverageFeed:
    """Begin a run of a wrapper: documented, a dialect or a faulty one."""
    return (AverageFeed if wrapper.averages else GradientFeed)(wrapper, parameters)


def documented(
    wrapper: str, hyper: Hyper, parameters: Sequence[Array]
) -> Documented | Compressed | GradientFeed | AverageFeed:
    """Begin a run of a documented wrapper: by the reference's public classes if there are any, else as declared."""
    declared = cast(Wrapper, subject_named(wrapper).of(hyper))
    if wrapper in CLIPS or wrapper in REGULARIZERS:
        return Documented(wrapper, declared.hyper(), parameters)
    return Compressed(declared.hyper(), parameters) if wrapper == "dgc_compress" else started(declared, parameters)
