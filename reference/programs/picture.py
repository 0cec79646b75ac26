"""A picture of a program: operators by role, and what they read and write. Needs the extra ``picture``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optimetry.reference.errors import UsageError

if TYPE_CHECKING:
    from optimetry.reference.programs.program import Program, Variable

COLORS = {"forward": "#cfe2f3", "backward": "#fce5cd", "optimize": "#d9ead3"}
"""The colors of operators, by role."""


def graph(program: Program) -> Any:
    """A program as a `graphviz.Digraph`: parameters are doubly framed, other persistable variables dashed.

    Raises:
        UsageError: the package graphviz is not installed.
    """
    try:
        import graphviz
    except ModuleNotFoundError:
        raise UsageError("a picture needs the package graphviz: pip install -e 'path/to/optimetry[picture]'") from None
    picture = graphviz.Digraph("program", node_attr={"fontname": "sans-serif", "fontsize": "10"})
    used = {v.name for operator in program.operators for v in (*operator.inputs, *operator.outputs)}
    for variable in program.variables.values():
        if variable.name in used:
            picture.node(f"v {variable.name}", _label(variable), **_look(variable))
    for i, operator in enumerate(program.operators):
        picture.node(f"o {i}", operator.name, shape="box", style="filled", fillcolor=COLORS[operator.role])
        for variable in operator.inputs:
            picture.edge(f"v {variable.name}", f"o {i}")
        for variable in operator.outputs:
            picture.edge(f"o {i}", f"v {variable.name}")
    return picture


def svg(program: Program) -> str:
    """The picture as SVG.

    Raises:
        UsageError: the package graphviz, or the program ``dot`` of Graphviz, is not installed.
    """
    picture = graph(program)
    from graphviz import ExecutableNotFound

    try:
        return str(picture.pipe(format="svg", encoding="utf-8"))
    except ExecutableNotFound:
        raise UsageError("a picture needs Graphviz, whose program `dot` was not found: https://graphviz.org") from None


def _label(variable: Variable) -> str:
    shape = ", ".join("?" if length is None else str(length) for length in variable.shape)
    return f"{variable.name}\\n({shape}) {variable.dtype}"


def _look(variable: Variable) -> dict[str, str]:
    if hasattr(variable, "trainable"):
        return {"shape": "ellipse", "peripheries": "2"}
    return {"shape": "ellipse", "style": "dashed"} if variable.persistable else {"shape": "ellipse"}
