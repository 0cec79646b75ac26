"""What the documents point to exists: links, paths, modules, and the commands that a reader may type."""

import argparse
import ast
import re
from importlib import import_module, util
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from optimetry.conformance.commands.cli import parser

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOP = {path.name for path in ROOT.iterdir()}

CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]*)*)(?:::\w+)?`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MODULE = re.compile(r"\boptimetry(?:\.\w+)+")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def links(text: str) -> list[str]:
    """The links of a page to files; code may hold what only looks like one."""
    targets = LINK.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
    return [link.split("#")[0] for link in targets if "://" not in link and not link.startswith("#")]


def paths(text: str) -> list[str]:
    """Whatever stands in backticks and begins with a name at the top of the tree, but for what runs write to `results`.

    Upper case stands for any name.
    """
    names = [path for path in PATH.findall(text) if path.split("/")[0] in TOP - {"results"}]
    return [re.sub(r"\b[A-Z]{2,}\b(?!\.md)", "*", path) for path in names]


def exists(path: str) -> bool:
    """Whether some file or folder matches."""
    return any(ROOT.glob(path.rstrip("/")))


def importable(name: str) -> bool:
    """Whether a dotted name is a module, or what stands in one."""
    module, _, attribute = name.rpartition(".")
    try:
        if util.find_spec(name) is not None:
            return True
    except ModuleNotFoundError:  # the parent is no package
        pass
    return util.find_spec(module) is not None and hasattr(import_module(module), attribute)


def sessions() -> set[str]:
    """The sessions of noxfile.py."""
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name for node in functions if any(ast.unparse(x) == "nox.session" for x in node.decorator_list)}


def wrong_commands(text: str) -> list[str]:
    """Commands in code that name a session, a module, a command or an option that there is not."""
    subparsers = next(x for x in parser()._actions if isinstance(x, argparse._SubParsersAction))
    wrong = []
    for line in "\n".join(CODE.findall(text)).splitlines():
        words = re.sub(r"\s#.*", "", line.strip("`[")).split()
        for i, (program, option) in enumerate(pairwise(words)):
            following = (
                list(takewhile(lambda word: word != "--", words[i + 2 :])) if program == "optimetry" else words[i + 2 :]
            )
            if (Path(program).name, option) == ("nox", "-s"):
                named = takewhile(lambda word: word != "--", following)
                wrong += [line for session in named if session.strip("`") not in sessions()]
            elif (Path(program).name, option) == ("python", "-m"):
                ours = [word.strip("`") for word in following[:1] if word.startswith(("optimetry", "tests"))]
                wrong += [line for module in ours if not importable(module)]
            elif program == "optimetry" and i == 0:
                command = subparsers.choices.get(option.strip("`"))
                known = command._option_string_actions if command else {}
                used = [word for word in following if word.startswith("-")]
                wrong += [line] * (command is None or any(word.split("=")[0] not in known for word in used))
    return wrong


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()] == []


@each_page
def test_paths_exist(page: Path) -> None:
    assert [path for path in paths(page.read_text(encoding="utf-8")) if not exists(path)] == []


@each_page
def test_modules_can_be_imported(page: Path) -> None:
    modules = set(MODULE.findall("\n".join(CODE.findall(page.read_text(encoding="utf-8")))))
    assert [name for name in sorted(modules) if not importable(name)] == []


@each_page
def test_commands_are_real(page: Path) -> None:
    assert wrong_commands(page.read_text(encoding="utf-8")) == []


def test_every_decision_has_a_number_of_its_own() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    numbers = [int(record.name[:4]) for record in records]
    assert numbers == list(range(1, len(records) + 1))
    for number, record in zip(numbers, records, strict=True):
        assert record.read_text(encoding="utf-8").startswith(f"# {number}. "), record.name


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[x](docs) [y](https://z.org/a) [z](#here)", ["docs"]),
        ("```\n[1](x)\n```", []),
    ],
)
def test_links_are_found(text: str, targets: list[str]) -> None:
    assert links(text) == targets


def test_what_is_missing_is_noticed() -> None:
    assert paths("`reference/rules/NAME.py` `torch/optim/adam.py` `conformance/oracle.py`") == [
        "reference/rules/*.py",
        "conformance/oracle.py",
    ]
    assert exists("reference/rules/*.py")
    assert not exists("conformance/oracle.py")
    assert importable("optimetry.conformance.numerics.bounded.Bounded")
    assert not importable("optimetry.conformance.bounded")
    assert wrong_commands("`optimetry chek x` and `nox -s tests lint -- -k x`") == ["`optimetry chek x`"]
    assert wrong_commands("`python -m optimetry.nothing`") == ["`python -m optimetry.nothing`"]
    assert wrong_commands("```sh\noptimetry check x --efort quick\n```") == ["optimetry check x --efort quick"]
