"""Times targets beside our accelerated backend and the touch limit, all of them in turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from optimetry.accelerated.benchmarks.measuring import LR, hyper_of, inputs, measure
from optimetry.accelerated.devices.host import HOST
from optimetry.accelerated.kernels import offered
from optimetry.conformance.cases.case import Case
from optimetry.conformance.harness.python_harness import engine_name, engines_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.limits import limits_of
from optimetry.conformance.targets.own import OwnTarget
from optimetry.conformance.targets.own_loading import Own, load
from optimetry.conformance.targets.peers import TimedStep, names, offers_of, steps_of
from optimetry.conformance.targets.protocol import Hyper, Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.errors import TargetError, TargetFault
from optimetry.reference.rule import rule_named
from optimetry.reports.speed import TOUCH, Speed

HOST_ENGINES = HOST.engines
"""What our own contenders are called in rows."""


class Timed:
    """A target to time.

    A framework that benchmarks know steps in place, on arrays of its own. Any other target steps as it is judged: it
    takes arrays and returns arrays, and what that costs it is part of its time.

    Args:
        spec: the target, as `load_target` takes it.
        own: what it is where it is one optimizer of a user.

    Attributes:
        target: the target itself.
        spec: the same.
        name: its name and version.
        in_place: whether it steps on arrays of its own.

    Raises:
        TargetError: it cannot be loaded.
    """

    def __init__(self, spec: str, own: Own | None = None) -> None:
        self.spec, self.target = spec, load(spec, own)
        self.name = f"{self.target.name} {self.target.version}"
        self._framework = spec if own is None else own.framework
        self._offers = self.target.offers if isinstance(self.target, OwnTarget) else None
        self.in_place = self._framework in names()

    def steps(
        self, rule: str, hyper: Hyper, parameters: Sequence[Array], grads: Sequence[Array], lr: float
    ) -> Iterator[tuple[str, TimedStep]]:
        """Yield a step of each of its engines that offers a rule; arguments are those of `peers`.

        Raises:
            TargetError: a step breaks the protocol, or hangs.
        """
        steps = self._in_place if self.in_place else self._as_judged
        for engine, step in steps(rule, hyper, parameters, grads, lr):
            yield f"{self.target.name} {engine}".removesuffix(" default").strip(), step

    def _in_place(self, rule: str, *arguments: Any) -> Iterator[tuple[str, TimedStep]]:
        offer = (offers_of(self._framework) if self._offers is None else self._offers).get(rule)
        if offer is not None:
            yield from steps_of(self._framework)(offer, rule, *arguments)

    def _as_judged(
        self, rule: str, hyper: Hyper, parameters: Sequence[Array], grads: Sequence[Array], lr: float
    ) -> Iterator[tuple[str, TimedStep]]:
        case = Case(rule, grads[0].dtype.name, dict(hyper), (lr,), tuple(parameters), (tuple(grads),))
        for engine in engines_of(self.target):
            can = limits_of(engine, rule).offered(case)
            if reason_unsupported(engine, can) is None:
                self._hold_protocol(engine, can)
                run = engine.start(rule, can.hyper, [array.copy() for array in parameters])
                yield engine_name(engine), partial(run.step, [grad.copy() for grad in grads], lr)

    def _hold_protocol(self, engine: Target, case: Case) -> None:
        """Run one step: what breaks the protocol, or hangs, is not timed."""
        try:
            trajectory(engine, case, Guard())
        except TargetFault as fault:
            raise TargetError(f"target {self.spec}: {fault}") from fault


def has_kernel(rule: str) -> bool:
    """Return whether a rule or wrapper is one that our backend has a kernel for, beside which it can be timed."""
    return rule in offered()


def timed(targets: Sequence[Timed], rule: str, dtype: str, tensors: int, elements: int, seconds: float) -> list[Speed]:
    """Time targets on one rule beside our engines and the touch limit; empty where none of them offers it.

    A contender whose name is taken, by one of ours or by a target before, is called by how its target was given, too.

    Args:
        targets: what is timed.
        rule: one that has a kernel.
        dtype: of the parameters.
        tensors: how many parameters.
        elements: of each of them.
        seconds: about how long all contenders take together.
    """

    def steps(*arguments: Any) -> Iterator[tuple[str, TimedStep]]:
        taken = {TOUCH, *HOST_ENGINES}
        for target in targets:
            for name, step in target.steps(*arguments):
                contender = f"{name} of {target.spec}" if name in taken else name
                taken.add(contender)
                yield contender, step

    hyper = rule_named(rule).of(hyper_of(rule)).hyper()
    if not any(True for _ in steps(rule, hyper, *inputs(rule, dtype, 1, 1), LR)):
        return []
    return measure(rule, dtype, tensors, elements, seconds=seconds, others=steps)
