"""The server side of the target ``keras``: a backend's own process, started by `targets.keras.backend`.

Keras settles its backend when it is imported, so nothing else here imports it. Functions do, not this module: what an
import prints or raises must reach the client, `targets.keras.backend`, as an answer or not at all.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from optimetry.conformance.numerics.arrays import Array

SHARED = "shared_"
"""How variables are called, and numbered, that have no parameter's name."""


class FarRun:
    """One run of an optimizer: variables, divided among one or more optimizers.

    Args:
        cls: the name of a class in ``keras.optimizers``, or what makes an optimizer.
        keywords: what it is given beside the learning rate.
        parameters: what the variables begin with.
        rate: what it calls the learning rate.

    Attributes:
        groups: the optimizers, each with the numbers of its parameters.
    """

    def __init__(
        self,
        cls: str | Callable[..., Any],
        keywords: Mapping[str, object],
        parameters: list[Array],
        rate: str = "learning_rate",
    ) -> None:
        import keras

        self._dtype = parameters[0].dtype.name if parameters else "float32"
        make_room(str(cls), self._dtype)
        make = getattr(keras.optimizers, cls) if isinstance(cls, str) else cls
        self._make: Callable[[], Any] = lambda: make(**{rate: 0.0}, **keywords)
        self._variables = variables_of(parameters, self._dtype)
        self.groups = [(self._optimizer(range(len(parameters))), list(range(len(parameters))))]

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Apply the gradients; an optimizer only some of whose variables have one is split first."""
        import keras

        keras.config.set_floatx(self._dtype)
        self.groups = [part for group in self.groups for part in self._split(group, grads)]
        for optimizer, members in self.groups:
            if grads[members[0]] is not None:
                optimizer.learning_rate = learning_rate
                tensors = [keras.ops.convert_to_tensor(grads[i]) for i in members]
                with without_gradients():
                    optimizer.apply(tensors, [self._variables[i] for i in members])
        return values_of(self._variables)

    def state(self) -> dict[str, list[Array]]:
        """Return the variables of the optimizers by name, the learning rate aside, for each parameter."""
        slots: dict[str, list[Any]] = {}
        for optimizer, members in self.groups:
            for name, variable in named(optimizer).items():
                owner, _, slot = name.partition("_")
                own = [i for i in members if owner == f"parameter{i}"]
                for i in own or (members if name != "learning_rate" else []):
                    key = slot if own else name
                    slots.setdefault(key, [np.zeros(())] * len(self._variables))[i] = np.array(variable.numpy())
        return slots

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state`` returned, with one optimizer for each count of steps."""
        counts = [int(count) for count in state["iteration"]]
        alike = [[i for i, other in enumerate(counts) if other == count] for count in dict.fromkeys(counts)]
        self.groups = [(self._optimizer(members), members) for members in alike]
        for optimizer, members in self.groups:
            held = {f"parameter{i}_{name}": values[i] for i in members for name, values in state.items()}
            self._fill(optimizer, held | {name: values[members[0]] for name, values in state.items()})

    def _optimizer(self, members: Sequence[int]) -> Any:
        optimizer = self._make()
        optimizer.build([self._variables[i] for i in members])
        return optimizer

    def _split(self, group: tuple[Any, list[int]], grads: list[Array | None]) -> list[tuple[Any, list[int]]]:
        optimizer, members = group
        parts = [[i for i in members if (grads[i] is None) is missing] for missing in (False, True)]
        if not all(parts):
            return [group]
        held = {name: variable.numpy() for name, variable in named(optimizer).items()}
        groups = []
        for part in parts:
            own = self._optimizer(part)
            self._fill(own, held)
            groups.append((own, part))
        return groups

    @staticmethod
    def _fill(optimizer: Any, held: Mapping[str, Array]) -> None:
        for name, variable in named(optimizer).items():
            if name in held:
                variable.assign(held[name])


def named(optimizer: Any) -> dict[str, Any]:
    """Return the variables of an optimizer by name.

    Those that have the name of their parameter alone, such as Adafactor's factors, are numbered, and so are those of no
    parameter, such as Nadam's product.
    """
    variables: dict[str, Any] = {}
    for variable in optimizer.variables:
        name = variable.name
        if name.startswith("parameter") and "_" not in name:
            name = f"{name}_factor{sum(known.startswith(f'{name}_factor') for known in variables)}"
        elif not name.startswith(("parameter", "iteration", "learning_rate")):
            name = f"{SHARED}{sum(known.startswith(SHARED) for known in variables)}"
        variables[name] = variable
    return variables


class FarWrapper:
    """One run of a wrapper: variables, and plain SGD that carries the clip or the moving average.

    From zero, with learning rate 1, a step gives minus the clipped gradient, to the bit; with gradients of zero it
    keeps the parameters, and adds them to the moving average.
    """

    def __init__(self, keywords: Mapping[str, object], parameters: list[Array]) -> None:
        import keras

        self._dtype = parameters[0].dtype.name if parameters else "float32"
        make_room(*keywords, self._dtype)
        self._variables = variables_of(parameters, self._dtype)
        self._optimizer = keras.optimizers.SGD(learning_rate=1.0, **keywords)
        self._optimizer.build(self._variables)
        self._training = parameters

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return minus the parameters after a step from zero."""
        self._assign([np.zeros_like(grad) for grad in grads])
        self._step(grads)
        return [np.array(-array) for array in values_of(self._variables)]

    def update(self, parameters: list[Array]) -> None:
        """Take a step with zero gradients on these parameters."""
        self._training = parameters
        self._assign(parameters)
        self._step([np.zeros_like(array) for array in parameters])

    def apply(self) -> list[Array]:
        """Call ``finalize_variable_values``, which puts the averages into the variables."""
        with without_gradients():
            self._optimizer.finalize_variable_values(self._variables)
        return values_of(self._variables)

    def restore(self) -> list[Array]:
        """Assign the parameters of training: Keras itself keeps no copy."""
        self._assign(self._training)
        return values_of(self._variables)

    def _step(self, grads: list[Array]) -> None:
        import keras

        keras.config.set_floatx(self._dtype)
        tensors = [keras.ops.convert_to_tensor(grad) for grad in grads]
        with without_gradients():
            self._optimizer.apply(tensors, self._variables)

    def _assign(self, arrays: list[Array]) -> None:
        for variable, array in zip(self._variables, arrays, strict=True):
            variable.assign(array)


def variables_of(arrays: Sequence[Array], dtype: str) -> list[Any]:
    """Return variables that begin with these arrays, in the dtype that Keras computes in from now on."""
    import keras

    keras.config.set_floatx(dtype)
    return [keras.Variable(array, dtype=dtype, name=f"parameter{i}") for i, array in enumerate(arrays)]


def values_of(variables: Sequence[Any]) -> list[Array]:
    """Copy variables to NumPy arrays."""
    import keras

    return [np.array(keras.ops.convert_to_numpy(variable)) for variable in variables]


def backend() -> str:
    """Return the name of the backend that Keras has."""
    import keras

    return str(keras.backend.backend())


def base() -> type:
    """Return the class whose options, such as a weight decay, are of every optimizer of Keras."""
    import keras

    optimizer: type = keras.optimizers.Optimizer
    return optimizer


def without_gradients() -> contextlib.AbstractContextManager[Any]:
    """Disable gradient recording around an update with torch, as Keras documents it."""
    if backend() != "torch":
        return contextlib.nullcontext()
    import torch

    no_grad: contextlib.AbstractContextManager[Any] = torch.no_grad()
    return no_grad


def make_room(*key: str) -> None:
    """With JAX, clear what was compiled for other rules or wrappers when it is too much."""
    if backend() == "jax":
        from optimetry.conformance.targets.jax_caches import caches

        caches.used(*key)


def serve() -> None:
    """Answer requests from standard input on standard output; what Keras itself prints goes to standard error."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    np.seterr(all="ignore")  # the numpy backend warns of every division by zero
    runs: dict[int, Any] = {}
    kinds = {"start": FarRun, "start_wrapper": FarWrapper}

    def answer(done: bool, content: Any) -> None:
        pickle.dump((done, content), answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()

    try:
        import keras
    except Exception as error:
        return answer(False, f"importing keras raised {type(error).__name__}: {error}")
    answer(True, keras.__version__)
    while True:
        try:
            verb, number, arguments, over = pickle.load(requests)
        except EOFError:
            return None
        for finished in over:
            runs.pop(finished, None)
        try:
            if verb in kinds:
                runs[number] = kinds[verb](*arguments)
                answer(True, None)
            else:
                answer(True, getattr(runs[number], verb)(*arguments))
        except Exception as error:
            answer(False, f"{type(error).__name__}: {error}")
