"""A framework is a folder, a row and a ledger: one dropped into a copy of the tree is listed, judged and timed."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from optimetry.conformance.targets.table import FRAMEWORKS
from tests.lists import lists_of
from tests.tree import PYPROJECT, ROOT, Tree

TABLE = Path("conformance", "targets", "table.py")

ROW = f'    Framework("toy", "numpy", "{np.__version__}", "numpy", ("float32",)),\n'
FILES = {
    "__init__.py": '"""A toy framework as a target."""\n',
    "target.py": '''"""A toy framework as a target."""

from optimetry.conformance.targets.offers import TableTarget
from optimetry.conformance.targets.toy.table import OFFERS


class ToyTarget(TableTarget):
    name, version, offers = "toy", "1.0", OFFERS


target = ToyTarget()
''',
    "table.py": '''"""What the toy computes: plain SGD, and nothing else where momentum is asked for."""

from optimetry.conformance.targets.offers import Offer


class Descent(Offer):
    slots = ()

    def refusal(self, subject, hyper, dtype, engine):
        return None if dtype == "float32" else f"toy has no {dtype}"

    def start(self, subject, hyper, parameters, engine):
        return Run(parameters)


class Run:
    def __init__(self, parameters):
        self.parameters = [parameter.copy() for parameter in parameters]

    def step(self, grads, learning_rate):
        for parameter, grad in zip(self.parameters, grads):
            if grad is not None:
                parameter -= parameter.dtype.type(learning_rate) * grad
        return [parameter.copy() for parameter in self.parameters]


OFFERS = {"sgd": Descent(), "momentum": Descent()}
''',
    "peer.py": '''"""Steps of the toy."""


def steps(offer, rule, hyper, parameters, grads, lr):
    run = offer.start(rule, hyper, parameters, "default")
    yield "", lambda: run.step(grads, lr)
''',
}
NAMES = {"toy", *FRAMEWORKS}
LEDGER = "momentum * diverges the toy forgets its velocity\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree in which the toy lies."""
    text = (ROOT / TABLE).read_text(encoding="utf-8")
    files = {f"conformance/targets/toy/{name}": content for name, content in FILES.items()}
    files |= {str(TABLE): text.replace("    Framework(", f"{ROW}    Framework(", 1), "reports/expected/toy.txt": LEDGER}
    return Tree(tmp_path_factory.mktemp("toys") / "tree", files)


@pytest.fixture
def run(tree):
    """Run a program of this environment on the tree; its exit status and what it printed."""
    return tree.run


def test_the_copy_is_what_is_imported(tree, run):
    status, out = run("python", "-c", "import optimetry.conformance as package; print(package.__file__)")
    assert (status, Path(out.strip()).resolve()) == (0, tree.root / "conformance" / "__init__.py")


def test_the_toy_is_listed_with_its_version(run):
    status, out = run("optimetry", "targets")
    assert status == 0
    (row,) = [line.split() for line in out.splitlines() if line.startswith("toy ")]
    assert row == ["toy", np.__version__, "A", "toy", "framework", "as", "a", "target"]


@pytest.mark.slow
def test_the_toy_is_judged_and_held_to_its_ledger(run):
    """In float64 it is not offered, which fails nothing."""
    check = ("check", "toy", "--optimizer", "sgd", "--optimizer", "momentum", "--effort", "quick")
    for status, ledger in ((1, ()), (0, ("--expect", "reports/expected/toy.txt"))):
        ended, out = run("optimetry", *check, *ledger)
        assert ended == status, out
        assert "4 verdicts: 1 conforms, 1 diverges, 2 unsupported" in out


@pytest.mark.slow
def test_the_toy_is_tested_as_every_framework(tree):
    assert " passed" in tree.pytest(
        "-k", "toy", "tests/conformance/targets/test_targets.py", "tests/conformance/targets/test_peers.py"
    )


def test_the_toy_is_installed_and_published_by_sessions(tree):
    """What noxfile.py reads, without optimetry."""
    frameworks = runpy.run_path(str(tree.root / TABLE))["FRAMEWORKS"]
    assert list(frameworks) == ["toy", *FRAMEWORKS]
    assert frameworks["toy"].dtypes == ("float32",)


def test_pyproject_knows_every_framework():
    """It cannot read the table: extras install, contracts keep frameworks in their folders, mypy passes over them."""
    extras = PYPROJECT["project"]["optional-dependencies"]
    contracts = {contract["name"]: contract for contract in PYPROJECT["tool"]["importlinter"]["contracts"]}
    apart = contracts["frameworks are reached through their target alone"]["forbidden_modules"]
    skipped = {module for override in PYPROJECT["tool"]["mypy"]["overrides"] for module in override["module"]}
    for name, row in FRAMEWORKS.items():
        assert (name in extras) == row.extra
        assert not row.extra or extras[name][0].startswith(f"{row.distribution}>=")
        if row.module:
            package = row.module.partition(".")[0]
            assert package in apart
            assert f"{package}.*" in skipped


def test_sessions_pin_each_distribution_once():
    pinned = {(row.distribution, row.version) for row in FRAMEWORKS.values() if row.extra}
    assert len(pinned) == len({distribution for distribution, _ in pinned})


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("NAMES = ['torch', 'keras']", [1]),
        ("\nPINS = {'torch': 1, 'paddle': 2}", [2]),
        ("parametrize('name', [('optax', 1), ('keras', 2)])", [1]),
        ("ENGINES = ('torch', 'jax', 'numpy')", []),
        ("'torch, keras'", []),
    ],
)
def test_a_list_of_frameworks_is_recognized(source, lines):
    assert list(lists_of(source, NAMES, 2)) == lines


def test_frameworks_are_listed_in_their_table_alone():
    backends = ROOT / "conformance" / "targets" / "keras" / "target.py"  # two of which are frameworks, too
    skipped = {ROOT / TABLE, Path(__file__), backends}
    folders = ("reference", "accelerated", "conformance", "reports", "tests")
    files = {ROOT / "noxfile.py", *(file for folder in folders for file in (ROOT / folder).rglob("*.py"))}
    names = NAMES - {"fluid"}  # a book's, too
    lists = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in sorted(files - skipped)
        if ROOT / "reports" / "published" not in file.parents
        for line in lists_of(file.read_text(encoding="utf-8"), names, 2)
    ]
    assert lists == []
