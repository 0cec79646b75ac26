"""Arranges results by page: the matrix, the rules, the targets, and what changed from one version to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from optimetry.reports.accuracy import Accuracy
from optimetry.reports.certificate import Certificate
from optimetry.reports.document import Document
from optimetry.reports.filenames import FileNames
from optimetry.reports.matrix import Statement, statements
from optimetry.reports.results import OUTCOMES, Outcome, Results, ResultsError, Verdict
from optimetry.reports.site.findings import FindingSection, findings
from optimetry.reports.speed import Speed
from optimetry.reports.speed_tables import runs

R = TypeVar("R", Accuracy, Certificate)


@dataclass(frozen=True)
class PublishedTarget(Results):
    """The results of one version of a target.

    Attributes:
        file: its page.
        others: the other versions of the same target, each with what changed.
    """

    file: str = ""
    others: list[VersionChange] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name and version."""
        return self.header.name

    @property
    def counts(self) -> list[tuple[Outcome, int]]:
        """How many verdicts there are of each outcome that occurs."""
        counts = Counter(verdict.verdict for verdict in self.verdicts)
        return [(outcome, counts[outcome]) for outcome in OUTCOMES if counts[outcome]]

    def accuracy_behind(self, statement: Statement) -> list[Accuracy]:
        """Return the accuracy records for the verdicts of a statement."""
        judged = {verdict.about for verdict in statement.verdicts}
        return [each for each in self.accuracy if each.about[:3] in judged]

    def about(self, rule: str) -> list[Statement]:
        """Return the statements on one rule."""
        return statements(verdict for verdict in self.verdicts if verdict.optimizer == rule)


@dataclass(frozen=True)
class VersionChange:
    """What differs from another version of a target.

    Attributes:
        than: that version.
        verdicts: pairs of verdicts on the same thing, there and here, that differ; None where one version has none.
    """

    than: PublishedTarget
    verdicts: list[tuple[Verdict | None, Verdict | None]]


@dataclass(frozen=True)
class TimedRun:
    """Times of one rule that may be compared: of one dtype and number of parameters, out of one run.

    Attributes:
        target: what was timed.
        dtype: of the parameters.
        tensors: how many there were.
        rows: the times, for each size the fastest first.
        contenders: the names of contenders, those of the largest size first, the fastest of them first.
        picture: the file of their picture, which is drawn of several sizes.
    """

    target: PublishedTarget
    dtype: str
    tensors: int
    rows: list[Speed]
    contenders: dict[str, str]
    picture: str

    @property
    def sizes(self) -> int:
        """How many sizes of a parameter were timed."""
        return len({row.elements for row in self.rows})


@dataclass(frozen=True)
class RuleContents:
    """One rule.

    Attributes:
        name: its name.
        book: whose document it is.
        document: its document, where the results have it.
        file: its page.
        columns: the statements on it, for each target.
        certificates: its certificates, for each target that has some.
        accuracy: its accuracy records, for each target that has some.
        pictures: the files of the pictures of its accuracy, by dtype.
        runs: those that timed it.
    """

    name: str
    book: str
    document: Document | None
    file: str
    columns: list[tuple[PublishedTarget, list[Statement]]]
    certificates: list[tuple[PublishedTarget, list[Certificate]]]
    accuracy: list[tuple[PublishedTarget, list[Accuracy]]]
    pictures: dict[str, str]
    runs: list[TimedRun]

    @classmethod
    def of(
        cls, name: str, book: str, document: Document | None, targets: Sequence[PublishedTarget], files: FileNames
    ) -> RuleContents:
        """Collect what targets have on a rule, and name its files."""
        certificates = [(target, _about(name, target.certificates)) for target in targets]
        accuracy = [(target, _about(name, target.accuracy)) for target in targets]
        dtypes = dict.fromkeys(each.dtype for _, measured in accuracy for each in measured)
        return cls(
            name,
            book,
            document,
            files.named("rule", name),
            [(target, target.about(name)) for target in targets],
            [pair for pair in certificates if pair[1]],
            [pair for pair in accuracy if pair[1]],
            {dtype: files.named("picture", name, dtype, ending="svg") for dtype in dtypes},
            list(_runs(name, targets, files)),
        )

    def curves(self, dtype: str) -> list[tuple[str, Accuracy]]:
        """Return the curves of one dtype: for each target its first engine, with its name if there are others."""
        curves = []
        for target, measured in self.accuracy:
            mine = [each for each in measured if each.dtype == dtype]
            first = mine[0].engine if mine else ""
            engine = "" if all(each.engine == first for each in mine) else f", {first}"
            curves += [(f"{target.name}{engine}"[:40], each) for each in mine if each.engine == first]
        return curves


@dataclass(frozen=True)
class Contents:
    """All pages.

    Attributes:
        rules: every rule that was judged, in the order of the results.
        targets: every version of every target.
        findings: those about some of the rules.
    """

    rules: list[RuleContents]
    targets: list[PublishedTarget]
    findings: list[FindingSection] = field(default_factory=list)

    @classmethod
    def of(cls, results: Sequence[Results], findings_page: str = "") -> Contents:
        """Arrange results, and a page of findings in Markdown.

        Raises:
            ResultsError: two of them, or two verdicts of one, are about the same thing.
        """
        _check_distinct(results)
        files = FileNames()
        targets = [PublishedTarget(**vars(each), file=files.named("target", *each.header.about)) for each in results]
        for target in targets:
            others = [other for other in targets if other.header.target == target.header.target and other is not target]
            target.others.extend(VersionChange(other, _changes(other, target)) for other in others)
        documents = {document.optimizer: document for each in results for document in each.documents}
        books = {verdict.optimizer: verdict.book for each in results for verdict in each.verdicts}
        for each in results:
            measured: list[Accuracy | Certificate] = [*each.accuracy, *each.certificates]
            for record in measured:
                books.setdefault(record.optimizer, record.book)
            for timed in each.speed:
                books.setdefault(timed.rule, timed.book)
        rules = [RuleContents.of(name, book, documents.get(name), targets, files) for name, book in books.items()]
        return cls(rules, targets, findings(findings_page, books, files) if findings_page else [])

    def findings_about(self, rule: str) -> list[FindingSection]:
        """Return the findings that name a rule."""
        return [finding for finding in self.findings if rule in finding.rules]

    @property
    def judged(self) -> list[PublishedTarget]:
        """The targets that have verdicts; all of them if none has."""
        return [target for target in self.targets if target.verdicts] or self.targets

    @property
    def books(self) -> list[str]:
        """The books of the rules."""
        return list(dict.fromkeys(rule.book for rule in self.rules))

    @property
    def dtypes(self) -> list[str]:
        """The dtypes of the verdicts."""
        return self._values("dtype")

    @property
    def engines(self) -> list[str]:
        """The engines of the verdicts."""
        return self._values("engine")

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes that occur, from good to bad."""
        occurring = self._values("verdict")
        return [outcome for outcome in OUTCOMES if outcome in occurring]

    def _values(self, name: str) -> list[str]:
        return list(dict.fromkeys(getattr(verdict, name) for target in self.targets for verdict in target.verdicts))


def _about(rule: str, records: Iterable[R]) -> list[R]:
    return [record for record in records if record.optimizer == rule]


def _check_distinct(results: Sequence[Results]) -> None:
    twice = _first_twice(each.header.about for each in results)
    if twice:
        raise ResultsError(f"two results of {' '.join(twice)}, must be one of each version of a target")
    for each in results:
        twice = _first_twice(verdict.about for verdict in each.verdicts)
        if twice:
            raise ResultsError(
                f"{each.header.name}: two verdicts on {' '.join(twice)}, must be one of each engine and dtype"
            )


def _first_twice(keys: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
    return next((key for key, count in Counter(keys).items() if count > 1), None)


def _changes(before: PublishedTarget, after: PublishedTarget) -> list[tuple[Verdict | None, Verdict | None]]:
    there, here = ({verdict.about: verdict for verdict in target.verdicts} for target in (before, after))
    pairs = [(there.get(key), here.get(key)) for key in dict.fromkeys([*there, *here])]
    return [(old, new) for old, new in pairs if _said(old) != _said(new)]


def _said(verdict: Verdict | None) -> object:
    return verdict and (verdict.verdict, verdict.computes)


def _runs(rule: str, targets: Iterable[PublishedTarget], files: FileNames) -> Iterator[TimedRun]:
    for target in targets:
        for (_, dtype, tensors), rows, contenders in runs([row for row in target.speed if row.rule == rule]):
            names = ("speed", rule, *target.header.about, dtype, str(tensors))
            file = files.named("picture", *names, ending="svg")
            ordered = sorted(rows, key=lambda row: (row.elements, row.nanoseconds))
            yield TimedRun(target, dtype, tensors, ordered, contenders, file)
