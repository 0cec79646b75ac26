"""Checks for pytest: one for each optimizer, dtype and engine of a target, judged when first called."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.arguments import effort_of
from optimetry.conformance.commands.files.ledger import Balance, Ledger, outcome_of, read
from optimetry.conformance.harness.python_harness import engine_name, engines_of
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.numerics.arithmetic import FLUSHES, Arithmetic
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.plugin.properties import OF_EFFORT, PROFILES, Nonconformity, hold_property
from optimetry.conformance.subjects.names import chosen
from optimetry.conformance.subjects.registry import DEFAULT_BOOK, SUBJECTS, chosen_in, subject_named
from optimetry.conformance.targets.loading import load_target, made
from optimetry.conformance.targets.own import MAKERS
from optimetry.conformance.targets.own_loading import Own, load_own, parsed
from optimetry.conformance.targets.protocol import Target
from optimetry.reference.errors import UsageError
from optimetry.reports.numbers import number, share_text
from optimetry.reports.results import Verdict

WITH = "--optimizer-with"


@dataclass(frozen=True)
class Judging:
    """A target and how it is judged; each optimizer and dtype is judged once.

    Attributes:
        target: what is judged.
        optimizers: rule names.
        dtypes: dtype names.
        effort: how many cases.
        seed: the seed of the cases.
        ledger: the verdicts that are expected.
    """

    target: Target
    optimizers: list[str]
    dtypes: list[str]
    effort: Effort
    seed: int
    ledger: Ledger = field(default_factory=Ledger)
    _verdicts: dict[tuple[str, str], list[Verdict]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        target: Target | str,
        optimizers: Iterable[str] | None,
        dtypes: Iterable[str],
        effort: str,
        seed: int,
        expect: Path | str | None = None,
        book: str = DEFAULT_BOOK,
        arguments: Sequence[str] = (),
    ) -> Judging:
        """Check every argument, load the target and read the ledger; raise UsageError, TargetError or LedgerError.

        ``arguments`` say what a user's class is given, as ``--optimizer-with`` does.
        """
        dtypes, asked = list(dtypes), None if optimizers is None else list(optimizers)
        for name, given in (("dtypes", dtypes), ("optimizers", asked)):
            if given is not None and not given:
                raise UsageError(f"{name} is empty: nothing would be checked")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise UsageError(f"seed={seed!r}, must be a whole number")
        names = chosen_in(book, asked)
        return cls(
            target=_loaded(target, names, arguments) if isinstance(target, str) else made(target, repr(target)),
            optimizers=names,
            dtypes=chosen("dtype", dtypes, FORMATS),
            effort=effort_of(effort),
            seed=seed,
            ledger=Ledger() if expect is None else read(Path(expect), list(SUBJECTS), list(FORMATS)),
        )

    @property
    def checks(self) -> list[EngineCheck]:
        """Return one check for each optimizer, dtype and engine."""
        engines = [engine_name(engine) for engine in engines_of(self.target)]
        return [
            EngineCheck(self, optimizer, dtype, engine, position)
            for optimizer in self.optimizers
            for dtype in self.dtypes
            for position, engine in enumerate(engines)
        ]

    def verdicts(self, optimizer: str, dtype: str) -> list[Verdict]:
        """Return one verdict for each engine."""
        key = (optimizer, dtype)
        if key not in self._verdicts:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # cases overflow on purpose, and a test run may raise on warnings
                self._verdicts[key] = judge(
                    engines_of(self.target), optimizer, dtype, effort=self.effort, seed=self.seed
                )
        return self._verdicts[key]

    def balance(self, optimizer: str, dtype: str) -> Balance:
        """Compare the verdicts of all engines with the ledger."""
        return self.ledger.balance(self.verdicts(optimizer, dtype))


@dataclass(frozen=True, repr=False)
class EngineCheck:
    """One engine of a target on one optimizer in one dtype; call it to judge."""

    judging: Judging
    optimizer: str
    dtype: str
    engine: str
    position: int

    def __str__(self) -> str:
        return f"{self.optimizer}-{self.dtype}-{self.engine}"

    def __repr__(self) -> str:
        return f"<check {self} of {self.judging.target.name}>"

    def __call__(self) -> None:
        """Judge the engine: pass where it conforms, skip where it is unsupported.

        Where the ledger expects another verdict, and it is the one found, the test is expected to fail. A line of the
        ledger that is stale fails every check of its optimizer and dtype.

        Raises:
            Nonconformity: the verdict is another, or the ledger is stale.
        """
        __tracebackhide__ = True
        balance = self.judging.balance(self.optimizer, self.dtype)
        path = self.judging.ledger.path
        unlisted = f"\nnot in {path}" if path else ""
        wrong = [self._found(verdict) + unlisted for verdict in balance.unexpected if verdict is self._verdict]
        if wrong or balance.stale:
            raise Nonconformity("\n".join([*wrong, *(f"stale: {text}" for text in balance.stale)]))
        self._offered()

    def draw(self) -> None:
        """Hold the engine on cases that Hypothesis draws and shrinks, unless it is unsupported or expected to fail.

        Raises:
            Nonconformity: it does not compute what is documented, shown by the simplest case that was found.
        """
        __tracebackhide__ = True
        verdict = self._offered()
        engine = engines_of(self.judging.target)[self.position]
        arithmetic = Arithmetic(flushes_subnormals=FLUSHES in verdict.computes.arithmetic)
        profile = PROFILES[OF_EFFORT[self.judging.effort.name]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hold_property([engine], subject_named(self.optimizer), self.dtype, profile, arithmetic)

    @property
    def _verdict(self) -> Verdict:
        return self.judging.verdicts(self.optimizer, self.dtype)[self.position]

    def _offered(self) -> Verdict:
        """Return the verdict; skip where the engine is unsupported, and end the test where the ledger expects it."""
        __tracebackhide__ = True
        verdict = self._verdict
        if verdict.verdict == "unsupported":
            pytest.skip(verdict.reason)
        for expected, entry in self.judging.balance(self.optimizer, self.dtype).expected:
            if expected is verdict and verdict.verdict != "conforms":
                where = f"{self.judging.ledger.path}, line {entry.line}"
                pytest.xfail(f"{outcome_of(verdict)}, expected by {where}: {entry.reason}")
        return verdict

    def _found(self, verdict: Verdict) -> str:
        target = self.judging.target
        computes = f", computes {verdict.computes}" if str(verdict.computes) else ""
        text = (
            f"{target.name} {target.version}, engine {self.engine}: {self.optimizer} in {self.dtype}: "
            f"{verdict.verdict}{computes}\n"
            f"reason: {verdict.reason}\n"
            f"share: {share_text(verdict.share, ' of the rounding bound')}, ULP: {number(verdict.ulp)}, "
            f"cases: {verdict.cases}, effort: {self.judging.effort.name}, seed: {self.judging.seed}"
        )
        script = (verdict.counterexample or {}).get("script")
        return f"{text}\ncounterexample, a standalone script:\n\n{script}" if script else text


def _loaded(spec: str, optimizers: list[str], arguments: Sequence[str]) -> Target:
    """Load a target; one optimizer of a user stands for the one rule that is asked for."""
    parsed(arguments, WITH)
    framework, colon, _ = spec.partition(":")
    if colon and framework in MAKERS and len(optimizers) == 1:
        return load_own(Own(spec, optimizers[0], tuple(arguments)))
    if arguments:
        raise UsageError(f"{WITH} {arguments[0]}: is for one class, as torch:package.Class, and one --optimizer-rule")
    return load_target(spec)


def parameters(judging: Judging) -> list[ParameterSet]:
    """Return the checks as parameters of a test, with readable ids."""
    return [pytest.param(check, id=str(check), marks=pytest.mark.optimetry) for check in judging.checks]
