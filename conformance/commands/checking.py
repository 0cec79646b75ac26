"""Runs ``optimetry check``: gives jobs to workers, writes verdicts to the results file, prints and writes tables."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from optimetry.conformance.cases.effort import EFFORTS, EXHAUSTIVE
from optimetry.conformance.certify.judged import Judge
from optimetry.conformance.commands.arguments import DEFAULT_DTYPES
from optimetry.conformance.commands.certifying import certify_all, first_steps, print_certificates
from optimetry.conformance.commands.ci import Reporting
from optimetry.conformance.commands.diagnose import DEFAULT_EFFORT
from optimetry.conformance.commands.files.blocks import FILE
from optimetry.conformance.commands.files.held import held
from optimetry.conformance.commands.files.ledger import UNSUPPORTED, Balance, Ledger, outcome_of
from optimetry.conformance.commands.files.results_folder import ResultsFolder, write_tables, writing
from optimetry.conformance.commands.files.resuming import begun, jobs_done, resumed
from optimetry.conformance.commands.text.documents import document_of
from optimetry.conformance.commands.text.progress import ending_searches, progress_bar
from optimetry.conformance.commands.text.terminal import counted, filled, shown, terminal_width
from optimetry.conformance.commands.workers.jobs import Job, Loaded, Task
from optimetry.conformance.commands.workers.launching import Launch
from optimetry.conformance.commands.workers.pool import Workers
from optimetry.conformance.laws import LAWS
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.loading import version_note
from optimetry.reference.errors import UsageError
from optimetry.reports import tables
from optimetry.reports.formats import WRITERS
from optimetry.reports.header import header_of
from optimetry.reports.results import Entry, Results, Verdict, Writer, file_of, read
from optimetry.reports.sentence import next_step, sentence

DIAGNOSED = EFFORTS[DEFAULT_EFFORT]
"""The effort of `optimetry diagnose`, unless it is asked for another."""

THOROUGH = "thorough"


@dataclass(frozen=True)
class CheckPlan:
    """The plan of one run of ``optimetry check``.

    Attributes:
        task: the target, and how it is judged.
        optimizers: rule names.
        dtypes: dtype names.
        workers: how many processes judge.
        ledger: the verdicts that are expected.
        out: the folder for results, or None.
        reporting: what a continuous-integration service is given.
        form: the format that is printed.
        resume: whether a run that was ended in ``out`` is resumed.
    """

    task: Task
    optimizers: list[str]
    dtypes: list[str]
    workers: int
    ledger: Ledger
    out: Path | None
    reporting: Reporting
    form: str
    resume: bool = False

    @property
    def jobs(self) -> list[Job]:
        """Return one job for each optimizer and dtype, optimizer by optimizer."""
        return [Job(optimizer, (dtype,)) for optimizer in self.optimizers for dtype in self.dtypes]

    @property
    def judges(self) -> list[Judge]:
        """Return what is certified too, if the effort asks for it: first steps of rules in 16 bits."""
        seed, pairs = self.task.seed, self.task.effort.pairs
        return list(first_steps(self.optimizers, self.dtypes, seed)) if pairs else []


def run(check: CheckPlan) -> int:
    """Judge, print and write; return the exit status, 0 or 1.

    Raises:
        TargetError: the target cannot be loaded; nothing is written then.
        UsageError: the folder for results cannot be written; or every verdict is *unsupported*, and there is no ledger,
            which takes that for expected: results are printed and written then.
        ResultsError: it holds results of another target, or what is no results file; it is left as it was.
        KeyboardInterrupt: after Ctrl-C. One that ended a search has let the jobs that were under way come to a verdict;
            these are printed and written, and a run with ``--resume`` goes on behind them.
    """
    with Workers(check.task, min(check.workers, len(check.jobs))) as workers, held(check.out):
        target = workers.loaded
        header = header_of(
            target.name,
            target.version,
            dtypes=check.dtypes,
            optimizers=check.optimizers,
            seed=check.task.seed,
            effort=check.task.effort.name,
        )
        results = Results(header)
        try:
            if check.out is None:
                refusals = _judge(check, workers, results)
            else:
                with writing(check.out):
                    refusals = _judge_and_write(check, workers, results, ResultsFolder(check.out))
        except _SearchesEnded:
            print(shown(tables.terminal(results.verdicts, terminal_width())))
            raise
    balance = check.ledger.balance(results.verdicts)
    _print(check, results, balance, target)
    if check.judges and check.form not in WRITERS:
        print()
        print_certificates(header, results.certificates, refusals)
    check.reporting.report(results, balance, check.ledger.path)
    if check.ledger.path is None and all(verdict.verdict == UNSUPPORTED for verdict in results.verdicts):
        raise UsageError(nothing_judged(results.verdicts))
    failing = not all(each.holds for each in results.certificates)
    return 1 if balance.unexpected or balance.stale or failing else 0


def nothing_judged(verdicts: Sequence[Verdict]) -> str:
    """Say that every verdict is *unsupported*, and why."""
    first, *others = dict.fromkeys(f"{verdict.optimizer}: {verdict.reason}" for verdict in verdicts)
    alike = f" (and {counted(len(others), 'other reason')})" if others else ""
    return f"nothing was judged, every verdict is unsupported: {first}{alike}"


def _judge_and_write(check: CheckPlan, workers: Workers, results: Results, kept: ResultsFolder) -> list[str]:
    """Judge what a resumed run has left; write each finding as it comes, and tables at the end."""
    anew = {judge.begun(engine).about for judge in check.judges for engine in workers.loaded.engines}
    if check.resume:
        before = resumed(kept.results, results.header, check.jobs, workers.loaded.engines)
    else:
        before = begun(kept.results, results.header, anew)
        if check.judges:
            (kept.folder / FILE).unlink(missing_ok=True)
    kept.clear(before.verdicts)
    results.verdicts.extend(before.verdicts)
    results.certificates.extend(each for each in before.certificates if each.about in anew)
    with Writer(kept.results, results.header, before) as writer:

        def keep(finding: Entry) -> None:
            writer.write(finding)
            if isinstance(finding, Verdict):
                kept.write_counterexample(finding)

        for optimizer in check.optimizers[len(before.documents) :]:
            keep(document_of(subject_named(optimizer)))
        refusals = _judge(check, workers, results, keep, kept.folder / FILE)
    write_tables(kept.folder, [read(kept.results)])
    return refusals


def _judge(
    check: CheckPlan,
    workers: Workers,
    results: Results,
    keep: Callable[[Entry], None] = lambda finding: None,
    unfinished: Path | None = None,
) -> list[str]:
    """Add the verdicts and certificates that results lack; return the certificates not offered, with the reasons."""
    jobs = check.jobs[jobs_done(results.verdicts) :]
    with progress_bar(len(jobs)) as bar, ending_searches(workers.finish) as interrupted:
        for job, verdicts in zip(jobs, workers.run(jobs, bar.set_postfix_str), strict=False):
            for verdict in verdicts:
                results.verdicts.append(verdict)
                keep(verdict)
            bar.set_description(f"{job.optimizer} {job.dtypes[0]}", refresh=False)
            bar.update()
    if interrupted():
        raise _SearchesEnded
    return certify_all(check.judges, workers, results, keep, unfinished)


class _SearchesEnded(KeyboardInterrupt):
    """Ctrl-C ended the searches that were under way, and with them the run."""


def _print(check: CheckPlan, results: Results, balance: Balance, target: Loaded) -> None:
    if check.form in WRITERS:
        print(WRITERS[check.form]([results]), end="")
        _print_balance(check, balance, sys.stderr)
        return
    note = target.note or version_note(check.task.spec, target.version)
    print(filled(f"{results.header.name}. {tables.about(results.header)}"), end="\n\n")
    if note:
        print(filled(note), end="\n\n")
    print(shown(tables.terminal(results.verdicts, terminal_width())))
    print(f"\n{tables.summary(results.verdicts)}")
    for engine, reason in target.not_run.items():
        print(filled(f"engine {engine} not run: {reason}"))
    _print_balance(check, balance, sys.stdout)
    if check.out is not None:
        print(f"written: {file_of(check.out)}, table.md, table.csv")
    counterexamples = [verdict.counterexample for verdict in results.verdicts if verdict.counterexample is not None]
    if counterexamples and check.out is not None:
        scripts = any(counterexample.get("script") for counterexample in counterexamples)
        shown_by = "; each .py needs NumPy alone to show it" if scripts else ""
        print(filled(f"counterexamples: {len(counterexamples)} in {check.out / 'counterexamples'}{shown_by}"))
    elif counterexamples:
        kept = "--out DIR keeps them, as scripts that need NumPy alone where possible"
        print(filled(f"counterexamples: {len(counterexamples)}; {kept}"))
    print(*closing_lines(check, results), sep="\n")


def _print_balance(check: CheckPlan, balance: Balance, file: TextIO) -> None:
    if check.ledger.path is not None:
        for verdict in balance.unexpected:
            engine = f"{verdict.optimizer} {verdict.dtype} (engine {verdict.engine})"
            print(f"unexpected: {engine}: {outcome_of(verdict)}, not in {check.ledger.path}", file=file)
        for text in balance.stale:
            print(f"stale: {text}", file=file)
        if not (balance.unexpected or balance.stale):
            print(f"all that is offered conforms or is expected by {check.ledger.path}", file=file)


def closing_lines(check: CheckPlan, results: Results) -> list[str]:
    """Return a sentence that sums up the verdicts, and the command that explains the first that is not good."""
    summary, name = sentence(results.header.target, results.verdicts, WRAPPERS), next_step(results.verdicts)
    verdicts = [verdict for verdict in results.verdicts if verdict.optimizer == name]
    searching = ", with a longer search for a formula" if any(map(_may_be_a_formula, verdicts)) else ""
    more = (
        [f"where and why{searching}: {diagnosing(check.task.launch, name, repeating(check, verdicts))}"] if name else []
    )
    return ["", *textwrap.wrap(summary, terminal_width()), *more] if summary else []


def _may_be_a_formula(verdict: Verdict) -> bool:
    """Whether `optimetry diagnose` searches for what a target computes: it has no name, and breaks no universal law."""
    unnamed = verdict.verdict == "diverges" and not str(verdict.computes)
    lawful = verdict.law is None or not LAWS[verdict.law].universal
    return unnamed and lawful and not subject_named(verdict.optimizer).shaped


def repeating(check: CheckPlan, verdicts: Sequence[Verdict]) -> list[str]:
    """Return the options of `optimetry diagnose` that choose the cases of a check, where they are not the defaults.

    Its default effort has the first of the cases, which show most of what diverges.
    """
    dtypes = [] if check.dtypes == list(DEFAULT_DTYPES) else check.dtypes
    words = [word for dtype in dtypes for word in ("--dtype", dtype)]
    words += ["--seed", str(check.task.seed)] if check.task.seed else []
    effort = THOROUGH if check.task.effort.name == EXHAUSTIVE.name else check.task.effort.name
    late = any(each.verdict == "diverges" and each.cases > DIAGNOSED.cases for each in verdicts)
    return words + (["--effort", effort] if effort == THOROUGH or (late and effort != DIAGNOSED.name) else [])


def diagnosing(launch: Launch, optimizer: str, more: Sequence[str] = ()) -> str:
    """Return the command that diagnoses one optimizer of a target, with more options."""
    how = "".join(f" {shlex.quote(word)}" for word in (*launch.options, *more))
    if launch.program:
        return f"optimetry diagnose --optimizer {optimizer}{how} -- {launch.spec}"
    if launch.own is not None:
        arguments = f" --with {shlex.join(launch.own.arguments)}" if launch.own.arguments else ""
        return f"optimetry diagnose {shlex.quote(launch.spec)} --as {optimizer}{arguments}{how}"
    return f"optimetry diagnose {shlex.quote(launch.spec)} --optimizer {optimizer}{how}"
