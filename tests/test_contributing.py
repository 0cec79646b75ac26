"""The commands of CONTRIBUTING.md do what it says: those of seconds are run here, the others by `.ci/run`."""

import re
import shlex
from pathlib import Path

import pytest

from tests.readme_figures import README
from tests.tree import ROOT, Tree

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

COMMANDS = [re.sub(r"\s+#.*", "", line) for block in SHELL.findall(TEXT) for line in block.splitlines()]
NOX = [command for command in COMMANDS if ".venv/bin" in command]
PAGES = [command for command in COMMANDS if command.startswith("python -m optimetry.conformance.selftest")]
HERE = [command for command in COMMANDS if command not in (*NOX, *PAGES)]

SMALLEST = "asgd"
"""The family that stands for any: it has the fewest points."""

ONLY_SGD = """
    dtypes = ("float32",)

    def unsupported(self, optimizer, hyper, dtype):
        return None if optimizer == "sgd" else "not written yet"
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A copy in which the target of README.md stands where CONTRIBUTING.md has one."""
    readme = README.read_text(encoding="utf-8")
    target = next(code for code in re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL))
    adapter = {"mypackage/__init__.py": "", "mypackage/adapter.py": target + ONLY_SGD}
    copy = Tree(tmp_path_factory.mktemp("contributing") / "tree", {"README.md": readme, **adapter})
    (copy.root / "reports" / "published").symlink_to(ROOT / "reports" / "published")
    return copy


def run(tree: Tree, command: str) -> str:
    """Run a command, which must succeed; what it printed."""
    status, out = tree.run(*shlex.split(command))
    assert status == 0, out
    return out


def kept(tree: Tree, *files: str) -> bool:
    """Whether files of the copy are as they are here."""
    return all((tree.root / file).read_bytes() == (ROOT / file).read_bytes() for file in files)


def test_there_are_commands_of_every_kind() -> None:
    assert all(len(kind) >= 2 for kind in (NOX, PAGES, HERE))


@pytest.mark.parametrize("command", NOX)
def test_what_makes_an_environment_is_what_a_submission_runs(command: str) -> None:
    """Every session; which frameworks, or which tests, is a choice."""
    assert command.split(" -- ", maxsplit=1)[0] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", PAGES)
def test_a_page_that_takes_minutes_says_where_it_is_written(tree: Tree, command: str) -> None:
    module = (ROOT / "conformance" / "selftest" / f"{command.rpartition('.')[2]}.py").read_text(encoding="utf-8")
    (page,) = re.findall(r'^PAGE = Path\("docs"\) / "([\w-]+\.md)"$', module, re.MULTILINE)
    assert Path("docs", page).as_posix() in run(tree, f"{command} --help")


@pytest.mark.parametrize("command", HERE)
def test_a_command_of_seconds_succeeds(tree: Tree, command: str) -> None:
    """What it writes anew is what is kept, as everything is up to date."""
    out = run(tree, command.replace("RULE", SMALLEST))
    if command.startswith("optimetry check"):
        assert "mine 1.0" in out
        assert "1 conforms" in out
    assert kept(tree, "README.md", "conformance/naming/known/classes.json", "conformance/naming/known/probes.json")
