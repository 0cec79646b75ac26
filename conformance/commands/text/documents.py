"""Writes down what the document of a rule or wrapper says."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

from optimetry.conformance.judging.counterexamples.source import formula
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.rule import Rule
from optimetry.reports.document import Document


def document_of(subject: Subject) -> Document:
    """Return what is documented of a subject, from its declaration and its docstring."""
    text = inspect.getdoc(subject.declaration) or ""
    return Document(
        book=subject.book,
        optimizer=subject.name,
        source=source_of(subject),
        summary=" ".join(text.split("\n\n")[0].split()),
        formulas=[" ".join(formula.split()) for formula in subject.declaration.formulas()],
        statements=formula_text(subject),
        notes=notes(subject, "Symbols:", "Decision:", "Departure:"),
    )


def source_of(subject: Subject) -> str:
    """Return the document, and whose page it is on: pages have numbers in docstrings, which ``docs/fluid.md`` lists."""
    return re.sub(r"^((?:fluid|paddle)\..* \(pages? [^)]+)\)", r"\1 of PaddlePaddle's documentation)", subject.document)


def notes(subject: Subject, *beginnings: str) -> list[str]:
    """Return the paragraphs of a docstring that begin so, each on one line."""
    paragraphs = re.split(r"\n(?=[A-Z]\w+:)|\n\n", inspect.getdoc(subject.declaration) or "")
    return [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.startswith(beginnings)]


def starts_otherwise(subject: RuleSubject) -> bool:
    """Whether a rule's slots do not begin as zeros in the shape of the parameter."""
    return subject.declaration.initial_state is not Rule.initial_state


def formula_text(subject: Subject) -> str:
    """Write the documented formula as the statements of its declaration, with the names of the document."""
    methods = ["feed"]
    if isinstance(subject, RuleSubject):
        methods = ["initial_state", "update"] if starts_otherwise(subject) else ["update"]
    tree = ast.parse(formula(subject.declaration, *methods))
    bare = _Bare({parameter.name for parameter in subject.hyperparameters()})
    parts: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Documented":
            parts += [ast.unparse(bare.visit(method)) for method in _methods(node)]
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            parts.append(ast.unparse(bare.visit(node)))
    return "\n\n".join(parts)


def _methods(documented: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yield the methods of the formula without ``self``; its constructor says nothing."""
    for node in documented.body:
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            node.args.args = node.args.args[1:]
            yield node


class _Bare(ast.NodeTransformer):
    """Writes ``np.sqrt`` as ``sqrt``, and the hyperparameter ``self.beta1`` as ``beta1``."""

    def __init__(self, hyperparameters: set[str]) -> None:
        self.hyperparameters = hyperparameters

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        return ast.Name(node.attr) if owner == "np" or (owner == "self" and node.attr in self.hyperparameters) else node
