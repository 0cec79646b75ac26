"""From runs of a wrapper to a verdict, as for rules: laws, cases against the oracle, then a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import Examination
from optimetry.conformance.laws import Law
from optimetry.conformance.naming.candidates import Candidate
from optimetry.conformance.naming.precision import to_float32
from optimetry.conformance.numerics.agreement import Agreement, Expected, compare, explains
from optimetry.conformance.numerics.formats import flushing
from optimetry.conformance.subjects.wrappers.wrapper import VARIANTS, Variant, wrapper_named
from optimetry.conformance.targets.protocol import Target, engines_of
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.conformance.wrappers.case import WrapperCase, drawn_cases
from optimetry.conformance.wrappers.laws import LONG, in_order
from optimetry.conformance.wrappers.oracle import expected
from optimetry.conformance.wrappers.run import WrapperTarget
from optimetry.conformance.wrappers.script import script


def wrapper_examinations(
    target: Target, wrapper: str, dtype: str, effort: Effort, seed: int, guard: Guard
) -> Sequence[Examination]:
    """One examination for each engine of the target, ready to be tried on its cases."""

    def cases() -> Iterator[WrapperCase]:
        return drawn_cases(wrapper, dtype, seed=seed, count=effort.cases)

    return [WrapperExamination(WrapperTarget(engine), cases, guard) for engine in engines_of(target)]


class WrapperExamination(Examination):
    """What is known of one engine's wrapper while its cases are tried."""

    def expected(self, case: Any) -> Expected:
        """What the documented wrapper has in a case."""
        return expected(case)

    def laws(self) -> Sequence[Law]:
        """The laws of wrappers; those that take long are tried on the first case alone."""
        return in_order(brief=self.tried > 0)

    def script(self, case: Any, after: Any, oracle: Expected, *, title: str, target: str) -> str:
        """The counterexample as a standalone script."""
        return script(case, after, oracle, title=title, target=target)

    def _lawless(self, law: Law, found: str, case: Any) -> dict[str, Any]:
        if law.name in LONG:  # what takes long is not shrunk
            return {"case": case.to_json(), "law": law.name, "found": found, "script": None}
        return super()._lawless(law, found, case)

    def _name(self, optimizer: str, dtype: str) -> Candidate | None:
        """The one candidate that is within the slack on every case; looking for it completes the agreement."""
        for tier in tiers(optimizer, dtype):
            alive = self._explaining(tier)
            if alive:
                return alive[0] if len(alive) == 1 else None
        return None

    def _explaining(self, alive: list[Candidate]) -> list[Candidate]:
        agreement, tried = Agreement(), 0
        for case in self.cases():
            if not alive:
                break
            if self.target.unsupported(case.optimizer, case.hyper, case.dtype) is None:  # type: ignore[attr-defined]
                after = trajectory(self.target, case, self.guard)
                alive = [one for one in alive if explains(after, one.oracle(case), case.form)]
                agreement, tried = agreement + compare(after, self.expected(case), case.form), tried + 1
        if tried > self.tried:
            self.agreement, self.tried = agreement, tried
        return alive


def tiers(wrapper: str, dtype: str) -> Iterator[list[Candidate]]:
    """The candidates for one wrapper, the sharpest explanations first; a tier with any explanation ends the search.

    As with rules, numbers rounded to float32 can be told from rounding beside float64 arrays alone.
    """
    variants = [one for one in VARIANTS[wrapper] if one.dtypes is None or dtype in one.dtypes]
    numbers = tuple(x.name for x in wrapper_named(wrapper).hyperparameters() if x.kind is float)
    narrow = numbers if dtype == "float64" else ()
    yield [_of_variant(one) for one in variants]
    if narrow:
        yield [_rounded(wrapper, (name,)) for name in narrow]
        yield [_rounded(wrapper, narrow)]
        yield [_of_variant(_float32(wrapper, narrow), narrow=narrow, name="float32_in_some_uses")]
        yield [_of_variant(one, rounded=narrow, name=f"{one.name}+float32") for one in variants]
        yield [_of_variant(one, narrow=narrow, name=f"{one.name}+float32") for one in variants]
    documented = Variant("flushed_subnormals", wrapper_named(wrapper), "subnormals flushed to zero", "some processors")
    for one in (documented, *variants):
        yield [_of_variant(one, flushes=True, name=one.name + "+flushed" * (one is not documented))]


def _float32(wrapper: str, names: Sequence[str]) -> Variant:
    """The documented wrapper with these numbers rounded to float32."""
    difference = "; ".join(f"{name} = float32({name})" for name in names)
    origin = "frameworks that hold numbers in float32"
    return Variant("float32_" + "_".join(names), wrapper_named(wrapper), difference, origin)


def _rounded(wrapper: str, names: Sequence[str]) -> Candidate:
    return _of_variant(_float32(wrapper, names), rounded=names)


def _of_variant(
    one: Variant,
    *,
    rounded: Sequence[str] = (),
    narrow: tuple[str, ...] = (),
    flushes: bool = False,
    name: str = "",
) -> Candidate:
    def oracle(case: Any) -> Expected:
        hyper = {key: to_float32(value) if key in rounded else value for key, value in case.hyper.items()}
        return expected(case, one.kind.of(hyper), flushing(case.form) if flushes else None, narrow)

    return Candidate(name or one.name, f"{one.difference}, as in {one.origin}", oracle)
