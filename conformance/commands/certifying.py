"""Certifies rules on the workers of a run: gives them blocks, and adds up the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import cast

from optimetry.conformance.certify.job import BlockJob
from optimetry.conformance.certify.judged import Judge
from optimetry.conformance.certify.pairs import DTYPES, FIRST, STEPS, Pairs
from optimetry.conformance.certify.settings import settings_of
from optimetry.conformance.commands.arguments import is_elementwise
from optimetry.conformance.commands.files.blocks import Blocks
from optimetry.conformance.commands.text.progress import progress_bar
from optimetry.conformance.commands.text.terminal import terminal_width
from optimetry.conformance.commands.workers.pool import Workers
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.reports import certificate_tables
from optimetry.reports.certificate import Certificate
from optimetry.reports.results import Header, Results

BATCH = 64
"""How many blocks are given out before the target's faults are looked at; the first block goes alone."""


@dataclass(frozen=True)
class Certification:
    """What one run compares.

    Attributes:
        judges: one for each rule, dtype, step and setting.
        engines: the names of the engines, each with its number.
        blocks: how many blocks are drawn of each, None for all.
    """

    judges: Sequence[Judge]
    engines: dict[str, int]
    blocks: int | None

    @property
    def pairs(self) -> int:
        """How many pairs there are to compare."""
        return sum(map(self.pairs_of, self.judges)) * len(self.engines)

    def pairs_of(self, judge: Judge) -> int:
        """How many pairs one certificate has."""
        return len(judge.pairs.share(self.blocks)) * judge.pairs.block_size


def judges_of(rules: Iterable[str], dtypes: Sequence[str], seed: int, corners: bool) -> list[Judge]:
    """Return the judges of elementwise rules, in the first step and in later ones, at the defaults or corners, too."""
    return [
        Judge(Pairs(rule, dtype, step, seed), setting)
        for rule in rules
        for dtype in dtypes
        for step in STEPS
        for setting in settings_of(cast(RuleSubject, subject_named(rule)), corners)
    ]


def first_steps(optimizers: Sequence[str], dtypes: Sequence[str], seed: int) -> Iterator[Judge]:
    """Yield the judges of elementwise rules on all pairs in the first step, at the defaults."""
    certifiable = [dtype for dtype in dtypes if dtype in DTYPES]
    for judge in judges_of(filter(is_elementwise, optimizers), certifiable, seed, corners=False):
        if judge.pairs.step == FIRST and judge.pairs.all_parameters:
            yield judge


def certify_all(
    judges: Sequence[Judge],
    workers: Workers,
    results: Results,
    keep: Callable[[Certificate], None] = lambda certificate: None,
    unfinished: Path | None = None,
) -> list[str]:
    """Add the certificates of all engines to the results of a check, and return what is not offered.

    Args:
        judges: what is certified; certificates that the results already have are left out.
        workers: the workers of the check.
        results: its results.
        keep: called with each certificate as it is finished.
        unfinished: the file that keeps finished blocks until all are finished, None for none.

    Raises:
        UsageError: the file belongs to another run.
    """
    known, refusals = {each.about for each in results.certificates}, list[str]()
    names = workers.loaded.engines
    left = [judge for judge in judges if not all(judge.begun(name).about in known for name in names)]
    if not left:
        return refusals
    engines = {name: number for number, name in enumerate(names)}
    run = {**asdict(results.header), "engines": names}
    with closing(Blocks(unfinished, run)) as kept:
        for certificate in certified(Certification(left, engines, None), workers, kept, refusals):
            if certificate.about not in known:
                results.certificates.append(certificate)
                keep(certificate)
        kept.end()
    return refusals


def certified(
    certification: Certification, workers: Workers, kept: Blocks, refusals: list[str]
) -> Iterator[Certificate]:
    """Yield each certificate when its last block is finished.

    What is not offered is added to a list, with the reason.
    """
    with progress_bar(certification.pairs, "pair", initial=kept.pairs) as bar:
        for judge in certification.judges:
            for name in certification.engines:
                bar.set_description(f"{judge.pairs.optimizer} {judge.pairs.dtype} {name}", refresh=False)
                result = _certificate(certification, judge, name, workers, kept, bar.update)
                if isinstance(result, Certificate):
                    yield result
                    continue
                bar.update(certification.pairs_of(judge))
                refusal = f"{judge.pairs.optimizer} {judge.pairs.dtype} (engine {name}): {result}"
                refusals += [refusal] * (refusal not in refusals)


def _certificate(
    certification: Certification,
    judge: Judge,
    engine: str,
    workers: Workers,
    kept: Blocks,
    advance: Callable[[int], object],
) -> Certificate | str:
    """Compare the remaining blocks of a certificate; return it, or why it is not offered.

    A target that breaks the protocol ends its certificate there.
    """
    finished, certificate = kept.finished(judge.begun(engine))
    left = judge.pairs.share(certification.blocks)[finished:]
    starts = [0, *range(1, len(left), BATCH), len(left)]
    for numbers in (left[start:end] for start, end in pairwise(starts)):
        if certificate.reason:
            break
        jobs = [BlockJob(judge, number, certification.engines[engine], engine) for number in numbers]
        for job, (result,) in zip(jobs, workers.run(jobs), strict=True):
            if isinstance(result, str) and not finished:
                return result
            if not certificate.reason:
                block = job.lost(f"not offered: {result}") if isinstance(result, str) else result
                finished, certificate = finished + 1, kept.add(job.number, block)
            advance(judge.pairs.block_size)
    return certificate


def print_certificates(header: Header, certificates: Sequence[Certificate], refusals: Sequence[str]) -> None:
    """Print certificates as a table, with their first failures, and what is not offered."""
    print(f"{header.name}: every pair of a parameter and a gradient, or a drawn share.\n")
    if certificates:
        print(certificate_tables.terminal(certificates, terminal_width()))
        print(*certificate_tables.failures(certificates), sep="\n")
    else:
        print("none of the rules asked for is offered")
    print(*(f"not offered: {text}" for text in refusals), sep="\n", end="\n" if refusals else "")
