"""Makes targets of optimizers in Keras that are not its own, on the one backend that Keras has in this process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata, util
from typing import Any

import numpy as np

from optimetry.conformance.cases.offered import MISSING
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.first_steps import usual
from optimetry.conformance.targets.fitting import Fit, Taken
from optimetry.conformance.targets.keras.backend import ON_THE_CPU, WIDE_JAX
from optimetry.conformance.targets.keras.process import SHARED, FarRun, backend, base, named
from optimetry.conformance.targets.keras.table import OFFERS
from optimetry.conformance.targets.keras.target import KerasTarget
from optimetry.conformance.targets.offers import ClassOffer
from optimetry.conformance.targets.own import Maker
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.errors import TargetError


@dataclass(frozen=True, kw_only=True)
class OwnKerasClass(ClassOffer):
    """A class that is not Keras', fitted to a rule; it runs in this process."""

    rate: str
    """Its argument that is the learning rate."""

    def refusal(self, subject: str, hyper: Hyper, dtype: str, engine: str) -> str | None:
        """Return what the constructor says where it refuses its arguments, None where it does not."""
        return self.refused(**{self.rate: 0.0}, **self.keywords(hyper))

    def start(self, subject: str, hyper: Hyper, parameters: Sequence[Array], engine: str) -> FarRun:
        """Begin a run."""
        return FarRun(self.cls, self.keywords(hyper), list(parameters), self.rate)


def check(cls: Any, spec: str) -> None:
    """Refuse a class that does no update of its own.

    Raises:
        TargetError: the text says so.
    """
    if isinstance(cls, type) and not (callable(getattr(cls, "apply", None)) and callable(getattr(cls, "build", None))):
        raise TargetError(f"target {spec}: {cls.__name__} has no build and apply, must be {KIND}")


def offer(cls: Any, fit: Fit) -> OwnKerasClass:
    """Return the offer of a class."""
    return OwnKerasClass(cls, **fit.fields, rate=fit.rate)


def cannot(offered: Any, rule: str) -> Sequence[str]:
    """Return that gradients cannot be missing, if variables of a parameter are not called by its name.

    Parameters with a gradient and without go on in optimizers of their own, to which variables are given by name.
    """
    keywords = offered.keywords(usual(offered, rule))

    def unnamed(count: int) -> int:
        (optimizer, _), *_ = FarRun(offered.cls, keywords, [np.ones(2, np.float32)] * count, offered.rate).groups
        return sum(name.startswith(SHARED) for name in named(optimizer))

    return (MISSING,) if unnamed(2) > unnamed(1) else ()


def engines(cls: Any, taken: Sequence[Taken]) -> tuple[str, ...]:
    """Return the backend."""
    return (backend(),)


def prepare() -> None:
    """Choose a backend that is installed, where none is chosen; give it float64, and keep it on the CPU."""
    names = sorted(KerasTarget.engine_names, key="tensorflow".__ne__)  # which is what Keras chooses by itself
    installed = [name for name in names if util.find_spec(name)]
    for name, value in {"KERAS_BACKEND": installed[0], **ON_THE_CPU, **WIDE_JAX}.items():
        os.environ.setdefault(name, value)


KIND = "a subclass of keras.optimizers.Optimizer, or a function that makes one"

VERSION = f"keras {metadata.version('keras')}"

MAKER = Maker(KIND, VERSION, OFFERS, offer, engines=engines, check=check, cannot=cannot, prepare=prepare, base=base)
