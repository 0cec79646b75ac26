"""No module imports itself through others; import-linter holds the layers, which see no cycle inside of one."""

from pathlib import Path

import pytest

from tests.imports import cycle, import_graph

ROOT = Path(__file__).parents[1]
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
