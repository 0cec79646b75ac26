"""Writes the results of a finished campaign in the defined order: the files that one machine would have written."""

from __future__ import annotations

import dataclasses
import json
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from optimetry.conformance.certify.worst import Worst, worst_of
from optimetry.conformance.commands.campaigns.plan import CampaignPlan, CertifyPart, CheckPart, SearchPart, encoded
from optimetry.conformance.commands.files.results_folder import ResultsFolder, write, write_tables
from optimetry.conformance.commands.files.resuming import begun
from optimetry.conformance.commands.text.documents import document_of
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reports.certificate import Certificate
from optimetry.reports.keeping import add
from optimetry.reports.results import Header, Results, Verdict, Writer, read

WORST_CASES = "worst-cases.jsonl"
"""In the folder of results: a line for each search, with the exact bits of the case."""


class Searched(NamedTuple):
    """The worst case of one part's search, or the reason why there is none."""

    part: SearchPart
    result: Worst | str


class Outcome(NamedTuple):
    """The results of a campaign.

    Attributes:
        verdicts: of its checks.
        certificates: of its certifications.
        refusals: what is not offered for those, with the reason.
        searches: of its searches.
    """

    verdicts: list[Verdict]
    certificates: list[Certificate]
    refusals: list[str]
    searches: list[Searched]


def merged(plan: CampaignPlan, findings: Iterator[list[Any]]) -> Outcome:
    """Put together the findings of all tasks, which come in the order of the tasks."""
    outcome = Outcome([], [], [], [])
    for part in plan.parts:
        of_part = islice(findings, part.count)
        if isinstance(part, CheckPart):
            outcome.verdicts.extend(part.decoded(fields) for verdicts in of_part for fields in verdicts)
        elif isinstance(part, CertifyPart):
            certificate = _certificate(part, of_part)
            if isinstance(certificate, Certificate):
                outcome.certificates.append(certificate)
            elif certificate not in outcome.refusals:
                outcome.refusals.append(certificate)
        else:
            outcome.searches.append(Searched(part, _worst(part, of_part)))
    return outcome


def write_results(folder: Path, check: Header, certify: Header, plan: CampaignPlan, outcome: Outcome) -> None:
    """Write all files as `optimetry check`, and after it `optimetry certify`, would have.

    Args:
        folder: where to.
        check: the header of the checks.
        certify: that of the certificates, which heads a file that has no checks.
        plan: the tasks.
        outcome: their results.

    Raises:
        OSError: something cannot be written.
    """
    results = folder / "results.jsonl"
    if any(isinstance(part, CheckPart) for part in plan.parts):
        kept = ResultsFolder(folder)
        kept.clear([])
        with Writer(results, check, begun(results, check)) as writer:
            for optimizer in check.optimizers:
                writer.write(document_of(subject_named(optimizer)))
            for verdict in outcome.verdicts:
                writer.write(verdict)
                kept.write_counterexample(verdict)
    if outcome.certificates:
        add(results, Results(certify, certificates=outcome.certificates))
    if outcome.verdicts or outcome.certificates:
        write_tables(folder, [read(results)])
    if outcome.searches:
        write(folder / WORST_CASES, "".join(json.dumps(_line(each)) + "\n" for each in outcome.searches))


def _certificate(part: CertifyPart, findings: Iterator[list[Any]]) -> Certificate | str:
    """Add up the blocks of a certificate, up to one in which the target breaks the protocol."""
    certificate, first = part.judge.begun(part.engine_name), True
    for job, (fields,) in zip(part.jobs(), findings, strict=True):
        block = part.decoded(fields)
        if isinstance(block, str) and first:
            deque(findings, maxlen=0)  # the rest says the same
            pairs = part.judge.pairs
            return f"{pairs.optimizer} {pairs.dtype} (engine {part.engine_name}): {block}"
        if not certificate.reason:
            certificate += job.lost(f"not offered: {block}") if isinstance(block, str) else block
        first = False
    return certificate


def _worst(part: SearchPart, findings: Iterator[list[Any]]) -> Worst | str:
    """Return the worst case of all starts, or the first reason why there is none."""
    results = [part.decoded(fields) for (fields,) in findings]
    reasons = [each for each in results if isinstance(each, str)]
    return reasons[0] if reasons else worst_of(each for each in results if isinstance(each, Worst))


def _line(searched: Searched) -> dict[str, Any]:
    part, result = searched
    about = {"optimizer": part.optimizer, "dtype": part.dtype, "engine": part.engine_name}
    search = dataclasses.asdict(part.search)
    return {**about, "search": search, **({"reason": result} if isinstance(result, str) else encoded(result))}
