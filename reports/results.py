"""Writes and reads results files: a header, records and a footer, as in ``schema.json``; an unfinished run has none."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, Self, get_args

from optimetry.reports.accuracy import Accuracy
from optimetry.reports.arithmetic import described
from optimetry.reports.certificate import Certificate
from optimetry.reports.document import Document
from optimetry.reports.parts import Part
from optimetry.reports.schema import object_of, violation
from optimetry.reports.speed import Speed

SCHEMA_VERSION = 2
READABLE = (1, SCHEMA_VERSION)
"""The versions that `read` takes; a verdict of schema 1 keeps the name that it was written with."""

FOUND = "found"
"""The name of a dialect that a search found, in place of a declared one."""

Outcome = Literal["conforms", "imprecise", "dialect", "diverges", "unsupported", "error"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""What a verdict can be, from good to bad."""


class ResultsError(ValueError):
    """A results file cannot be read: unfinished, foreign, of another schema version, or with a broken line."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """The header: what was judged, with what, and how thoroughly.

    Attributes:
        schema: the version of the file's schema.
        optimetry: the version that wrote the file.
        target: the target's name.
        target_version: its version.
        platform: system, machine, Python and NumPy.
        dtypes: the dtypes judged, in the order of the verdicts.
        optimizers: the optimizers judged, in the order of the verdicts.
        seed: the seed of the cases.
        effort: ``quick``, ``standard``, ``thorough`` or ``exhaustive``; ``none`` where nothing was judged.
    """

    kind: Literal["header"] = "header"
    schema: int = SCHEMA_VERSION
    optimetry: str
    target: str
    target_version: str
    platform: str
    dtypes: list[str]
    optimizers: list[str]
    seed: int
    effort: str

    @property
    def about(self) -> tuple[str, str]:
        """What was judged: the target and its version."""
        return self.target, self.target_version

    @property
    def name(self) -> str:
        """The same in words."""
        return " ".join(self.about)


@dataclass(frozen=True)
class Computes:
    """A typed identity: which rule, and how it is computed.

    Attributes:
        rule: ``documented``, the name of a dialect, or None where nothing known explains every case.
        formula: the line of the formula that differs from the document, None where none does.
        found: whether the formula was found by a search and is declared nowhere.
        arithmetic: ways of computing that are not operation by operation in the arrays' own precision, as in
            ``schema.json``: ``flushes_subnormals``, ``computed_in_float32``, or an object, ``{"float32": ["beta1"]}``.
        parts: where no rule explains every case, what does: a rule on some cases each, or one given other inputs.
        same_as: the rules of other books that explain every case as well, such as ``torch.adam``.
    """

    rule: str | None = None
    formula: str | None = None
    found: bool = False
    arithmetic: list[Any] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    same_as: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rules = [" = ".join(dict.fromkeys([self.rule, *self.same_as]))] if self.rule else list(map(str, self.parts))
        rules = [f"{FOUND}: {self.formula}"] if self.found else rules
        return "; ".join([*rules, *map(described, self.arithmetic)])


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on one engine of the target, for one optimizer in one dtype.

    Attributes:
        book: the collection of documents that the rule belongs to.
        verdict: the outcome, one of `OUTCOMES`.
        computes: which rule it computes, and how.
        dialect: the name of that rule, for the outcome ``dialect`` alone.
        law: the name of the law that is broken, where that is the reason or follows from it.
        share: the error ratio: the largest difference from the documented rule divided by the rounding-error bound; at
            most 2 where the target computes the rule, finite, None where nothing was compared. Where subnormals are
            flushed, the bound allows for that.
        ulp: the largest difference in units in the last place, None where nothing was compared.
        vacuous: the share of elements, 0 to 1, whose bound is not finite, so that nothing can be said of them.
        cases: how many cases were compared.
        engine: the implementation inside the target, ``default`` where there is only one.
        reason: one sentence on why the verdict is not ``conforms``; empty where it is.
        untried: what cases lack because the target does not offer it, such as ``missing gradients``.
        counterexample: a JSON object with the exact ``case`` and a standalone NumPy ``script`` that shows the
            difference, or None. Of a case that fails by its size it has the ``plan``, too, from which it is built.
    """

    kind: Literal["verdict"] = "verdict"
    book: str = "fluid"
    optimizer: str
    dtype: str
    verdict: Outcome
    computes: Computes = field(default_factory=Computes)
    dialect: str | None = None
    law: str | None = None
    share: float | None = None
    ulp: int | None = None
    vacuous: float = 0.0
    cases: int = 0
    engine: str = "default"
    reason: str = ""
    untried: list[str] = field(default_factory=list)
    counterexample: dict[str, Any] | None = None

    @property
    def about(self) -> tuple[str, ...]:
        """What is judged: results hold one verdict about it."""
        return self.optimizer, self.dtype, self.engine


@dataclass(frozen=True, kw_only=True)
class Footer:
    """The footer of a finished run: the number of verdicts, in all and of each outcome."""

    kind: Literal["footer"] = "footer"
    verdicts: int
    counts: dict[str, int]

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Self:
        """Count these verdicts."""
        counts = Counter(verdict.verdict for verdict in verdicts)
        return cls(verdicts=counts.total(), counts={outcome: counts[outcome] for outcome in OUTCOMES})


@dataclass(frozen=True)
class Results:
    """What a results file holds."""

    header: Header
    verdicts: list[Verdict] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    accuracy: list[Accuracy] = field(default_factory=list)
    speed: list[Speed] = field(default_factory=list)
    certificates: list[Certificate] = field(default_factory=list)


Entry = Document | Verdict | Accuracy | Speed | Certificate
Record = Header | Entry | Footer


def verdict_of(fields: dict[str, Any]) -> Verdict:
    """Read a verdict from the fields of its line; files of schema 2 from before there were parts have none."""
    computes = {**fields["computes"], "parts": [Part(**part) for part in fields["computes"].get("parts", ())]}
    return Verdict(**{**fields, "computes": Computes(**computes)})


FIELDS: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "document": ("documents", lambda fields: Document(**fields)),
    "verdict": ("verdicts", verdict_of),
    "accuracy": ("accuracy", Accuracy.of),
    "speed": ("speed", lambda fields: Speed(**fields)),
    "certificate": ("certificates", Certificate.of),
}
"""For each kind of record, in the order of a file: the field of `Results`, and what reads a record from its line."""


def line(record: Record) -> str:
    """Return a record as its line of a results file, without the line end."""
    return json.dumps(dataclasses.asdict(record), allow_nan=False)


class Writer:
    """Writes a results file line by line; leaving the ``with`` block without an exception adds the footer.

    Args:
        path: the file.
        header: its first line.
        resumed: what the file holds already; records are appended to it.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, header: Header, resumed: Results | None = None) -> None:
        self._verdicts = list(resumed.verdicts) if resumed else []
        self._file: IO[str] = path.open("a" if resumed else "w", encoding="utf-8", newline="\n")
        if not resumed:
            self._put(header)

    def write(self, record: Entry) -> None:
        """Append one record, and flush it to disk for readers that follow the file."""
        if isinstance(record, Verdict):
            self._verdicts.append(record)
        self._put(record)

    def _put(self, record: Record) -> None:
        self._file.write(line(record) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._put(Footer.of(self._verdicts))
        self._file.close()


def file_of(path: Path) -> Path:
    """Return the path of a results file, for which its folder may stand."""
    return path / "results.jsonl" if path.is_dir() else path


def read(path: Path | str, *, unfinished: bool = False) -> Results:
    """Read a results file.

    Args:
        path: the file.
        unfinished: whether the footer may be missing, as after an interrupted run: whole lines are returned.

    Raises:
        ResultsError: with the path, the line where there is one, and what is wrong with it.
    """
    lines = _lines(path := Path(path))
    if unfinished and len(lines) > 1 and not lines[-1].endswith("\n"):
        lines.pop()
    header_fields = _header(path, lines[0])
    results = Results(Header(**{**header_fields, "schema": SCHEMA_VERSION}))
    for number, text in enumerate(lines[1:], start=2):
        fields = object_of(text)
        if fields is None:
            if number == len(lines) and not text.endswith("\n"):
                break  # cut off in the middle of a line
            raise ResultsError(f"{path}, line {number}: not a JSON object")
        kind = str(fields.get("kind"))
        if kind == "footer":
            if header_fields["schema"] != SCHEMA_VERSION and isinstance(counts := fields.get("counts", {}), dict):
                fields["counts"] = {"imprecise": 0, **counts}
            _check(path, number, fields, "footer")
            footer, counted = Footer(**fields), Footer.of(results.verdicts)
            if footer != counted:
                stated, held = (f"{count.verdicts} verdicts {count.counts}" for count in (footer, counted))
                raise ResultsError(f"{path}, line {number}: the footer counts {stated}, the file holds {held}")
            if number < len(lines):
                raise ResultsError(f"{path}, line {number + 1}: text after the footer")
            return results
        known = kind if kind in FIELDS else "verdict"
        if known == "verdict" and header_fields["schema"] != SCHEMA_VERSION:
            fields = _of_schema_1(fields)
        _check(path, number, fields, known)
        name, make = FIELDS[known]
        getattr(results, name).append(make(fields))
    if unfinished:
        return results
    raise ResultsError(f"{path}: unfinished: its run did not end, no footer after {len(results.verdicts)} verdicts")


def _lines(path: Path) -> list[str]:
    try:
        lines = [each.decode() for each in path.read_bytes().splitlines(keepends=True)]  # at no other separators
    except UnicodeDecodeError:
        raise ResultsError(f"{path}: not a results file of optimetry: not text in UTF-8") from None
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None
    if not lines:
        raise ResultsError(f"{path}: not a results file of optimetry: empty")
    return lines


def _header(path: Path, text: str) -> dict[str, Any]:
    fields = object_of(text)
    if fields is None or fields.get("kind") != "header" or "optimetry" not in fields:
        raise ResultsError(f"{path}: not a results file of optimetry: line 1 is no header")
    if fields.get("schema") not in READABLE:
        raise ResultsError(
            f"{path}: written by optimetry {fields['optimetry']} in schema version {fields.get('schema')!r}, "
            f"must be {' or '.join(map(str, READABLE))} for this optimetry"
        )
    _check(path, 1, fields, "header")
    return fields


def _of_schema_1(fields: dict[str, Any]) -> dict[str, Any]:
    """Convert a verdict line of schema 1 to schema 2; a dialect there stays one, with all suffixes of its name."""
    rule = "documented" if fields.get("verdict") == "conforms" else fields.get("dialect")
    return {**fields, "book": "fluid", "computes": dataclasses.asdict(Computes(rule)), "law": None}


def _check(path: Path, number: int, fields: dict[str, Any], kind: str) -> None:
    if (problem := violation(fields, kind)) is not None:
        raise ResultsError(f"{path}, line {number}: not a {kind} line: {problem}")
