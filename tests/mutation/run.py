"""Mutates folders by mutmut, runs the tests that call what was changed, and reports what they do not notice."""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import resource
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.workspace import ROOT, Folder, environment, folders, in_tree, in_workspace, prepare

LEAST = 0.95
CHANCE = 0.01
"""A sample fails where one that misses as much has less chance than this in a folder with the least score."""

UNNOTICED = ("survived", "no tests")  # `no tests`: none calls the function
UNFINISHED = ("not checked",)
TRIED_AGAIN = (*UNNOTICED, *UNFINISHED, "timeout")  # on a busy machine tests that pass may run out of time
MEMORY = 8 * 2**30  # bytes of addresses
EQUIVALENT = ROOT / "tests" / "mutation" / "equivalent.toml"


@dataclass(frozen=True)
class Change:
    """The lines that a mutation removes and adds, without indentation, and the file."""

    file: str
    old: tuple[str, ...]
    new: tuple[str, ...]

    @classmethod
    def of(cls, file: str, diff: str) -> Change:
        """Read a unified diff."""
        lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
        old, new = (tuple(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
        return cls(file, old, new)


@dataclass(frozen=True)
class Mutant:
    """A mutation and what the tests said of it."""

    name: str
    status: str
    change: Change
    diff: str

    @property
    def place(self) -> str:
        """File and line, of the first line that the mutation removes and that stands in the function so."""
        lines = (ROOT / self.change.file).read_text(encoding="utf-8").splitlines()
        function = self.name.rpartition("ǁ" if "ǁ" in self.name else ".x_")[2].partition("__mutmut")[0]
        start = next((i for i, line in enumerate(lines) if line.strip().startswith(f"def {function}(")), 0)
        number = next((i for i in range(start, len(lines)) if lines[i].strip() == self.change.old[0]), start)
        return f"{self.change.file}:{number + 1}"


@dataclass(frozen=True)
class Score:
    """The mutants of a folder that were run, the number of equivalents, and the entries that are stale.

    Attributes:
        folder: its name.
        mutants: all of the folder, or a sample; equivalents are left out.
        equivalents: how many were left out.
        stale: entries of the equivalents that fit no mutant.
        sampled: whether the mutants are a sample.
    """

    folder: str
    mutants: tuple[Mutant, ...]
    equivalents: int
    stale: tuple[str, ...]
    sampled: bool

    @property
    def unnoticed(self) -> list[Mutant]:
        """The mutants that no test noticed."""
        return [mutant for mutant in self.mutants if mutant.status in (*UNNOTICED, *UNFINISHED)]

    @property
    def share(self) -> float:
        """The share of mutants noticed; one that ran out of time or crashed was noticed."""
        return 1 - len(self.unnoticed) / len(self.mutants) if self.mutants else 1.0

    @property
    def too_low(self) -> bool:
        """Whether the share is below `LEAST`: of a sample, whether it proves that the folder's is."""
        missed, run = len(self.unnoticed), len(self.mutants)
        return at_least(missed, run, 1 - LEAST) < CHANCE if self.sampled else self.share < LEAST

    def __str__(self) -> str:
        counts = Counter(mutant.status for mutant in self.mutants)
        parts = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        return f"{self.folder}: {self.share:.1%} of {len(self.mutants)} ({parts}; {self.equivalents} equivalent)"


def at_least(missed: int, run: int, share: float) -> float:
    """Return the chance that so many or more of those run are missed where a share of all is."""
    return sum(math.comb(run, k) * share**k * (1 - share) ** (run - k) for k in range(missed, run + 1))


def equivalents(file: Path = EQUIVALENT) -> dict[Change, str]:
    """Read the mutations that change nothing, with the reason of each."""
    entries = tomllib.loads(file.read_text(encoding="utf-8")).get("mutant", [])
    return {
        Change(entry["file"], tuple(entry["old"].splitlines()), tuple(entry["new"].splitlines())): entry["reason"]
        for entry in entries
    }


def stale(known: Iterable[Change], mutated: Path, folder: Folder) -> Iterator[str]:
    """Name the entries of a folder that no mutant fits: the line has changed, or mutmut no longer changes it so."""
    for change in known:
        if not change.file.startswith(f"{folder.folder}/"):
            continue
        copy = mutated / in_workspace(change.file)
        lines = {line.strip() for line in copy.read_text(encoding="utf-8").splitlines()} if copy.is_file() else set()
        if not lines.issuperset((*change.old, *change.new)):
            yield f"{change.file}: {' '.join(change.old)} -> {' '.join(change.new)}"


def tested(folder: Folder, workspace: Path, sample: int | None, seed: int, fresh: bool, workers: int) -> Score:
    """Run a folder's mutants, all or a sample drawn by seed; those killed in an earlier run are not run again."""
    if fresh:
        shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir(parents=True, exist_ok=True)
    prepare(workspace, folder)
    known = equivalents()
    with contextlib.chdir(workspace):
        from tests.mutation import kept

        kept.generate()
        before = kept.statuses()
        names = drawn(before, sample, f"{seed} {folder.name}")
        diffs = {name: kept.diff(name, before[name][0]) for name in names}
        changes = {name: Change.of(in_tree(before[name][0]), diffs[name]) for name in names}
        wanted = [name for name in names if changes[name] not in known]
        pending = [name for name in wanted if before[name][1] in TRIED_AGAIN]
        finish(
            pending,
            lambda names: run(names, workspace, workers),
            lambda: [name for name in wanted if kept.statuses()[name][1] in UNFINISHED],
        )
        after = kept.statuses()
        outdated = tuple(stale(known, Path("mutants"), folder))
    if pending and all(after[name][1] == "uncollected" for name in pending):
        sys.exit(f"{folder.name}: of {len(pending)} mutants none let pytest collect its tests: the set-up is at fault")
    mutants = tuple(Mutant(name, after[name][1], changes[name], diffs[name]) for name in wanted)
    return Score(folder.name, mutants, len(names) - len(wanted), outdated, sampled=len(names) < len(before))


def finish(names: Sequence[str], run: Callable[[Sequence[str]], str | None], left: Callable[[], Sequence[str]]) -> None:
    """Run mutants; what a run leaves that ends early is run again, as long as each run tries some.

    So is what mutmut had results of and drops, since its settings have changed.

    Args:
        names: of the mutants.
        run: runs mutants, and returns why it ended early if it did.
        left: returns the names of all that have no result.
    """
    while names:
        failure, before = run(names), names
        names = left()
        if list(names) == list(before):
            sys.exit(failure or f"mutmut tries none of {len(names)} mutants")


def run(names: Sequence[str], workspace: Path, workers: int) -> str | None:
    """Let mutmut run mutants; what it writes is shown on a terminal, or else returned when it fails."""
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(workers), *names]
    shown = sys.stdout.isatty()
    log = workspace / "mutmut.log"
    with log.open("w", encoding="utf-8") as file:
        ended = subprocess.run(
            command,
            env=environment(workspace),
            stdout=None if shown else file,
            stderr=subprocess.STDOUT,
            check=False,
            preexec_fn=_limited,
        )
    if not ended.returncode:
        return None
    text = "" if shown else log.read_text(encoding="utf-8")[-4000:]
    return f"{text}\nmutmut ended with status {ended.returncode}: the tests must pass before anything is mutated"


def _limited() -> None:
    """Bound the memory of this process and those it starts: a mutant may allocate without end.

    Without a bound the system ends some process when memory is used up, which need not be the one that uses it.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def drawn(names: Iterable[str], sample: int | None, seed: str) -> list[str]:
    """Draw names, the same for the same seed; all when there are no more."""
    ordered = sorted(names)
    if sample is None or sample >= len(ordered):
        return ordered
    return sorted(random.Random(seed).sample(ordered, sample))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 when a folder's score is too low or an entry of the equivalents is stale."""
    table = folders()
    parser = argparse.ArgumentParser(prog="nox -s mutants --", description=__doc__)
    parser.add_argument("folder", nargs="*", help=f"of {', '.join(table)}; all without one")
    parser.add_argument("--sample", type=int, metavar="N", help="run N mutants of each folder, drawn by seed")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the sample (0)")
    parser.add_argument("--fresh", action="store_true", help="forget the results of earlier runs")
    parser.add_argument("--workers", type=int, default=2, metavar="W", help="processes at a time (2)")
    parser.add_argument("--workspace", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if unknown := set(options.folder) - set(table):
        parser.error(f"{' '.join(sorted(unknown))}: must be of {', '.join(table)}")

    workspace = options.workspace.resolve()
    scores = [
        tested(table[name], workspace / name, options.sample, options.seed, options.fresh, options.workers)
        for name in options.folder or table
    ]
    for score in scores:
        for mutant in score.unnoticed:
            print(f"\n{mutant.place}: {mutant.status} ({mutant.name})\n{mutant.diff}")
        for entry in score.stale:
            print(f"\nfits no mutant any more, delete it from {EQUIVALENT.name}: {entry}")
    print("\n" + "\n".join(map(str, scores)))
    return int(any(score.too_low or score.stale for score in scores))


if __name__ == "__main__":
    sys.exit(main())
