"""Targets made of one optimizer of a user: an ordinary subclass or factory of a framework, in one line.

.. code-block:: python

    from optimetry.conformance.targets import for_torch

    target = for_torch(MyAdam, adam=dict(betas=("beta1", "beta2"), eps="epsilon"))

Arguments that are named as usual need no mapping: ``for_torch(MyAdam, "adam")``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from optimetry.conformance.harness.python_harness import (
    GROUPS,
    MIXED,
    STRIDED,
    default_environment,
    in_a_line,
    raised,
)
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.names import near_miss, not_among
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.first_steps import MORE, first_step, refused_inputs
from optimetry.conformance.targets.fitting import Fit, Taken, fitted, taken_by
from optimetry.conformance.targets.offers import Offer, TableTarget
from optimetry.conformance.targets.protocol import GroupedRun, Hyper
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetError

HERE = Path(__file__).parent

MAKERS: Mapping[str, str] = {
    file.parent.name if file.stem == "own" else file.stem.removesuffix("_own"): ".".join(
        (__package__, *file.relative_to(HERE).with_suffix("").parts)
    )
    for file in sorted([*HERE.glob("*/own.py"), *HERE.glob("*_own.py")])
}
"""The frameworks, each with the module that has its `Maker` as ``MAKER``, in its folder or beside this file."""


class Maker(NamedTuple):
    """A framework's way to judge optimizers that are not its own.

    Attributes:
        kind: what an optimizer is, in words for error texts.
        version: the framework's name and version.
        offers: the framework's own table, whose names of arguments are tried first.
        offer: makes the offer of an optimizer that is fitted to a rule.
        leading: how many arguments of an optimizer come first that are no hyperparameters: the parameters.
        engines: the names of the implementations to judge apart, the first by default.
        check: called with an object and its name in error texts; raises a `TargetError` where it is no such optimizer.
        cannot: called with an offer and a rule; returns words for a target's ``cannot``.
        rate_in_step: whether the learning rate may be an argument of the step, and none of the constructor.
        prepare: called before a user's module is imported, in a process that is ours.
        base: returns the class whose options every optimizer has, so that no rule is fitted to what is passed on to it.
        lacking: words for the ``cannot`` of single engines.
        more: what of `MORE` optimizers may take beside contiguous parameters of one group in one dtype. Where groups
            are among it, offers have ``start_groups``, and in ``shared`` what all groups have in common.
    """

    kind: str
    version: str
    offers: Mapping[str, Any]
    offer: Callable[[Any, Fit], Offer]
    leading: Callable[[Any], int] = lambda made: 0
    engines: Callable[[Any, Sequence[Taken]], tuple[str, ...]] = lambda made, taken: ("default",)
    check: Callable[[Any, str], None] = lambda made, spec: None
    cannot: Callable[[Any, str], Sequence[str]] = lambda offer, rule: ()
    rate_in_step: bool = False
    prepare: Callable[[], None] = lambda: None
    base: Callable[[], type] = lambda: object
    lacking: Mapping[str, Sequence[str]] = {}
    more: Sequence[str] = ()


class OwnTarget(TableTarget):
    """One optimizer of a user, as the rules that it stands for.

    Attributes:
        note: what its arguments are given.
        cannot: what it cannot take.
        lacking: what single engines cannot take.
        side_by_side: whether several runs may be under way at a time: each has an optimizer of its own.
        shared: hyperparameters of each rule that all groups of parameters have in common.
        more: what it takes of `MORE`, by engine.
    """

    side_by_side = True
    lacking: Mapping[str, Sequence[str]] = {}
    shared: Mapping[str, Sequence[str]] = {}
    more: Mapping[str, Collection[str]] = {}

    def __init__(
        self, name: str, version: str, offers: Mapping[str, Offer], engine_names: tuple[str, ...], note: str
    ) -> None:
        self.name, self.version, self.offers, self.engine_names, self.note = name, version, offers, engine_names, note
        self.cannot: Sequence[str] = ()
        self.stopped: dict[str, str] = {}
        super().__init__()

    def engines(self) -> Sequence[Self]:
        """Return one target for each implementation that runs."""
        return [self._on(engine) for engine in self.engine_names if engine not in self.stopped]

    def not_run(self) -> Mapping[str, str]:
        """Return the implementations whose first step raised."""
        return self.stopped

    @property
    def mixes_dtypes(self) -> bool:
        """Whether a run's parameters may have several dtypes."""
        return self._takes(MIXED)

    @property
    def strided(self) -> bool:
        """Whether a run's arrays may lie otherwise than in rows."""
        return self._takes(STRIDED)

    @property
    def start_groups(self) -> Callable[[str, Sequence[tuple[Hyper, list[Array]]]], GroupedRun] | None:
        """What begins a run over groups of parameters, None where there can be none."""
        return self._start_groups if self._takes(GROUPS) else None

    def _takes(self, what: str) -> bool:
        return what in self.more.get(self.engine, ())

    def _start_groups(self, optimizer: str, groups: Sequence[tuple[Hyper, list[Array]]]) -> GroupedRun:
        offer: Any = self.offers[optimizer]
        run: GroupedRun = offer.start_groups(groups, self.engine)
        return run

    def _on(self, engine: str) -> Self:
        other = copy(self)
        other.engine, other.cannot = engine, (*self.cannot, *self.lacking.get(engine, ()))
        return other


def own_target(framework: str, made: Any, rules: Mapping[str, Mapping[str, Any]], path: str = "") -> OwnTarget:
    """Make a target of one optimizer.

    Args:
        framework: one of `MAKERS`.
        made: a class, or a function that makes an optimizer.
        rules: the rules that it stands for, each with what is said of its arguments, as for `fitted`.
        path: its name; without one, its module and qualified name.

    Raises:
        TargetError: it is no optimizer, does not fit, or cannot do one step; the text says why.
    """
    name = path or f"{getattr(made, '__module__', '')}.{getattr(made, '__qualname__', made)}"
    spec = f"{framework}:{name}"
    maker = maker_of(spec)
    if not rules:
        raise TargetError(f"target {spec}: no rule that it stands for, such as adam or torch.adamw")
    for rule in rules:
        if rule not in SUBJECTS:
            raise TargetError(f"target {spec}: {not_among('optimizer', rule, SUBJECTS)}")
    maker.check(made, spec)
    if not callable(made):
        raise TargetError(f"target {spec}: a {type(made).__name__}, must be {maker.kind}")
    taken, leading = taken_by(made, spec, maker.base()), maker.leading(made)
    named = taken[leading:]
    if len(taken) < leading:
        raise TargetError(f"target {spec}: it takes no parameters to update, must be {maker.kind}")
    fits = [
        fitted(spec, rule, named, asked, maker.offers.get(rule), maker.rate_in_step) for rule, asked in rules.items()
    ]
    offers = {fit.rule: maker.offer(made, fit) for fit in fits}
    free = [argument for argument in named if all(argument.name not in asked for asked in rules.values())]
    target = OwnTarget(name, f"({maker.version})", offers, maker.engines(made, free), "; ".join(map(str, fits)))
    target.lacking = maker.lacking
    for rule, offer in offers.items():
        _rehearse(target, rule, spec)
        refused = refused_inputs(offer, rule, target.engine_names[0])
        target.cannot = tuple(dict.fromkeys([*target.cannot, *maker.cannot(offer, rule), *refused]))
    _rehearse_more(target, maker.more)
    return target


def maker_of(spec: str) -> Maker:
    """Return the `Maker` of the framework in ``FRAMEWORK:module.Name``.

    Raises:
        TargetError: there is no such framework, or it is not installed.
    """
    framework, colon, path = spec.partition(":")
    if framework not in MAKERS:
        near = near_miss(framework, MAKERS).replace("?", f":{path}?")
        whole = "; a target of a whole library takes --optimizer in place of --as"
        hint = near or whole if colon else f"; did you mean numpy:{spec}?"
        raise TargetError(
            f"target {spec}: with --as, must be FRAMEWORK:module.Name, the framework one of {', '.join(MAKERS)}{hint}"
        )
    try:
        maker: Maker = importlib.import_module(MAKERS[framework]).MAKER
    except ModuleNotFoundError as error:
        row = FRAMEWORKS.get(framework)
        hint = f": pip install {row.distribution}" if row else ""
        raise TargetError(f"target {spec}: {error.name} is not installed{hint}") from error
    except Exception as error:
        raise TargetError(f"target {spec}: importing {framework} {raised(error, most=None)}") from error
    return maker


def _rehearse_more(target: OwnTarget, more: Sequence[str]) -> None:
    """Do one step of each of these of `MORE` with each engine; what raises is not run, and the note says so."""
    refused: dict[str, dict[str, str]] = {}
    for engine in target.engines():
        refused[engine.engine] = {}
        for rule, what in product(target.offers, more):
            try:
                with default_environment(), np.errstate(all="ignore"):
                    MORE[what](engine.offers[rule], rule, engine.engine)
            except (Exception, SystemExit) as error:
                refused[engine.engine].setdefault(what, in_a_line(error))
    target.more = {engine: [what for what in more if what not in said] for engine, said in refused.items()}
    if GROUPS in more:
        offers: Mapping[str, Any] = target.offers
        target.shared = {rule: offer.shared for rule, offer in offers.items() if offer.shared}
    reasons = dict.fromkeys(f"{what} ({why})" for said in refused.values() for what, why in said.items())
    shared = dict.fromkeys(name for names in target.shared.values() for name in names)
    for title, texts in (("not tried", reasons), ("one for all groups of parameters", shared)):
        target.note += f"; {title}: {', '.join(texts)}" if texts else ""


def _rehearse(target: OwnTarget, rule: str, spec: str) -> None:
    """Do one step with each engine; one that raises is not run, and the first must not."""
    for engine in target.engine_names:
        try:
            first_step(target.offers[rule], rule, engine)
        except (Exception, SystemExit) as error:
            text = f"its first step {raised(error)}"
            if engine == target.engine_names[0]:
                raise TargetError(f"target {spec}: as {rule}: {text}") from error
            target.stopped[engine] = text


def for_torch(cls: Any, *names: str, **rules: Mapping[str, Any]) -> OwnTarget:
    """Make a target of a ``torch.optim.Optimizer`` subclass, or of a function that makes one.

    Args:
        cls: the class; its first argument is the parameters.
        names: rules that need no mapping, such as ``"torch.nadam"``.
        rules: other rules, each with arguments and what they are given: a hyperparameter's name, several as a tuple,
            ``"learning_rate"``, or a fixed value. A rule of another book is passed as ``**{"torch.nadam": {…}}``.

    Raises:
        TargetError: it is no optimizer, does not fit, or cannot do one step; the text says why.
    """
    return own_target("torch", cls, _together(names, rules))


def for_keras(cls: Any, *names: str, **rules: Mapping[str, Any]) -> OwnTarget:
    """Make a target of a ``keras.optimizers.Optimizer`` subclass, on the backend that Keras has. As `for_torch`."""
    return own_target("keras", cls, _together(names, rules))


def for_optax(make: Any, *names: str, **rules: Mapping[str, Any]) -> OwnTarget:
    """Make a target of a function that makes a gradient transformation. As `for_torch`."""
    return own_target("optax", make, _together(names, rules))


def for_jax(make: Any, *names: str, **rules: Mapping[str, Any]) -> OwnTarget:
    """Make a target of a function that makes a triple as ``jax.example_libraries.optimizers`` do. As `for_torch`."""
    return own_target("jax", make, _together(names, rules))


def for_numpy(cls: Any, *names: str, **rules: Mapping[str, Any]) -> OwnTarget:
    """Make a target of a class in NumPy, see `optimetry.conformance.targets.numpy.own`. As `for_torch`."""
    return own_target("numpy", cls, _together(names, rules))


def _together(names: Iterable[str], rules: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {**{name: {} for name in names}, **rules}
