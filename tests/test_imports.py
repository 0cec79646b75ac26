"""No module imports itself through others; import-linter holds the layers, which see no cycle inside of one."""

from pathlib import Path

import pytest

from optimetry.conformance.targets.table import FRAMEWORKS
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


BESIDE = ("offers", "jax_caches")
"""What the folders of frameworks share, and another interpreter can import as well."""


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Return what is imported when modules run."""
    return import_graph("optimetry.conformance", ROOT / "conformance", with_types=False)


@pytest.mark.parametrize("name", [name for name, row in FRAMEWORKS.items() if row.apart] + ["keras"])
def test_a_target_is_lent_to_an_interpreter_without_optimetry(name: str, graph: dict[str, set[str]]) -> None:
    """It imports its framework's folder, and no module that needs more than NumPy and the framework."""
    targets = "optimetry.conformance.targets"
    reached, left = set[str](), {f"{targets}.{name}.target", f"{targets}.{name}.process"} & {*graph}
    while left:
        reached |= left
        left = set().union(*(graph[module] for module in left)) - reached
    of_releases = (f"{targets}.{name}.", f"{targets}.{name.rstrip('0123456789')}.")
    assert len(reached) > 2
    others = reached - {f"{targets}.{each}" for each in BESIDE}
    assert [module for module in sorted(others) if not module.startswith(of_releases)] == []
