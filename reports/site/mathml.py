"""Renders LaTeX as MathML, which browsers show without a script; what a stranger writes there stays harmless."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
KEPT = ("display", "stretchy", "fence", "form", "mathvariant", "accent", "movablelimits", "width", "columnalign")
"""Attributes that say how a formula looks. Others, such as ``href``, are left out."""

LONGEST = 2000
"""Characters of LaTeX that are rendered; a longer text is none of our documents'."""


def mathml(latex: str, display: str = "block") -> str | None:
    """Return a formula as MathML, or None where it cannot be rendered."""
    from latex2mathml.converter import convert

    if len(latex) > LONGEST:
        return None
    try:
        tree = ET.fromstring(convert(latex, display=display))
    except Exception:  # what it raises for text that is no LaTeX is not documented
        return None
    return ET.tostring(_harmless(tree), encoding="unicode")


def block(latex: str) -> str | None:
    r"""Return a formula on lines of its own, or None where it cannot be rendered.

    Formulas that ``\qquad`` separates are rendered apart, so that a narrow page can break the line between them.
    """
    parts = [part for part in latex.split(r"\qquad") if part.strip()]
    if any(part.count("{") != part.count("}") or part.count(r"\begin") != part.count(r"\end") for part in parts):
        parts = [latex]  # it stands inside braces or an environment
    made = [mathml(part) for part in parts]
    whole = [part for part in made if part is not None]
    return "\n".join(whole) if whole and len(whole) == len(made) else None


def _harmless(element: Any) -> Any:
    """Leave out attributes that are not in `KEPT`, and the prefix of MathML's namespace from tags."""
    element.tag = element.tag.removeprefix(NAMESPACE)
    attributes = {name: value for name, value in element.attrib.items() if name in KEPT}
    element.attrib.clear()
    element.attrib.update(attributes)
    element.text = element.text and element.text.replace("\\_", "_")  # which latex2mathml keeps inside words
    for child in element:
        _harmless(child)
    return element
