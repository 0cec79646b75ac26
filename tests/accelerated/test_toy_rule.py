"""A rule and its kernel are all that an optimizer needs here: it is stepped, tested and timed with no other edit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

RULE = """
from dataclasses import dataclass
from optimetry.reference.rule import Rule, State, documented, flag, hyper

@documented
@dataclass(frozen=True, kw_only=True)
class Toy(Rule):
    keep: float = hyper(None, "[0, 1)", "share of the memory that is kept", corners=(0.5, 0.0))
    ahead: bool = flag(False, "whether to look ahead")
    name = "toy"
    slots = ("memory",)

    def update(self, param, grad, state, lr, t):
        memory = self.keep * state.memory + grad
        return param - lr * (grad + self.keep * memory if self.ahead else memory), State(memory=memory)
"""

KERNEL = """
from optimetry.accelerated.kernels.kernel import elementwise

def toy(w, g, m, lr, keep):
    m = keep * m + g
    return w - lr * m, m

def toy_ahead(w, g, m, lr, keep):
    m = keep * m + g
    return w - lr * (g + keep * m), m

CUDA = "m = keep * m + g; w = w - lr * m;"
AHEAD_CUDA = "m = keep * m + g; w = w - lr * (g + keep * m);"

def kernel(rule):
    function, cuda = (toy_ahead, AHEAD_CUDA) if rule.ahead else (toy, CUDA)
    return elementwise(function, ("memory",), lambda lr, t: (lr, rule.keep), cuda, by_rows=True)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what these tests need, with a toy rule and its kernel."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in ("accelerated", "conformance", "reference", "reports", "tests/accelerated"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__", "published"))
    (tree / "reference" / "rules" / "toy.py").write_text(RULE, encoding="utf-8")
    (tree / "accelerated" / "kernels" / "toy.py").write_text(KERNEL, encoding="utf-8")
    (tree / "import" / "optimetry").mkdir(parents=True)
    for folder in ("accelerated", "conformance", "reference", "reports"):
        (tree / "import" / "optimetry" / folder).symlink_to(tree / folder)
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def pytest_in(tree: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "import"), "NUMBA_CACHE_DIR": str(tree / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_toy_rule_is_tested_and_timed_everywhere(tree: Path) -> None:
    """What runs for momentum, a rule of the same kind, runs for the toy rule; planted faults are of one body each."""
    options = ("--collect-only", "-o", "python_files=test_*.py bench_*.py")
    collected = pytest_in(tree, *options, "tests/accelerated", "accelerated/benchmarks/bench_rules.py")
    of_momentum, of_toy = (
        {name for name in re.findall(rf"::(\w+)\[(?:.*-)?{rule}(?![a-z_])", collected) if "planted" not in name}
        for rule in ("momentum", "toy")
    )
    assert len(of_toy) > 15
    assert of_momentum <= of_toy


def test_a_toy_rule_passes(tree: Path) -> None:
    folder = "tests/accelerated"
    chosen = (f"{folder}/{name}.py" for name in ("test_equality", "test_rows"))
    said = pytest_in(tree, "-k", "toy and float32 and numpy", *chosen)
    assert int(re.search(r"(\d+) passed", said)[1]) > 5
