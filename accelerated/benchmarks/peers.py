"""The same rules in the frameworks that are installed: for each a function that does one step on its own arrays.

What a framework computes under a rule's name may be a dialect of it; its keywords are such that it moves the same
memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from optimetry.accelerated.dtypes import Array

Step = Callable[[], None]

LR = 1e-3

TORCH: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "sgd": ("SGD", {}, ("fused", "foreach")),
    "momentum": ("SGD", {"momentum": 0.9}, ("fused", "foreach")),
    "adagrad": ("Adagrad", {}, ("fused", "foreach")),
    "decayed_adagrad": ("RMSprop", {"alpha": 0.95}, ("foreach",)),
    "adadelta": ("Adadelta", {"rho": 0.95}, ("foreach",)),
    "adam": ("Adam", {}, ("fused", "foreach")),
    "adamax": ("Adamax", {}, ("foreach",)),
    "rmsprop": ("RMSprop", {"alpha": 0.95, "momentum": 0.9}, ("foreach",)),
}
"""Class of ``torch.optim``, its keywords, its implementations."""

OPTAX: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("sgd", {}),
    "momentum": ("sgd", {"momentum": 0.9}),
    "lars_momentum": ("lars", {"momentum": 0.9, "weight_decay": 0.0005}),
    "adagrad": ("adagrad", {}),
    "decayed_adagrad": ("rmsprop", {"decay": 0.95}),
    "adadelta": ("adadelta", {"rho": 0.95}),
    "adam": ("adam", {}),
    "adamax": ("adamax", {}),
    "rmsprop": ("rmsprop", {"decay": 0.95, "momentum": 0.9}),
    "lamb": ("lamb", {"weight_decay": 0.01}),
}
"""Function of optax, and its keywords."""

PADDLE: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {}),
    "momentum": ("Momentum", {"momentum": 0.9}),
    "lars_momentum": ("LarsMomentumOptimizer", {"momentum": 0.9}),
    "adagrad": ("Adagrad", {}),
    "adadelta": ("Adadelta", {}),
    "adam": ("Adam", {}),
    "adamax": ("Adamax", {}),
    "rmsprop": ("RMSProp", {"momentum": 0.9}),
    "lamb": ("Lamb", {}),
    "asgd": ("ASGD", {"batch_num": 1}),
}
"""Class of ``paddle.optimizer``, and its keywords; FTRL and decayed Adagrad are bare operators."""

UNROLLED = 1_000
"""The most tensors that optax is given: jit unrolls them, and ten thousand take it over ten minutes to compile."""


def peers(rule: str, parameters: Sequence[Array], grads: Sequence[Array]) -> Iterator[tuple[str, Step]]:
    """Yield the installed frameworks' steps, each on copies of these parameters and gradients."""
    for framework in (_torch, _optax, _paddle):
        try:
            yield from framework(rule, parameters, grads)
        except ImportError:
            continue


def versions() -> dict[str, str]:
    """The version of every framework that is installed."""
    from importlib import metadata

    found = {}
    for name in ("torch", "optax", "jax", "paddlepaddle"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _torch(rule: str, parameters: Sequence[Array], grads: Sequence[Array]) -> Iterator[tuple[str, Step]]:
    if rule not in TORCH:
        return
    import torch

    def tensor(array: Array) -> Any:
        if array.dtype == ml_dtypes.bfloat16:
            return torch.from_numpy(array.view(np.uint16).copy()).view(torch.bfloat16)
        return torch.from_numpy(array.copy())

    cls, keywords, implementations = TORCH[rule]
    for implementation in implementations:
        tensors = [torch.nn.Parameter(tensor(array)) for array in parameters]
        for one, grad in zip(tensors, grads, strict=True):
            one.grad = tensor(grad)
        optimizer = getattr(torch.optim, cls)(tensors, lr=LR, **keywords, **{implementation: True})
        yield f"torch {implementation}", optimizer.step


def _optax(rule: str, parameters: Sequence[Array], grads: Sequence[Array]) -> Iterator[tuple[str, Step]]:
    if rule not in OPTAX or len(parameters) > UNROLLED:
        return
    import jax
    import optax

    jax.config.update("jax_enable_x64", True)
    function, keywords = OPTAX[rule]
    transform = getattr(optax, function)(LR, **keywords)
    held = [jax.numpy.array(array) for array in parameters]
    given = [jax.numpy.array(array) for array in grads]
    state = transform.init(held)

    def update(held: Any, state: Any, given: Any) -> Any:
        updates, state = transform.update(given, state, held)
        return optax.apply_updates(held, updates), state

    compiled = jax.jit(update, donate_argnums=(0, 1))
    box = [held, state]

    def step() -> None:
        box[:] = compiled(*box, given)
        jax.block_until_ready(box)

    yield "optax jit", step


def _paddle(rule: str, parameters: Sequence[Array], grads: Sequence[Array]) -> Iterator[tuple[str, Step]]:
    if grads[0].dtype not in (np.float32, np.float64):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import paddle
        from paddle.incubate.optimizer import LarsMomentumOptimizer
    paddle.set_device("cpu")
    tensors = [paddle.to_tensor(array, stop_gradient=False) for array in parameters]
    given = [paddle.to_tensor(array) for array in grads]
    if rule in PADDLE:
        cls, keywords = PADDLE[rule]
        listed = {"parameter_list" if cls == "LarsMomentumOptimizer" else "parameters": tensors}
        made = LarsMomentumOptimizer if cls == "LarsMomentumOptimizer" else getattr(paddle.optimizer, cls)
        optimizer = made(learning_rate=LR, **listed, **keywords)
        for one, grad in zip(tensors, given, strict=True):
            one.grad = grad
        yield "paddle", optimizer.step
    elif grads[0].dtype == np.float32:  # the operators that have no class have no other kernel
        operator = {"ftrl": _ftrl, "decayed_adagrad": _decayed_adagrad}[rule]
        slots = [[paddle.zeros_like(one) for _ in range(2)] for one in tensors]
        lr = paddle.to_tensor(LR, dtype="float32")

        def step() -> None:
            for i, grad in enumerate(given):
                tensors[i], *slots[i] = operator(paddle, tensors[i], grad, slots[i], lr)

        yield "paddle operator", step


def _ftrl(paddle: Any, tensor: Any, grad: Any, slots: list[Any], lr: Any) -> Any:
    return paddle._C_ops.ftrl(tensor, *slots, grad, lr, 0.0, 0.0, -0.5)


def _decayed_adagrad(paddle: Any, tensor: Any, grad: Any, slots: list[Any], lr: Any) -> Any:
    return paddle._C_ops.decayed_adagrad(tensor, grad, slots[0], lr, 0.95, 1e-6)
