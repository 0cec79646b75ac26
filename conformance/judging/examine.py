"""From runs of a target to verdicts: laws, then cases against the oracle, then a name for what was convicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.cases.shrink import shrunk
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.evidence import script
from optimetry.conformance.laws import Law, in_order
from optimetry.conformance.naming.candidates import PARTLY_ROUNDED, Candidate, partly_rounded, tiers
from optimetry.conformance.naming.probes import Probed
from optimetry.conformance.naming.rounding import narrowable, rounded_numbers
from optimetry.conformance.numerics.agreement import LARGEST_SHARE, SLACK, Agreement, Expected, compare, explains
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.protocol import Target, engine_name, engines_of, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.errors import TargetFault, TargetHung
from optimetry.reference.rules import rule_named
from optimetry.reports.results import Verdict


def judge(
    target: Target,
    optimizer: str,
    dtype: str,
    *,
    effort: Effort,
    seed: int,
    heartbeat: Callable[[], None] = lambda: None,
    time_limit: float = 60.0,
    before: Sequence[Case] = (),
) -> list[Verdict]:
    """One verdict for each engine of the target; whatever the target does, it does not raise.

    Args:
        target: what is judged.
        optimizer: the name of a rule or of a wrapper.
        dtype: a judged dtype's name.
        effort: how many cases.
        seed: what the cases are drawn from; the same seed gives the same verdicts.
        heartbeat: called before every run of the target.
        time_limit: seconds one run may take.
        before: cases that are tried before those drawn.
    """
    guard = Guard(time_limit, heartbeat)
    if optimizer in WRAPPERS:
        from optimetry.conformance.wrappers.judge import wrapper_examinations

        examinations = wrapper_examinations(target, optimizer, dtype, effort, seed, guard)
    else:

        def cases() -> Iterator[Case]:
            return chain(before, drawn_cases(optimizer, dtype, seed=seed, count=effort.cases))

        examinations = [Examination(engine, cases, guard) for engine in engines_of(target)]
    examine(examinations, effort)
    return [examination.verdict(optimizer, dtype) for examination in examinations]


def examine(examinations: Sequence[Examination], effort: Effort) -> None:
    """Try every case on every engine, until more cases can change nothing; all engines have the same cases."""
    for number, case in enumerate(examinations[0].cases() if examinations else ()):
        trying = [engine for engine in examinations if engine.open_to(case)]
        if number < effort.law_cases:
            for engine in trying:
                engine.try_laws(case)
        trying = [engine for engine in trying if not engine.settled]
        if trying:
            oracle = trying[0].expected(case)
            for engine in trying:
                engine.hold_against(case, oracle)
        if all(engine.settled for engine in examinations):
            break


@dataclass
class Examination:
    """What is known of one engine while its cases are tried.

    Attributes:
        target: the engine.
        cases: every case again, from the first.
        guard: what watches over its runs.
        agreement: with the documented rule, over the cases tried so far.
        tried: how many those are.
        declined: why a case was not offered, if one was not.
        fault: how it broke the protocol, with the case.
        broken: a law it breaks, with what was found and the case.
        convicted: the first case outside the slack.
    """

    target: Target
    cases: Callable[[], Iterator[Case]]
    guard: Guard
    agreement: Agreement = field(default_factory=Agreement)
    tried: int = 0
    declined: str | None = None
    fault: tuple[TargetFault, Case] | None = None
    broken: tuple[Law, str, Case] | None = None
    convicted: Case | None = None

    @property
    def settled(self) -> bool:
        """Whether more cases can change nothing."""
        return self.fault is not None or self.convicted is not None

    def open_to(self, case: Case) -> bool:
        """Whether a case is still to be tried on this engine and offered by it."""
        if self.settled:
            return False
        try:
            reason = reason_unsupported(self.target, case.optimizer, case.hyper, case.dtype)
        except Exception as error:
            self.fault = TargetFault(f"unsupported() raised {type(error).__name__}: {error}"), case
            return False
        self.declined = self.declined or reason
        return reason is None

    def expected(self, case: Case) -> Expected:
        """What the documented rule has in a case."""
        return expected(case)

    def laws(self) -> Sequence[Law]:
        """The laws to try."""
        return in_order()

    def script(self, case: Case, after: Any, oracle: Expected, *, title: str, target: str) -> str | None:
        """A counterexample as a standalone script, if it can be one."""
        return script(case, after, oracle, title=title, target=target)

    def try_laws(self, case: Case) -> None:
        """Look for a broken law, unless one is known."""
        try:
            for law in self.laws() if self.broken is None else ():
                found = law.broken(self.target, case, self.guard)
                if found is not None:
                    self.broken = law, found, case
                    return
        except TargetFault as fault:
            self.fault = fault, case

    def hold_against(self, case: Case, oracle: Any) -> None:
        """Compare one run with the documented rule."""
        try:
            agreement = compare(trajectory(self.target, case, self.guard), oracle, case.form)
        except TargetFault as fault:
            self.fault = fault, case
            return
        self.agreement, self.tried = self.agreement + agreement, self.tried + 1
        if not agreement.conforms:
            self.convicted = case

    def verdict(self, optimizer: str, dtype: str) -> Verdict:
        """What all that comes to; runs of a convicted engine go on until its rule has a name."""
        try:
            fields = self._outcome(optimizer, dtype)
        except TargetFault as fault:
            fields = {"verdict": "error", "reason": str(fault)}
        compared = self.agreement.elements > self.agreement.vacuous
        return Verdict(
            optimizer=optimizer,
            dtype=dtype,
            engine=engine_name(self.target),
            share=self.agreement.share if compared else None,
            ulp=self.agreement.ulp if compared else None,
            vacuous=self.agreement.vacuous / max(self.agreement.elements, 1),
            cases=self.tried,
            **fields,
        )

    def _outcome(self, optimizer: str, dtype: str) -> dict[str, Any]:
        if self.fault is not None:
            return self._error(*self.fault)
        if self.convicted is not None:
            shown = self._difference(self.convicted)
            known = None if self.broken is not None and self.broken[0].universal else self._name(optimizer, dtype)
            if known is not None:
                return {"verdict": "dialect", "dialect": known.name, "reason": known.reason, "counterexample": shown}
            return {"verdict": "diverges", "reason": self._why(), "counterexample": shown}
        if self.broken is not None:
            law, found, case = self.broken
            return {"verdict": "diverges", "reason": self._why(), "counterexample": self._lawless(law, found, case)}
        if self.tried == 0:
            return {"verdict": "unsupported", "reason": self.declined or "no case is offered"}
        if self.agreement.elements == self.agreement.vacuous:
            return {"verdict": "error", "reason": "nothing could be judged: every element is vacuous"}
        return {"verdict": "conforms"}

    def _why(self) -> str:
        if self.broken is not None:
            law, found, _ = self.broken
            return f"breaks a law: {law.statement} ({law.name}: {found})"
        if self.agreement.share == LARGEST_SHARE:
            return "no known rule explains it: NaN or infinite where the rule is finite, or different where it is exact"
        return f"no known rule explains it: up to {self.agreement.share:.3g} times what rounding can"

    def _error(self, fault: TargetFault, case: Case) -> dict[str, Any]:
        def fails(smaller: Case) -> bool:
            try:
                trajectory(self.target, smaller, self.guard)
            except TargetFault as again:
                return not isinstance(again, TargetHung)
            return False

        hung = isinstance(fault, TargetHung)
        small = case if hung or not fails(case) else shrunk(case, fails)
        return {"verdict": "error", "reason": str(fault), "counterexample": {"case": small.to_json(), "script": None}}

    def _name(self, optimizer: str, dtype: str) -> Candidate | None:
        """The one candidate that is within the slack on every case; looking for it completes the agreement."""
        probed = Probed.of(self.target, optimizer, dtype, self.guard)
        for tier in tiers(optimizer, dtype, probed):
            alive = self._surviving(tier, probed)
            if len(alive) == 1:
                return self._narrowed(optimizer, probed) if alive[0].name == PARTLY_ROUNDED else alive[0]
            if alive:
                return None
        return None

    def _narrowed(self, optimizer: str, probed: Probed) -> Candidate:
        """The partly rounded rule with no more rounded numbers than the probes, or else the cases, show."""
        shown = partly_rounded(rounded_numbers(self.target, optimizer, rule_named(optimizer).of, self.guard).names)
        if self._surviving([shown], probed):
            return shown
        names = narrowable(optimizer)
        for name in names:
            fewer = tuple(other for other in names if other != name)
            if self._surviving([partly_rounded(fewer)], probed):
                names = fewer
        return partly_rounded(names)

    def _surviving(self, candidates: list[Candidate], probed: Probed) -> list[Candidate]:
        """Those candidates that are within the slack in every probe and on every case."""
        alive = [one for one in candidates if probed.explained_by(one.oracle)]
        agreement, tried = Agreement(), 0
        for case in self.cases():
            if not alive:
                break
            if reason_unsupported(self.target, case.optimizer, case.hyper, case.dtype) is None:
                after = trajectory(self.target, case, self.guard)
                alive = [one for one in alive if explains(after, one.oracle(case), case.form)]
                agreement, tried = agreement + compare(after, expected(case), case.form), tried + 1
        if tried > self.tried:
            self.agreement, self.tried = agreement, tried
        return alive

    def _difference(self, case: Case) -> dict[str, Any]:
        """The shrunk counterexample to the documented rule."""

        def fails(smaller: Case) -> bool:
            return self._conforms(smaller) is False

        small = shrunk(case, fails)
        after, oracle = trajectory(self.target, small, self.guard), self.expected(small)
        worst = compare(after, oracle, small.form)
        assert worst.worst is not None
        step, element = worst.worst
        name = f"{self.target.name} {self.target.version}"
        return {
            "case": small.to_json(),
            "step": step + 1,
            "element": element,
            "given": repr(after[step, element].item()),
            "documented": str(oracle.value[step, element]),
            "bound": float(oracle.bound[step, element]),
            "share": worst.share,
            "script": self.script(
                small, after, oracle, title=f"{name} on {small.optimizer} in {small.dtype}.", target=name
            ),
        }

    def _conforms(self, case: Case) -> bool | None:
        """Whether the target is within the slack on a case; None where it does not run it."""
        try:
            if reason_unsupported(self.target, case.optimizer, case.hyper, case.dtype) is not None:
                return None
            return compare(trajectory(self.target, case, self.guard), self.expected(case), case.form).share <= SLACK
        except TargetFault:
            return None

    def _lawless(self, law: Law, found: str, case: Case) -> dict[str, Any]:
        def fails(smaller: Case) -> bool:
            try:
                return law.broken(self.target, smaller, self.guard) is not None
            except TargetFault:
                return False

        small = shrunk(case, fails, budget=100)
        return {"case": small.to_json(), "law": law.name, "found": found, "script": None}
