"""Extracts the source text of a documented formula from the reference, with all that it needs but NumPy.

A counterexample must run without optimetry, and quote the document's formula without a second copy of it. So it takes
the text of the declaration's methods, and of every function, class and constant of optimetry that they use.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from optimetry.reference.declaration import Declared
from optimetry.reference.rule import State

PACKAGE = "optimetry."

STOPS = (Declared, object)
"""Bases whose methods are left out."""

LEFT_OUT = ("name", "slots")
"""Attributes that the constructor sets beside hyperparameters, or that no formula needs."""

STATE = "from types import SimpleNamespace as State"
"""The script's class for the slots of a rule."""


def formula(kind: type[Declared], *methods: str) -> str:
    """Return a class ``Documented`` with these methods of a declaration, and what it needs before it.

    Its constructor takes hyperparameters by keyword, as any kind of number.
    """
    needed = _Needed()
    body = [needed.method(kind, name) for name in methods]
    while needed.methods:
        name = needed.methods.pop(0)
        if name not in needed.written:
            body.append(needed.method(kind, name))
    constructor = "def __init__(self, **hyper):\n    vars(self).update(hyper)"
    inside = "\n\n".join(textwrap.indent(text, "    ") for text in [constructor, *(x for x in body if x)])
    return "\n\n\n".join([*needed.texts(), f"class Documented:\n{inside}"])


@dataclass
class _Needed:
    """Collects what a formula needs, each part once."""

    imports: dict[str, None] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    methods: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)

    def texts(self) -> list[str]:
        """Return imports, then constants, functions and classes, each after what it needs."""
        return [*(["\n".join(self.imports)] if self.imports else []), *self.definitions.values()]

    def method(self, kind: type[Any], name: str) -> str:
        """Return the text of a method, a property or a constant of a class, and note the other methods that it uses."""
        self.written.add(name)
        if name in LEFT_OUT or name in {parameter.name for parameter in dataclasses.fields(kind)}:
            return ""
        member = inspect.getattr_static(kind, name)
        if isinstance(member, property):
            return "@property\n" + self._function(member.fget, kind)
        if inspect.isfunction(member):
            return self._function(member, kind)
        return f"{name} = {member!r}" if isinstance(member, float) else ""

    def _function(self, function: Any, kind: type[Any] | None = None) -> str:
        for name in _names(function.__code__):
            if kind is not None and name not in self.written and _belongs(kind, name):
                self.methods.append(name)
            elif name in function.__globals__:
                self._global(name, function.__globals__[name])
        return _plain(function)

    def _global(self, name: str, value: Any) -> None:
        if name in self.definitions or name == "np":
            return
        value = getattr(value, "__wrapped__", value)  # the function that singledispatch calls for plain arrays
        if value is State:
            self.imports[STATE] = None
        elif inspect.ismodule(value):
            self.imports[f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")] = None
        elif inspect.isclass(value) and value.__module__.startswith(PACKAGE):
            self._class(name, value)
        elif inspect.isclass(value) and name != value.__module__:
            self.imports[f"from {value.__module__} import {value.__name__}"] = None
        elif inspect.isfunction(value) and value.__module__.startswith(PACKAGE):
            self.definitions[name] = ""  # reserves a place before what needs it
            text = self._function(value)
            del self.definitions[name]
            self.definitions[name] = text
        elif isinstance(value, int | float | str | tuple):
            self.definitions[name] = f"{name} = {value!r}"

    def _class(self, name: str, kind: type[Any]) -> None:
        self.definitions[name] = ""
        for member in vars(kind).values():
            function = member.fget if isinstance(member, property) else member
            if inspect.isfunction(function) and function.__code__.co_filename == inspect.getfile(kind):
                self._function(function)
        del self.definitions[name]
        self.definitions[name] = _plain(kind)
        for word, line in (("NamedTuple", "from typing import Any, NamedTuple"), ("dataclass", DATACLASS)):
            if word in self.definitions[name]:
                self.imports[line] = None


DATACLASS = "from dataclasses import dataclass"


def _belongs(kind: type[Any], name: str) -> bool:
    return any(name in vars(base) for base in kind.__mro__ if base not in STOPS and base.__module__.startswith(PACKAGE))


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a function looks up, those of its comprehensions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _plain(definition: Callable[..., Any] | type[Any]) -> str:
    """Return the text of a function or class without annotations and docstrings; dataclasses stay dataclasses."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(definition)))
    return ast.unparse(_Plainer().visit(tree))


class _Plainer(ast.NodeTransformer):
    """Strips annotations, decorators and docstrings, which a reader of a counterexample does not need."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns, node.decorator_list = None, []
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        node.body = _without_docstring(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        node.body = _without_docstring(node.body)
        for part in node.body:
            if isinstance(part, ast.AnnAssign):  # a dataclass needs an annotation, of any kind
                part.annotation = ast.Name("object")
        return node


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] or [ast.Pass()] if is_docstring else body
