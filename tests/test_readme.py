"""What README.md shows is so: its figures are those of the pages that measure them, and its example runs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reports.results import read
from optimetry.reports.tables import number

ROOT = Path(__file__).parents[1]


def text(name: str) -> str:
    """A page on one line."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


README = text("README.md")


def found(pattern: str, page: str) -> tuple[str, ...]:
    match = re.search(pattern, text(page))
    assert match, f"{page} has no {pattern}"
    return match.groups()


def test_the_sensitivity_is_the_measured_one() -> None:
    faults, styles, equivalents = found(
        r"(\d+) faulty targets.* on (\d+) styles .* make (\d+) equivalents", "docs/sensitivity.md"
    )
    assert f"on {faults} faulty optimizers" in README
    assert f"on {equivalents} honest re-implementations" in README
    assert f"honest equivalents in {styles} styles" in README
    (passing,) = found(r"lets (\d+) of them pass", "docs/sensitivity.md")
    assert f"lets {passing} of the {faults} pass" in README


def test_who_convicts_is_counted() -> None:
    convicted = dict(re.findall(r"\| (\w+) \| (\d+) \|", text("docs/sensitivity.md").split("## Faults")[0]))
    laws = sum(int(count) for name, count in convicted.items() if name not in ("oracle", "protocol"))
    for what, count in (
        ("by a law", laws),
        ("by the oracle", convicted["oracle"]),
        ("protocol", convicted["protocol"]),
    ):
        assert re.search(rf"\| faults [^|]*{what}[^|]*\| {count} \|", README), what


def test_the_confusion_is_the_measured_one() -> None:
    members, exact = found(r"Of (\d+) targets that compute a member of a family, (\d+) are", "docs/confusion.md")
    everything, wrong = found(r"Of all (\d+) targets, (\d+) are named wrongly", "docs/confusion.md")
    assert f"Of {members} targets that compute a member of a known family, {exact} are named exactly" in README
    assert (f"of all {everything} tried none is named wrongly" in README) == (wrong == "0")


ROW = re.compile(
    r"^(\w+) +(float\d+) +(\S.*?) +(conforms|dialect|error) +(\S+) +(\S+) +(\S+) +0 % +(\d+)", re.MULTILINE
)


def test_the_output_shown_is_what_was_measured() -> None:
    version = FRAMEWORKS["torch"].version
    assert f"torch {version}. Judged by optimetry" in README
    verdicts = read(ROOT / "reports" / "published" / f"torch-{version}" / "results.jsonl").verdicts
    shown = ROW.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(shown) >= 5
    for optimizer, dtype, engine, *rest in shown:
        rows = [
            [v.verdict, v.dialect or "\N{EN DASH}", number(v.share), number(v.ulp), str(v.cases)]
            for v in verdicts
            if (v.optimizer, v.dtype) == (optimizer, dtype) and (v.engine in engine or engine == "all")
        ]
        assert rows
        assert all(row == rest for row in rows), (optimizer, rows)


BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_target_of_ten_lines_conforms_by_the_command_shown(tmp_path: Path) -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Judge your own framework")[1].split("\n## ")[0]
    blocks = BLOCK.findall(section)
    (tmp_path / "adapter.py").write_text(next(code for kind, code in blocks if kind == "python"), encoding="utf-8")
    program, *arguments = shlex.split(next(code for kind, code in blocks if kind == "sh"))
    assert program == "optimetry"
    command = [Path(sys.executable).with_name(program), *arguments]
    run = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 verdicts: 2 conforms" in run.stdout
