"""Judges the libraries of this folder and holds the verdicts against `truth.toml`.

Run in the root of the repository: ``python -m examples.field.study [LIBRARY]... [--round ROUND] [--seed SEED]
[--results DIR] [--out FILE]``. Each library is judged in a process of its own. With ``--results`` verdicts are kept,
and used again where they are there; a library whose run was ended goes on where it stopped. The exit status is 0 where
no verdict contradicts the truth and at least 90 % of what can be named is named, in every round.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from examples.field.apart import reachable
from optimetry.conformance.commands.cli import main as optimetry
from optimetry.reports.results import Computes, Results, ResultsError, Verdict, read

FOLDER = Path(__file__).parent
LEAST_NAMED = 0.9
TRUTH = tomllib.loads((FOLDER / "truth.toml").read_text(encoding="utf-8"))
ROUNDS = tuple(TRUTH)
"""The tables of ``truth.toml``: libraries that were tried together, each time such as nobody knew before."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What a library computes for a rule by its source: one entry of ``truth.toml``, which explains the fields."""

    round: str
    library: str
    rule: str
    truth: str
    formula: str
    source: str
    names: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    nameable: bool = True
    corrected: str = ""
    part_of: str = ""

    @property
    def documented(self) -> bool:
        """Whether it computes the documented rule."""
        return self.truth == "documented"

    def is_named(self, verdict: Verdict) -> bool:
        """Whether a verdict says what the source shows; the order of axes in a name means nothing."""
        known = [set(name.split(", ")) for name in self.names]
        explained = explanation(verdict)
        return set(explained.split(", ")) in known or explained in [*self.parts, *self.found]


@dataclass(frozen=True)
class Finding:
    """A pair and its verdicts, one for each dtype."""

    pair: Pair
    verdicts: list[Verdict]

    @property
    def accepted(self) -> list[bool]:
        """Whether each verdict is that the documented rule is computed."""
        return [verdict.verdict in ("conforms", "imprecise") for verdict in self.verdicts]

    @property
    def falsely_rejected(self) -> bool:
        """Whether the documented rule was taken for another in some dtype."""
        return self.pair.documented and not (self.verdicts and all(self.accepted))

    @property
    def falsely_accepted(self) -> bool:
        """Whether another rule was taken for the documented one in some dtype."""
        return not self.pair.documented and any(self.accepted)

    @property
    def named(self) -> bool:
        """Whether every verdict names the dialect that the source shows."""
        return bool(self.verdicts) and all(map(self.pair.is_named, self.verdicts))

    @property
    def misnamed(self) -> bool:
        """Whether some verdict names a rule that the source does not show."""
        others = [verdict for verdict in self.verdicts if verdict.verdict == "dialect"]
        return not self.pair.documented and not all(map(self.pair.is_named, others))

    @property
    def agreement(self) -> str:
        """How the verdicts agree with the truth."""
        if self.falsely_rejected or self.falsely_accepted:
            return "**false rejection**" if self.falsely_rejected else "**false acceptance**"
        if self.misnamed:
            return "**another name**"
        return "yes" if self.pair.documented or self.named or not self.pair.nameable else "not named"


def explanation(verdict: Verdict) -> str:
    """The rule or the found formula that explains the target, or what does in parts; empty where nothing does."""
    formula = verdict.computes.formula if verdict.computes.found else None
    return verdict.computes.rule or formula or "; ".join(map(str, verdict.computes.parts))


def truths() -> list[Pair]:
    """Read what every pair computes."""
    return [Pair(round=name, **entry) for name, entries in TRUTH.items() for entry in entries]


def first_contact(pairs: Sequence[Pair]) -> list[Finding]:
    """Read the verdicts of the first run of each library, before anything was changed because of its round."""
    lines = (FOLDER / "first.jsonl").read_text(encoding="utf-8").splitlines()
    kept: dict[tuple[str, str], list[Verdict]] = {}
    for entry in map(json.loads, lines):
        verdict = Verdict(
            optimizer=entry["rule"],
            dtype=entry["dtype"],
            verdict=entry["verdict"],
            computes=Computes(entry["computes"]),
        )
        kept.setdefault((entry["library"], entry["rule"]), []).append(verdict)
    return [Finding(pair, kept.get((pair.library, pair.rule), [])) for pair in pairs]


def judged(library: str, pairs: Iterable[Pair], folder: Path, target: Sequence[str], seed: int = 0) -> Results:
    """Judge the rules of one library at effort quick, unless that was done before; a run that was ended is resumed.

    Args:
        library: its adapter's name.
        pairs: what it computes, by its source.
        folder: where results are kept.
        target: what the command line says of it.
        seed: of the cases that are drawn.

    Raises:
        SystemExit: the library cannot be loaded.
    """
    with contextlib.suppress(ResultsError):
        return read(folder / "results.jsonl")
    rules = [word for pair in pairs for word in ("--optimizer", pair.rule)]
    cases = ["--effort", "quick", "--seed", str(seed)]
    command = ["check", *rules, *cases, "-n", "1", "--out", str(folder), "--resume", *target]
    with contextlib.redirect_stdout(io.StringIO()):
        status = optimetry(command)
    if status == 2:
        sys.exit(f"{library} could not be judged")
    return read(folder / "results.jsonl")


def findings_of(pairs: Sequence[Pair], results: Results) -> list[Finding]:
    """Put the verdicts of one library beside its pairs; a dtype that it does not compute in has none."""
    return [
        Finding(pair, [v for v in results.verdicts if v.optimizer == pair.rule and v.verdict != "unsupported"])
        for pair in pairs
    ]


def verdict_text(verdict: Verdict) -> str:
    """One verdict in a cell of the table."""
    computes = str(verdict.computes) if verdict.computes.rule != "documented" else ""
    ways = ", ".join(part for part in str(verdict.computes).split("; ") if part != "documented")
    return " ".join([verdict.verdict, *([f"({computes or ways})"] if computes or ways else [])])


def verdicts_text(verdicts: Sequence[Verdict]) -> str:
    """All verdicts of a pair, written once where the dtypes agree."""
    texts = {verdict.dtype: verdict_text(verdict) for verdict in verdicts}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{dtype} {text}" for dtype, text in texts.items())


def cell(text: str) -> str:
    """A text as it stands in a table."""
    return text.replace("|", "\\|")


def row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return "| " + " | ".join(map(cell, cells)) + " |"


def of_round(findings: Sequence[Finding], name: str) -> list[Finding]:
    """Select the findings of one round."""
    return [finding for finding in findings if finding.pair.round == name]


def figures(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """Count what the study is for."""
    documented = [finding for finding in findings if finding.pair.documented]
    others = [finding for finding in findings if not finding.pair.documented]
    nameable = [finding for finding in others if finding.pair.nameable]
    named = sum(finding.named for finding in nameable)
    by_formula = sum(bool(finding.pair.found) for finding in nameable if finding.named)
    corrected = sum(bool(finding.pair.corrected) for finding in findings)
    return [
        ("libraries", str(len({finding.pair.part_of or finding.pair.library for finding in findings}))),
        ("pairs", str(len(findings))),
        ("documented", str(len(documented))),
        ("falsely rejected", str(sum(finding.falsely_rejected for finding in findings))),
        ("another rule", str(len(others))),
        ("falsely accepted", str(sum(finding.falsely_accepted for finding in findings))),
        ("can be named", str(len(nameable))),
        ("named", f"{named} ({named / max(1, len(nameable)):.0%})"),
        ("by search", str(by_formula)),
        ("read again", str(corrected)),
        ("other name", str(sum(finding.misnamed for finding in findings))),
    ]


def page(findings: Sequence[Finding], results: dict[str, Results]) -> str:
    """Write the page, which begins with `intro.txt` and ends with `notes.txt`."""
    first = first_contact([finding.pair for finding in findings])
    rounds = [name for name in ROUNDS if of_round(findings, name)]
    lines = (FOLDER / "intro.txt").read_text(encoding="utf-8").splitlines()
    for run, members in (("first run", first), ("latest run", findings)):
        counted = {name: figures(of_round(members, name)) for name in rounds} | {"all": figures(members)}
        labels = [label for label, _ in figures(findings)]
        lines += ["", row([run, *labels]), row(["---", *["---:"] * len(labels)])]
        lines += [row([name, *(number for _, number in numbers)]) for name, numbers in counted.items()]
    heading = ""
    for library, result in results.items():
        if heading != f"## {result.header.name}":  # another adapter of the library goes on with its table
            heading = f"## {result.header.name}"
            lines += ["", heading, "", row(["rule", "by the source", "where", "verdict", "agrees"]), row(["---"] * 5)]
        for finding in (finding for finding in findings if finding.pair.library == library):
            pair = finding.pair
            label = ("documented: " if pair.documented else "another: ") + f"`{pair.formula}`"
            lines.append(row([pair.rule, label, pair.source, verdicts_text(finding.verdicts), finding.agreement]))
    disputed = [finding for finding in findings if finding.agreement != "yes"]
    if disputed:
        lines += ["", "## Where verdict and source differ, or no name was found", ""]
    for finding in disputed:
        label = f"{finding.pair.library} {finding.pair.rule}"
        for verdict in finding.verdicts:
            if finding.agreement == "not named" and finding.pair.is_named(verdict):
                continue  # in another dtype it is not
            reason = verdict.reason or verdict_text(verdict)
            lines.append(f"- {label} {verdict.dtype}, {finding.agreement.strip('*')}: {reason}")
    notes = (FOLDER / "notes.txt").read_text(encoding="utf-8")
    return "\n".join([*lines, "", notes])


def holds(findings: Sequence[Finding]) -> bool:
    """Whether no verdict contradicts the truth, and enough of what can be named is named."""
    nameable = [finding for finding in findings if not finding.pair.documented and finding.pair.nameable]
    wrong = any(finding.falsely_rejected or finding.falsely_accepted or finding.misnamed for finding in findings)
    return not wrong and sum(finding.named for finding in nameable) >= LEAST_NAMED * len(nameable)


def main() -> int:
    """Run the study; return 0 where it holds, else 1."""
    pairs = truths()
    libraries = list(dict.fromkeys(pair.library for pair in pairs))
    parser = argparse.ArgumentParser(
        description="judge third-party libraries and hold the verdicts against their source"
    )
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"of {', '.join(libraries)}; default all")
    parser.add_argument("--round", choices=ROUNDS, help="judge the libraries of one round; default all")
    parser.add_argument(
        "--seed", type=int, default=0, help="of the cases that are drawn; default 0, as the page has it"
    )
    parser.add_argument("--results", type=Path, help="keep verdicts in this folder, and use those that are there")
    parser.add_argument("--out", type=Path, help="write the page to this file")
    options = parser.parse_args()
    if not set(options.libraries) <= set(libraries):
        parser.error(f"{' '.join(options.libraries)}: must be among {', '.join(libraries)}")

    named = options.libraries or libraries
    pairs = [pair for pair in pairs if pair.library in named and options.round in (None, pair.round)]
    findings: list[Finding] = []
    results: dict[str, Results] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for library in dict.fromkeys(pair.library for pair in pairs):
            chosen = [pair for pair in pairs if pair.library == library]
            folder = options.results or Path(scratch)
            with reachable(library, folder / "installed") as target:
                place = folder / (f"{library}-seed-{options.seed}" if options.seed else library)
                results[library] = judged(library, chosen, place, target, options.seed)
            findings += findings_of(chosen, results[library])
            for finding in findings[-len(chosen) :]:
                verdicts, agreement = verdicts_text(finding.verdicts), finding.agreement.strip("*")
                print(f"{library} {finding.pair.rule}: {verdicts}: {agreement}", flush=True)
    if options.out:
        options.out.write_text(page(findings, results), encoding="utf-8")
    rounds = [of_round(findings, name) for name in ROUNDS]
    for name, members in zip(ROUNDS, rounds, strict=True):
        for label, number in figures(members) if members else []:
            print(f"{name} round, {label}: {number}")
    return 0 if all(map(holds, rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
