"""Results files: a header line, one line for each verdict, and a footer; ``schema.json`` is their JSON Schema.

A file without footer is an unfinished run, and `read` says so. Nothing in a file depends on when it was written: the
same seed gives the same bytes.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self, get_args

SCHEMA_VERSION = 1

Outcome = Literal["conforms", "dialect", "diverges", "unsupported", "error"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""What a verdict can be, from good to bad."""


class ResultsError(ValueError):
    """A results file cannot be read: unfinished, foreign, of another schema version, or with a broken line."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What was judged, with what, and how thoroughly.

    Attributes:
        schema: the version of the file's schema.
        optimetry: the version that wrote the file.
        target: the target's name.
        target_version: its version.
        platform: system, machine, Python and NumPy.
        dtypes: the dtypes judged, in the order of the verdicts.
        optimizers: the optimizers judged, in the order of the verdicts.
        seed: what the cases were drawn from.
        effort: ``quick``, ``standard`` or ``thorough``.
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


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one engine of the target is found to compute for one optimizer in one dtype.

    Attributes:
        verdict: the outcome, one of `OUTCOMES`.
        dialect: the named variant that explains every case, for the outcome ``dialect`` alone.
        share: the largest difference from the documented rule, as a share of the rounding-error bound; at most 1 where
            the target computes the rule, finite, None where nothing was compared.
        ulp: the largest difference in representable numbers, None where nothing was compared.
        vacuous: the share of elements, 0 to 1, whose bound is not finite, so that nothing can be said of them.
        cases: how many cases were compared.
        engine: the implementation inside the target, ``default`` where it has but one.
        reason: one sentence on why the verdict is not ``conforms``; empty where it is.
        counterexample: a JSON object with the exact ``case`` and a standalone NumPy ``script`` that shows the
            difference, or None.
    """

    kind: Literal["verdict"] = "verdict"
    optimizer: str
    dtype: str
    verdict: Outcome
    dialect: str | None = None
    share: float | None = None
    ulp: int | None = None
    vacuous: float = 0.0
    cases: int = 0
    engine: str = "default"
    reason: str = ""
    counterexample: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Footer:
    """The mark of a finished run: how many verdicts there are, in all and of each outcome."""

    kind: Literal["footer"] = "footer"
    verdicts: int
    counts: dict[str, int]

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Self:
        """The footer that belongs under these verdicts."""
        counts = Counter(verdict.verdict for verdict in verdicts)
        return cls(verdicts=counts.total(), counts={outcome: counts[outcome] for outcome in OUTCOMES})


@dataclass(frozen=True)
class Results:
    """A finished results file."""

    header: Header
    verdicts: list[Verdict] = field(default_factory=list)


def line(record: Header | Verdict | Footer) -> str:
    """The record as its line of a results file, without the line end."""
    return json.dumps(dataclasses.asdict(record), allow_nan=False)


class Writer:
    """Writes a results file line by line; leaving the ``with`` block without an exception adds the footer.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self._verdicts: list[Verdict] = []
        self._file: IO[str] = path.open("w", encoding="utf-8", newline="\n")
        self._put(header)

    def write(self, verdict: Verdict) -> None:
        """Append one verdict, at once on disk for whoever follows the file."""
        self._verdicts.append(verdict)
        self._put(verdict)

    def _put(self, record: Header | Verdict | Footer) -> None:
        self._file.write(line(record) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._put(Footer.of(self._verdicts))
        self._file.close()


def file_of(path: Path) -> Path:
    """A results file, for which the folder that holds it may stand."""
    return path / "results.jsonl" if path.is_dir() else path


def read(path: Path) -> Results:
    """Read a finished results file.

    Raises:
        ResultsError: with the path, the line where there is one, and what is wrong with it.
    """
    lines = _lines(path)
    header = _header(path, lines[0])
    verdicts: list[Verdict] = []
    for number, text in enumerate(lines[1:], start=2):
        fields = _object(text)
        if fields is None:
            if number == len(lines) and not text.endswith("\n"):
                break  # cut off in the middle of a line
            raise ResultsError(f"{path}, line {number}: not a JSON object")
        if fields.get("kind") == "footer":
            _check(path, number, fields, "footer")
            _check_footer(path, number, Footer(**fields), verdicts)
            if number < len(lines):
                raise ResultsError(f"{path}, line {number + 1}: text after the footer")
            return Results(header, verdicts)
        _check(path, number, fields, "verdict")
        verdicts.append(Verdict(**fields))
    raise ResultsError(f"{path}: unfinished: its run did not end, no footer after {len(verdicts)} verdicts")


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except UnicodeDecodeError:
        raise ResultsError(f"{path}: not a results file of optimetry: not text in UTF-8") from None
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None
    if not lines:
        raise ResultsError(f"{path}: not a results file of optimetry: empty")
    return lines


def _header(path: Path, text: str) -> Header:
    fields = _object(text)
    if fields is None or fields.get("kind") != "header" or "optimetry" not in fields:
        raise ResultsError(f"{path}: not a results file of optimetry: line 1 is no header")
    if fields.get("schema") != SCHEMA_VERSION:
        raise ResultsError(
            f"{path}: written by optimetry {fields['optimetry']} in schema version {fields.get('schema')!r}, "
            f"must be {SCHEMA_VERSION} for this optimetry"
        )
    _check(path, 1, fields, "header")
    return Header(**fields)


def _object(text: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(text, parse_constant=_refuse)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _check_footer(path: Path, number: int, footer: Footer, verdicts: list[Verdict]) -> None:
    if footer != Footer.of(verdicts):
        raise ResultsError(
            f"{path}, line {number}: the footer counts {footer.verdicts} verdicts {footer.counts}, "
            f"the file holds {len(verdicts)} {Footer.of(verdicts).counts}"
        )


def _check(path: Path, number: int, fields: dict[str, Any], kind: str) -> None:
    from jsonschema.exceptions import best_match

    error = best_match(_validator(kind).iter_errors(fields))
    if error is not None:
        where = f"{error.json_path[2:]}: " if error.path else ""
        raise ResultsError(f"{path}, line {number}: not a {kind} line: {where}{error.message}")


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator({"$defs": schema()["$defs"], "$ref": f"#/$defs/{kind}"})


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of one line of a results file."""
    loaded: dict[str, Any] = json.loads(resources.files("optimetry.reports").joinpath("schema.json").read_text("utf-8"))
    return loaded
