"""No module imports itself through others, which layers of import-linter do not see inside of one; none is long."""

from pathlib import Path

import pytest

from tests.imports import cycle, import_graph

ROOT = Path(__file__).parents[1]
SINGLE_FILE = ROOT / "conformance" / "harness" / "python_harness.py"
"""Runs under any Python with NumPy and nothing else, so that it cannot be two files."""
LONGEST = 320
# In reference a variable names its program and a program holds variables, so that types know each other.
WITHOUT_CYCLES = ("accelerated", "conformance", "reference", "reports")


@pytest.mark.parametrize("folder", WITHOUT_CYCLES)
def test_no_import_cycle(folder: str) -> None:
    graph = import_graph(f"optimetry.{folder}", ROOT / folder, with_types=folder != "reference")
    assert sum(map(len, graph.values())) > 1  # imports are seen at all
    assert cycle(graph) == []


@pytest.mark.parametrize(
    "back",
    [
        "import toy.first",
        "from toy import first",
        "from toy.first import name",
        "def lazy():\n    from toy.first import name",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toy.first import name",
    ],
)
def test_a_cycle_is_found(back: str, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name, text in (("__init__", ""), ("first", "from toy.inner import second"), ("inner/second", back)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    assert {*cycle(import_graph("toy", tmp_path))} == {"toy.first", "toy.inner.second"}
    (tmp_path / "inner" / "second.py").write_text("", encoding="utf-8")
    assert cycle(import_graph("toy", tmp_path)) == []


@pytest.mark.parametrize("folder", [*WITHOUT_CYCLES, "tests", "docs", "examples"])
def test_a_module_is_read_in_one_sitting(folder: str) -> None:
    files = [*(ROOT / folder).rglob("*.py"), ROOT / "noxfile.py"]
    lines = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in files if file != SINGLE_FILE}
    assert {str(file.relative_to(ROOT)): count for file, count in lines.items() if count >= LONGEST} == {}
