"""Adding an optimizer is a rule and a kernel, adding a wrapper is its declaration: all else follows, in a copy."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module

import pytest

from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.rules import RULES
from tests.lists import lists_of
from tests.tree import ROOT, Tree

RULE = '''"""A toy rule."""

from dataclasses import dataclass

from optimetry.reference.declaration import flag, hyper
from optimetry.reference.rule import Rule, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Toy(Rule):
    """Remembers a share of its gradients.

    Documented: toys.Toy (page 000).
    """

    keep: float = hyper(None, "[0, 1)", "share of the memory that is kept", corners=(0.5, 0.0))
    ahead: bool = flag(False, "whether to look ahead")

    name = "toy"
    slots = ("memory",)

    def update(self, param, grad, state, lr, t):
        memory = self.keep * state.memory + grad
        return param - lr * (grad + self.keep * memory if self.ahead else memory), State(memory=memory)
'''

KERNEL = '''"""The toy's kernel."""

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
    return elementwise(function, ("memory",), lambda lr, t: (lr, rule.keep), cuda)
'''

WRAPPER = '''"""A toy wrapper."""

from dataclasses import dataclass

from optimetry.conformance.subjects.wrappers.wrapper import Wrapper, wrapper
from optimetry.reference.declaration import hyper


@wrapper
@dataclass(frozen=True, kw_only=True)
class ToyDamping(Wrapper):
    """``g*c``.

    Documented: toys.Damping (page 000).
    """

    factor: float = hyper(0.5, "[0, 1)", "what is left of a gradient", corners=(0.5, 0.0, 0.9))

    name = "toy_damping"

    def feed(self, fed, parameters, state):
        return [grad * self.factor for grad in fed], None
'''

FILES = {
    "reference/rules/toy.py": RULE,
    "accelerated/kernels/toy.py": KERNEL,
    "conformance/subjects/wrappers/toys.py": WRAPPER,
    "adapter.py": '''"""A target that forgets what the toys do."""

from optimetry.conformance.targets.numpy.target import NumpyTarget


class Forgets(NumpyTarget):
    def start(self, optimizer, hyper, parameters):
        return super().start("sgd", {}, parameters)

    def start_wrapper(self, wrapper, hyper, parameters):
        return super().start_wrapper(wrapper, {"factor": 0.0}, parameters)
''',
}

TOYS = {"toy": "def update", "toy_damping": "def feed"}
"""The toys, with what the script of a counterexample shows of each."""

CHECK = ("--effort", "quick", "--dtype", "float32", "-n", "1")
BOTH = [word for toy in TOYS for word in ("--optimizer", toy)]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("toys") / "tree", FILES)


def test_the_toys_are_listed(tree: Tree) -> None:
    status, out = tree.run("optimetry", "rules")
    assert status == 0
    assert all(re.search(rf"\b{toy}\b", out) for toy in TOYS)


@pytest.mark.slow
def test_the_toys_are_judged(tree: Tree) -> None:
    status, out = tree.run("optimetry", "check", "numpy", *BOTH, *CHECK)
    assert (status, "2 verdicts: 2 conforms" in out) == (0, True), out
    status, out = tree.run("optimetry", "check", "adapter:Forgets", *BOTH, *CHECK, "--out", "found")
    assert (status, " conforms" in out) == (1, False), out
    for toy, shown in TOYS.items():
        (script,) = (tree.root / "found" / "counterexamples").glob(f"{toy}-*.py")
        assert shown in script.read_text()
        assert tree.run("python", "-I", str(script))[0] == 0


def test_a_framework_that_does_not_know_the_toys_does_not_offer_them(tree: Tree) -> None:
    pytest.importorskip("torch")
    engines = import_module("optimetry.conformance.targets.torch.rules").ENGINES
    status, out = tree.run("optimetry", "check", "torch", *BOTH, *CHECK)
    assert status == 2, out
    assert f"{len(engines) * len(TOYS)} unsupported" in out


@pytest.mark.slow
def test_a_toy_rule_is_fast(tree: Tree) -> None:
    status, out = tree.run("optimetry", "check", "accelerated", "--optimizer", "toy", *CHECK)
    assert status == 0, out


@pytest.mark.slow
def test_what_runs_for_a_rule_of_the_same_kind_runs_for_the_toy(tree: Tree) -> None:
    """Planted faults and dialects are of one rule each."""
    options = ("--collect-only", "-o", "python_files=test_*.py bench_*.py")
    chosen = ("tests/accelerated", "tests/conformance", "tests/reference", "accelerated/benchmarks/bench_rules.py")
    collected = tree.pytest(*options, *chosen)
    of_momentum, of_toy = (
        set(re.findall(rf"::(\w+)\[(?:.*-)?{rule}(?![a-z_])", collected)) for rule in ("momentum", "toy")
    )
    assert len(of_toy) > 25
    assert {name for name in of_momentum - of_toy if not OF_ONE_RULE.search(name)} == set()


OF_ONE_RULE = re.compile(
    "planted|dialect|famil|class|probe|fault|framework|published|search|tier|axes|point|sample|choices"
    "|choice_is|every_large_case|library|formula_says|wrong|none_is"
)
"""Words in the names of tests of what is written for one rule: its dialects, faults, and what a page says of it."""


@pytest.mark.slow
def test_the_toy_passes_the_tests_of_rules(tree: Tree) -> None:
    chosen = ("accelerated/test_equality", "accelerated/test_rows", "conformance/selftest/test_equivalents")
    which = "toy and not float64 and (numpy or test_equivalents)"
    printed = tree.pytest("-k", which, "-rp", *(f"tests/{name}.py" for name in chosen))
    passed = Counter(re.findall(r"^PASSED tests/(\w+)", printed, re.MULTILINE))
    assert passed["accelerated"] > 5
    assert passed["conformance"] >= 2


TABLES = {
    "conformance/selftest/faults/mutations.py",
    "conformance/selftest/faults/dialects.py",
    "conformance/selftest/search_table.py",
    "tests/conformance/comparisons.py",
    "tests/conformance/targets/test_recorded.py",
    "tests/conformance/naming/test_variants_by_hand.py",
    "conformance/targets/mindspore/nn.py",
    "conformance/targets/mindspore/experimental.py",
    *(f"conformance/targets/{name}/table.py" for name in FRAMEWORKS),
}
"""Tables on purpose: single tokens to change, rules whose steps are counted otherwise, numbers worked out by hand or
that tell dialects apart, what a library was measured to compute, what each framework offers
(MindSpore by engine), what takes a search half an hour."""


@pytest.mark.parametrize(
    ("folders", "number"),
    [(("reference", "accelerated", "conformance", "reports"), 3), (("tests",), 3 * len(RULES) // 4)],
)
def test_no_list_of_rules_is_written_where_one_could_be_read(folders: tuple[str, ...], number: int) -> None:
    """A list that misses the next rule: in code any three names, in tests, where samples are needed, most of them."""
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.py") if "published" not in file.parts)
    lists = {
        f"{file.relative_to(ROOT)}:{line}"
        for file in files
        for line in lists_of(file.read_text(encoding="utf-8"), RULES, number)
        if str(file.relative_to(ROOT)) not in TABLES
    }
    assert lists == set()
