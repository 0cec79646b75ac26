"""The import graph of a package, read from its source: imports inside functions and for types alone included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def import_graph(package: str, folder: Path, *, with_types: bool = True) -> dict[str, set[str]]:
    """Return for each module of a package those of its modules that it imports.

    Imports of names in the text alone, as ``import_module`` takes, are not seen.

    Args:
        package: its dotted name.
        folder: where it lies.
        with_types: whether imports under ``if TYPE_CHECKING`` count.
    """
    files = {
        ".".join((package, *file.relative_to(folder).with_suffix("").parts)): file for file in folder.rglob("*.py")
    }
    modules = {name.removesuffix(".__init__"): file for name, file in files.items()}
    return {name: set(_imported(file, modules, with_types)) - {name} for name, file in modules.items()}


def _imported(file: Path, modules: Mapping[str, Path], with_types: bool) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not with_types:
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in names if {name, node.module} & {*modules})


def cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of one import cycle, the first of them again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        modules: list[str] = error.args[1]
        return modules
    return []
