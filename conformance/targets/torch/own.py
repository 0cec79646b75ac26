"""Makes targets of optimizers in torch that are not its own: any class with ``step`` and ``param_groups``."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from optimetry.conformance.harness.python_harness import GROUPS, MIXED, STRIDED
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.first_steps import usual, works
from optimetry.conformance.targets.fitting import Fit, Taken, parameters_of
from optimetry.conformance.targets.offers import MADE_AT, documented_name
from optimetry.conformance.targets.own import Maker
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.torch.rules import (
    ABSENT_TENSOR,
    ENGINES,
    TorchClass,
    TorchRun,
    array_of,
    group_of,
    tensor,
)
from optimetry.conformance.targets.torch.table import OFFERS
from optimetry.reference.errors import TargetError

OF_THE_GROUP, OF_ALL, OBJECT = "group ", "all ", "object "
"""How slots begin that the parameters of a group share, or all do; and those of numbers, lists, objects, as bytes."""

WHOLE = "state_dict"
"""The one slot of a class that saves or loads in a way of its own: what its ``state_dict`` returned, as bytes."""

ABSENT = object()
"""Stands for what a parameter does not have yet."""

ABSENT_OBJECT = np.zeros(0, np.uint8)
"""As which it is saved, if it is no tensor; `ABSENT_TENSOR` is for tensors."""


@dataclass(frozen=True)
class OwnTorchClass(TorchClass):
    """A class that is not torch's, fitted to a rule."""

    usual: Mapping[str, Any] = field(default_factory=dict)
    """The default hyperparameters of the rule."""
    kept: Collection[str] = ()
    """The arguments that it keeps in a group of parameters as they are, so that each group may have its own."""

    @property
    def rate_of_group(self) -> str:
        """What a group of parameters calls its learning rate."""
        return self.rate if self.rate in self.kept else "lr"

    @property
    def shared(self) -> list[str]:
        """The hyperparameters of arguments that it keeps elsewhere."""
        sources = {**self.arguments, **{argument: flag for argument, (flag, _) in self.words.items()}}
        elsewhere = [source for argument, source in sources.items() if argument not in self.kept]
        names = (name for source in elsewhere for name in ((source,) if isinstance(source, str) else source))
        return [documented_name(name) for name in names]

    def of_group(self, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of these keyword arguments that a group has."""
        return {name: value for name, value in keywords.items() if name in self.kept}

    def of_all_groups(self, first: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of the first group that it keeps elsewhere, and the defaults of the rule for all others.

        Where the class refuses these together, as Nesterov's momentum without any, all of the first group are returned.
        """
        usual = self.keywords_on("single", self.usual)
        mixed = {**first, **{name: usual[name] for name in (*self.arguments, *self.words) if name in self.kept}}
        return dict(first) if self.refused(_some_parameters(), **{self.rate: MADE_AT}, **mixed) else mixed

    @property
    def taken(self) -> Collection[str]:
        """The names of the arguments that the class takes, or passes on."""
        return {parameter.name for parameter in parameters_of(self.cls, torch.optim.Optimizer)}

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return what the constructor says where it refuses its arguments, or that it takes no such implementation."""
        if engine != "single" and engine not in self.taken:
            return f"{self.cls.__name__} takes no {engine!r}"
        return self.refused(_some_parameters(), **{self.rate: MADE_AT}, **self.keywords_on(engine, hyper))

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> OwnTorchRun:
        """Begin a run."""
        return OwnTorchRun(self, self.keywords_on(engine, hyper), parameters)


class OwnTorchRun(TorchRun):
    """A run whose state is what ``Optimizer.state_dict`` has, under the names that the class gives it."""

    def __init__(self, entry: TorchClass, keywords: Mapping[str, object], parameters: Sequence[Array]) -> None:
        super().__init__(entry, keywords, parameters)
        kept = [name for name in (entry.rate, "lr") if name in self._group]
        if not kept:
            raise ValueError(f"{entry.cls.__name__} keeps no {entry.rate!r} in param_groups, so no step can change it")
        self._rate = kept[0]
        self._first = self._shared()
        self._entry, self._keywords = entry, keywords

    def _shared(self) -> dict[str, bytes]:
        """Return what the parameters of the group share, but the learning rate, as it is saved."""
        return {key: _bytes(value) for key, value in self._group.items() if key not in ("params", self._rate)}

    def state(self) -> dict[str, list[Array]]:
        """Return the state, `ABSENT_TENSOR` or `ABSENT_OBJECT` for what a parameter does not have yet.

        Of what the parameters of a group share it is what has changed, such as a number of steps that is counted there;
        what ``Optimizer.state`` has under keys that are no parameters is part of it, too.
        A class with a ``state_dict`` or a ``load_state_dict`` of its own saves by these, `WHOLE`.
        """
        whole = _whole(self._optimizer)
        if whole:
            return {WHOLE: [np.frombuffer(whole, np.uint8)]}
        states = [self._optimizer.state.get(parameter, {}) for parameter in self._parameters]
        changed = {
            OF_THE_GROUP + key: [self._group[key] for _ in states]
            for key, saved in self._shared().items()
            if saved != self._first.get(key)
        }
        own = {key: [state.get(key, ABSENT) for state in states] for state in states for key in state}
        named = ((key, value) for key, value in self._optimizer.state.items() if isinstance(key, str))
        of_all = {OF_ALL + key: [value for _ in states] for key, value in named}
        return dict(_slot(key, values) for key, values in (own | changed | of_all).items())

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned.

        A class that loads in a way of its own is loaded where something else was: into an optimizer that was made with
        the defaults of the rule, and has done a step. torch's ``load_state_dict`` replaces options and state.
        """
        if WHOLE in state:
            self._begin_otherwise()
            self._optimizer.load_state_dict(pickle.loads(state[WHOLE][0].tobytes()))
            self._group = group_of(self._optimizer)  # which torch has made anew
            return
        for slot, arrays in state.items():
            key, pickled = slot.removeprefix(OBJECT), slot.startswith(OBJECT)
            for parameter, array in zip(self._parameters, arrays, strict=True):
                if not array.size and (pickled or array.dtype == ABSENT_TENSOR.dtype):
                    continue
                value = pickle.loads(array.tobytes()) if pickled else tensor(array)
                if key.startswith(OF_THE_GROUP):
                    self._group[key.removeprefix(OF_THE_GROUP)] = value
                elif key.startswith(OF_ALL):
                    self._optimizer.state[key.removeprefix(OF_ALL)] = value
                else:
                    self._optimizer.state[parameter][key] = value

    def _begin_otherwise(self) -> None:
        """Put an optimizer that has done a step with other options in place of this one; parameters stay."""
        before = [parameter.detach().clone() for parameter in self._parameters]
        options = {self._entry.rate: MADE_AT, **self._entry.of_all_groups(self._keywords)}
        self._optimizer = self._entry.cls(self._parameters, **options)
        self._group = group_of(self._optimizer)
        self.step([np.ones_like(grad) for grad in self._grad_arrays], 1.0)
        with torch.no_grad():
            for parameter, value in zip(self._parameters, before, strict=True):
                parameter.copy_(value)


def _some_parameters() -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(torch.ones(1, 1))]


def _whole(optimizer: Any) -> bytes | None:
    """Return what an optimizer saves in a way of its own, None where it has none, or saves what has no bytes."""
    kind, base = type(optimizer), torch.optim.Optimizer
    if not isinstance(optimizer, base):
        return None
    if kind.state_dict is base.state_dict and kind.load_state_dict is base.load_state_dict:
        return None
    try:
        return pickle.dumps(optimizer.state_dict())
    except (NotImplementedError, pickle.PicklingError, TypeError, AttributeError):
        return None


def _slot(key: str, values: list[Any]) -> tuple[str, list[Array]]:
    """Return a slot's name and arrays: those of tensors, or the bytes of anything else."""
    if all(value is ABSENT or isinstance(value, torch.Tensor) for value in values):
        return key, [ABSENT_TENSOR if value is ABSENT else array_of(value.detach()) for value in values]
    objects = [ABSENT_OBJECT if value is ABSENT else np.frombuffer(_bytes(value), np.uint8) for value in values]
    return OBJECT + key, objects


def _bytes(value: Any) -> bytes:
    """Return a value as it is saved, tensors within it, too; nothing of what cannot be saved, such as a function."""
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError):
        return pickle.dumps(None)


def check(cls: Any, spec: str) -> None:
    """Refuse what has no ``step``, and what needs more in it than gradients, such as the loss.

    Raises:
        TargetError: the text says why.
    """
    if not isinstance(cls, type):
        return
    step = getattr(cls, "step", None)
    if not callable(step) or step is torch.optim.Optimizer.step:
        raise TargetError(f"target {spec}: {cls.__name__} has no step of its own, must be {KIND}")
    arguments = list(inspect.signature(step).parameters.values())[1:]
    needed = [
        argument.name
        for argument in arguments
        if argument.default is argument.empty and argument.kind is argument.POSITIONAL_OR_KEYWORD
    ]
    if needed:
        why = "it evaluates the loss itself, and optimetry gives gradients"
        if needed != ["closure"]:
            why = "optimetry calls it without arguments, as a training loop calls torch's own"
        raise TargetError(f"target {spec}: {cls.__name__}.step needs {', '.join(needed)}: {why}")


def offer(cls: Any, fit: Fit) -> OwnTorchClass:
    """Return the offer of a class; one that takes no dense gradient, and a sparse one, gets sparse gradients."""
    dense = OwnTorchClass(cls, **fit.fields, rate=fit.rate, fused=True)
    sparse = replace(dense, sparse=True)
    taken = sparse if not works(dense, fit.rule, "single") and works(sparse, fit.rule, "single") else dense
    hyper = usual(taken, fit.rule)
    return replace(taken, usual=hyper, kept=_kept(taken, hyper))


def _kept(entry: OwnTorchClass, hyper: Hyper) -> tuple[str, ...]:
    """Return the arguments that a class keeps in a group as they are; none of a class that cannot be made."""
    given = {entry.rate: MADE_AT, **entry.keywords_on("single", hyper)}
    try:
        (group,) = entry.cls(_some_parameters(), **given).param_groups
    except (Exception, SystemExit):
        return ()
    return tuple(name for name, value in given.items() if name in group and _bytes(group[name]) == _bytes(value))


def leading(cls: Any) -> int:
    """Return how many arguments are no hyperparameters."""
    return 1


def engines(cls: Any, taken: Sequence[Taken]) -> tuple[str, ...]:
    """Return the implementations that the arguments of a class choose among."""
    names = {argument.name for argument in taken}
    return tuple(engine for engine in ENGINES if engine == "single" or engine in names)


def base() -> type:
    """Return the class whose arguments are parameters and the defaults of their groups."""
    optimizer: type = torch.optim.Optimizer
    return optimizer


KIND = "a subclass of torch.optim.Optimizer, or a function that makes one of parameters"

VERSION = f"torch {torch.__version__.partition('+')[0]}"

MAKER = Maker(KIND, VERSION, OFFERS, offer, leading, engines, check, base=base, more=(GROUPS, MIXED, STRIDED))
