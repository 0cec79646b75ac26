"""The protocol of a target: what a framework's adapter must implement, and may.

This is the contract that other projects build on: two required attributes, one required method, and a run object with
one required method. Everything else is optional and looked up by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import STARTS, lacks_start, raised, what_is_no_reason
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.limits import dtype_refused, limits_of
from optimetry.reference.errors import TargetFault

Hyper = Mapping[str, Any]


class Run(Protocol):
    """One optimizer bound to its parameters, somewhere inside a training run.

    Optional methods, used where they exist:

    ``state() -> dict[str, list[np.ndarray]]``
        The state, one array per parameter under each slot name.
    ``load(state) -> None``
        Continue from what ``state()`` returned.
    ``step_scaled(grads, learning_rate, scale) -> list[np.ndarray]``
        Apply one update from gradients that were multiplied by ``scale``, as under a loss scaler. Where one of them is
        not finite, the step is left out, its state included.
    ``step_accumulated(parts, learning_rate) -> list[np.ndarray]``
        Apply one update from the mean of several lists of gradients, one for each part of a batch. A parameter has a
        gradient in all of them or in none.
    """

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """Apply one update and return every parameter after it, in the order given to ``start``.

        ``grads[i]`` has the shape and dtype of parameter ``i``; ``None`` keeps that parameter and its state
        unchanged. Arrays passed in must not be changed. A NumPy scalar, which NumPy's arithmetic makes of 0-d arrays,
        is taken for a 0-d array.
        """
        ...


class GroupedRun(Protocol):
    """One optimizer over several groups of parameters, each with options and learning rates of its own."""

    def step(self, grads: list[Array | None], learning_rates: list[float]) -> list[Array]:
        """Apply one update, as `Run.step`; arrays go group behind group, and each group has a learning rate."""
        ...

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group behind the others, which is trained from the next step on."""
        ...


class GradientRun(Protocol):
    """A clip or a regularizer, bound to the parameters it was started with.

    Optional methods, used where they exist:

    ``transform_scaled(grads, scale) -> list[np.ndarray]``
        As ``transform``, for gradients that were multiplied by ``scale``; what it returns is not.
    ``transform_accumulated(parts) -> list[np.ndarray]``
        As ``transform``, for the mean of several lists of gradients, one for each part of a batch.
    """

    def transform(self, grads: list[Array]) -> list[Array]:
        """Return what the update rule would be given in place of these gradients, one for each parameter.

        None is never among them: what a clip makes of a missing gradient is not judged. Arrays passed in must not be
        changed.
        """
        ...


class AverageRun(Protocol):
    """An average of parameters, somewhere inside a training run.

    Optional methods, used where they exist: ``state()`` and ``load(state)``, as in `Run`.
    """

    def update(self, parameters: list[Array]) -> None:
        """Feed the parameters after one more step of training. They must not be changed."""
        ...

    def apply(self) -> list[Array]:
        """Put the averages into the parameters, and return the parameters."""
        ...

    def restore(self) -> list[Array]:
        """Bring back what `apply` has replaced, and return the parameters."""
        ...


@runtime_checkable
class Target(Protocol):
    """A framework that is judged.

    Optional methods, used where they exist:

    ``unsupported(optimizer, hyper, dtype) -> str | None``
        The reason why this combination is not offered, or None when it is.
    ``engines() -> Sequence[Target]``
        The implementations of this framework that are judged apart (single tensor, fused, …). Each is a target with
        an attribute ``engine: str``. Without this method the target itself is the one engine. Several are compared with
        each other, too: the one that departs from the others is named, and what one run's ``state()`` returned is given
        to ``load`` of another engine's run, if both save slots of the same names, shapes and dtypes.
    ``not_run() -> Mapping[str, str]``
        The engines that this machine cannot run, each with the reason. They are not among ``engines()`` and get no
        verdict; the report names them.
    ``recorded() -> Sequence[Case]``
        Runs to judge it on before drawn cases: those whose results it holds, since they were computed elsewhere.
        `optimetry.conformance.targets.recorded` is such a target.
    ``declines(case) -> str | None``
        The reason why this very run is not offered, or None when it is. Asked last, of every run.
    ``run_whole(case, fresh) -> np.ndarray``
        Play a case from its first step to its last, and return what `optimetry.conformance.targets.session.trajectory`
        does. `optimetry.conformance.targets.program` has this; who has it keeps the time limit, and checks all itself.
    ``start_wrapper(wrapper, hyper, parameters) -> GradientRun | AverageRun``
        Begin a run of a documented wrapper (a clip, a regularizer, an average) around ``parameters``. A target without
        this method offers none; one with it is asked ``unsupported`` of wrappers, too, and may be without ``start``.

    ``start_groups(optimizer, groups) -> GroupedRun``
        Begin one run over groups of parameters: a pair of ``hyper`` and ``parameters`` for each. Where it exists, each
        group must be trained as if it were alone, and so must one that is added in mid-run.

    Optional attributes, for what a library cannot do. Cases are constructed accordingly, laws that need what is not
    offered are skipped, and verdicts say what was not tried:

    ``cannot: Collection[str]``
        Any of ``"missing gradients"`` (None among the gradients of a step), ``"0-d parameters"``, ``"empty
        parameters"``, ``"NaN and infinities"`` (in what a run is fed) and ``"learning rates that change"`` (in a run,
        which can then take that of its first step for all).
    ``pinned: Mapping[str, Mapping[str, value]]``
        Hyperparameters that can have one value alone, by optimizer: ``{"adam": {"epsilon": 1e-8}}``. Among them may be
        ``learning_rate``, the same in all steps, as of an AdaDelta without one: ``{"adadelta": {"learning_rate": 1}}``.
    ``at_most: Mapping[str, Mapping[str, value]]``
        Hyperparameters with a largest value, by optimizer: ``{"rmsprop": {"momentum": 0.9}}``.
    ``dtypes: Collection[str]``
        The dtypes that are offered; any other is *unsupported*.
    ``shared: Mapping[str, Collection[str]]``
        Hyperparameters that all groups of a run have in common, by optimizer: ``{"adam": ["epsilon"]}``.

    Optional attributes, for what a library can do:

    ``mixes_dtypes: bool``
        Whether ``start`` takes parameters of several dtypes, each of which gets gradients of its own dtype. Where it is
        true, each parameter must be updated as in a run of its dtype alone.
    ``strided: bool``
        Whether ``start`` and ``step`` take arrays that are not C-contiguous, and parameters and gradients are then held
        as they lie. Where it is true, results must not depend on it.
    ``side_by_side: bool``
        Whether several runs may be under way at a time. Of a target whose runs can be saved that is expected anyway.
    """

    name: str
    version: str

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Run:
        """Begin a run of ``optimizer`` with every documented hyperparameter (learning rate aside) in ``hyper``."""
        ...


def recorded_cases(target: Target, optimizer: str, dtype: str) -> list[Case]:
    """Return the runs of a subject whose results a target holds; none for a target that computes.

    Raises:
        TargetFault: ``recorded`` raised, or returned no list.
    """
    recorded = getattr(target, "recorded", None)
    cases = [] if recorded is None else _answer("recorded", recorded)
    if not isinstance(cases, Iterable):
        raise TargetFault(f"recorded() returned {cases!r}, must be a list of cases")
    return [case for case in cases if (case.optimizer, case.dtype) == (optimizer, dtype)]


def reason_unsupported(target: Target, case: Case) -> str | None:
    """Return why a target does not offer what a case asks for, None where it does.

    A target without ``unsupported`` offers every rule; one without ``start`` no rule, and without
    ``start_wrapper`` no wrapper.

    Raises:
        TargetFault: ``unsupported`` or ``declines`` raised, or returned something else than a reason or None.
    """
    reason, declines = reason_refused(target, case), getattr(target, "declines", None)
    return reason if reason is not None or declines is None else _said("declines", declines, case)


def reason_refused(target: Target, case: Case) -> str | None:
    """Return why a target refuses a case unplayed: for its optimizer, hyperparameters, dtype or kinds of parameters.

    Raises:
        TargetFault: ``unsupported`` raised, or returned something else than a reason or None.
    """
    refused = dtype_refused(target, case.dtype)
    lacking = limits_of(target, case.optimizer).lacking(case)
    if refused or lacking:
        return refused or f"{target.name} does not offer {', '.join(lacking)}"
    is_rule = isinstance(subject_of(case), RuleSubject)
    if not callable(getattr(target, STARTS[is_rule], None)):
        return lacks_start(target.name, is_rule)
    ask = getattr(target, "unsupported", None)
    return None if ask is None else _said("unsupported", ask, case.optimizer, case.hyper, case.dtype)


def _answer(method: str, ask: Callable[..., Any], *about: Any) -> Any:
    """Ask a target something before any run.

    Raises:
        TargetFault: the method raised.
    """
    try:
        return ask(*about)
    except TargetFault:
        raise
    except (Exception, SystemExit) as error:
        raise TargetFault(f"{method}() {raised(error)}") from error


def _said(method: str, ask: Callable[..., Any], *about: Any) -> str | None:
    """Return the reason that a method gives, or None."""
    reason = _answer(method, ask, *about)
    if reason is None or isinstance(reason, str):
        return reason
    raise TargetFault(f"{method}() {what_is_no_reason(reason)}")
