"""The target for fluid 1.8.5, whose files are of Python 3.7; with one that has the library, it is run."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.cli import main
from optimetry.conformance.harness import python_harness
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.targets import offers
from optimetry.conformance.targets.fluid import table
from optimetry.conformance.targets.loading import builtin_version, install_hint
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetFault
from tests.conformance.golden_runs import run_of
from tests.conformance.other_pythons import pythons, under_its_own
from tests.reference.golden_cases import cases

ROW = FRAMEWORKS["fluid"]
HARNESS = Path(python_harness.__file__)
FILES = [HARNESS, Path(offers.__file__), *sorted(Path(table.__file__).parent.glob("*.py"))]
"""What Python 3.7 reads."""

LIBRARIES = {"ml_dtypes", "numpy", "optimetry", "paddle"}
KNOWN = {
    "__future__": {"annotations"},
    "abc": {"ABC", "abstractmethod"},
    "collections.abc": {"Callable", "Iterator", "Mapping", "Sequence"},
    "contextlib": {"contextmanager"},
    "dataclasses": {"dataclass", "field"},
    "functools": {"lru_cache", "partial"},
    "pathlib": {"Path"},
    "typing": {"Any", "IO", "TYPE_CHECKING"},
}
MODULES = {
    *("binascii", "ctypes", "importlib", "importlib.util", "json", "math", "os", "sys", "sysconfig", "traceback"),
    *("types", "warnings"),
}
"""What these files import of Python itself, all of which 3.7 has."""

KEYWORDS = {"dataclass": {"frozen"}, "field": {"default_factory"}, "zip": set()}
"""Keywords of these functions that 3.7 has."""

NEWER = {"bit_count", "cache", "is_relative_to", "removeprefix", "removesuffix", "with_stem"}
"""Attributes that 3.7 does not have, and newer code likes."""

TABLE = f"""
import sys, types
sys.modules["numpy"] = types.ModuleType("numpy")
sys.path.insert(0, {str(HARNESS.parent)!r})
import python_harness
python_harness.lend_targets()
from optimetry.conformance.targets.fluid.table import OFFERS
assert OFFERS["torch.sgd"].held() == {{"maximize": False, "dampening": 0.0}}
print(sys.version_info[:2], *OFFERS)
"""


PYTHON = "OPTIMETRY_FLUID_PYTHON"


@pytest.fixture(scope="module")
def library() -> Iterator[ProgramTarget]:
    """The real fluid."""
    with under_its_own("fluid", ROW.python, PYTHON, ROW.version) as target:
        yield target


def run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes outside ``if TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from run_time(node)


def newer(source: str) -> list[str]:
    """Name what Python 3.7 does not have.

    Raises:
        SyntaxError: it cannot read the file.
    """
    unknown = []
    for node in run_time(ast.parse(source, feature_version=(3, 7))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] not in LIBRARIES:
            known = KNOWN.get(str(node.module), set())
            unknown += [f"{node.module}.{name}" for name in names if name not in known]
        elif isinstance(node, ast.Import):
            unknown += [name for name in names if name.partition(".")[0] not in LIBRARIES and name not in MODULES]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
            taken = {str(keyword.arg) for keyword in node.keywords} - KEYWORDS[node.func.id]
            unknown += [f"{node.func.id}({keyword}=)" for keyword in sorted(taken)]
        elif isinstance(node, ast.Attribute) and node.attr in NEWER:
            unknown.append(f".{node.attr}")
    return unknown


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_reaches_the_other_interpreter_is_of_python_3_7(file: Path) -> None:
    assert newer(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from functools import cache", ["functools.cache"]),
        ("import tomllib", ["tomllib"]),
        ("zip(a, b, strict=True)", ["zip(strict=)"]),
        ("@dataclass(frozen=True, slots=True)\nclass A: pass", ["dataclass(slots=)"]),
        ("name.removeprefix('a')", [".removeprefix"]),
        ("if TYPE_CHECKING:\n    from typing import Self", []),
    ],
)
def test_what_is_newer_is_named(source: str, names: list[str]) -> None:
    assert newer(source) == names


@pytest.mark.parametrize("source", ["(a := 1)", "def f(a, /): pass", "match a:\n    case 1: pass"])
def test_newer_syntax_is_refused(source: str) -> None:
    with pytest.raises(SyntaxError):
        newer(source)


def test_the_table_is_read_by_python_3_7() -> None:
    interpreters = pythons(ROW.python, PYTHON)
    if not interpreters:
        pytest.skip(f"not run: no Python {ROW.python}")
    for python in interpreters:
        done = subprocess.run([python, "-c", TABLE], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["(3,", "7)", *table.OFFERS]


def test_without_the_library_it_is_said_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    hint = 'python3.7 -m venv fluid-env && fluid-env/bin/pip install "paddlepaddle==1.8.5" "protobuf<3.21"'
    assert install_hint("fluid") == f"{hint}, and --python fluid-env/bin/python"
    assert builtin_version("fluid") == "of Python 3.7"
    assert main(["check", "fluid", "--beside"]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "target fluid: paddle" in printed
    assert f"is not installed: {hint}" in printed


STORED = [stored for file in ("fluid185", "fluid185_wrappers") for stored in cases(file)]


@pytest.mark.parametrize("engine", range(2))
@pytest.mark.parametrize("subject", sorted({stored.get("rule") or stored["wrapper"] for stored in STORED}))
def test_runs_of_the_library_are_those_that_were_stored(subject: str, engine: int, library: ProgramTarget) -> None:
    """They were stored by another program; kernels may differ in their last bits from one processor to another."""
    target = library.engines()[engine]
    if engine and subject in ("exponential_moving_average", "model_average"):
        pytest.skip("fluid has no averages in dygraph")
    for run in [run_of(stored) for stored in STORED if subject in (stored.get("rule"), stored.get("wrapper"))]:
        must = np.array([flat(row) for row in run.after])
        if subject == "exponential_moving_average":  # whose apply() changes the average, so it is called once
            computed, must = averaged(target, run.case), must[-1]
        else:
            computed = trajectory(target, run.case, Guard())
        tolerance = 64 * np.finfo(run.case.dtype).eps
        np.testing.assert_allclose(computed, must, rtol=tolerance, atol=tolerance, err_msg=str(run.case.hyper))


def averaged(target: ProgramTarget, case: Case) -> Array:
    """What an average gives after all updates."""
    run = target.start_wrapper(case.optimizer, case.hyper, list(case.parameters))
    for fed in case.grads:
        run.update(list(fed))
    return flat(run.apply())


@pytest.mark.parametrize(
    ("subject", "dtype", "expected"),
    [
        ("sgd", "float64", "conforms"),
        ("momentum", "float64", "imprecise: documented; momentum in float32"),
        ("adadelta", "float32", "dialect: new_average_learning_rate_ignored"),
        ("ftrl", "float32", "dialect: l1_for_l2"),
        ("ftrl", "float64", "unsupported"),
        ("clip_by_global_norm", "float32", "conforms"),
    ],
)
def test_a_sample_has_the_verdicts_of_the_ledger(
    subject: str, dtype: str, expected: str, library: ProgramTarget
) -> None:
    (verdict,) = judge([library], subject, dtype, effort=Effort("few", 12, 1), seed=0)
    computes = f": {verdict.computes}" if verdict.verdict in ("imprecise", "dialect") else ""
    assert f"{verdict.verdict}{computes}" == expected


def test_what_fails_in_dygraph_leaves_it(library: ProgramTarget) -> None:
    static, dygraph = library.engines()
    hyper, start = {"momentum": 0.5, "use_nesterov": False}, [np.array([1.0, 2.0])]
    with pytest.raises(TargetFault, match="beta1"):
        dygraph.start("adam", hyper, start)
    np.testing.assert_equal(static.start("momentum", hyper, start).step(start, 0.5), [start[0] / 2])


def test_a_run_begins_anew_and_goes_on_from_its_state(library: ProgramTarget) -> None:
    """Programs are kept for the next run."""
    for engine in library.engines():
        begins_anew_and_goes_on(engine, [None] if engine.engine == "static" else [np.zeros(2)])


def begins_anew_and_goes_on(library: ProgramTarget, missing: list[Any]) -> None:
    hyper = {"beta1": 0.9, "beta2": 0.99, "epsilon": 1e-2}
    start = [np.array([1.0, -2.0]), np.array([[0.5]])]
    grads = [np.array([0.25, 1.0]), np.array([[-3.0]])]
    runs_of_two = []
    for _ in range(2):
        run = library.start("adam", hyper, start)
        runs_of_two.append([run.step(grads, 0.1), run.step([*missing, grads[1]], 0.1), run.step(grads, 0.01)])
        del run
    np.testing.assert_equal(*runs_of_two)
    first, second = (library.start("adam", hyper, start) for _ in range(2))
    for rate in (0.1, 0.03):
        after = first.step(grads, rate)
    state = first.state()
    assert set(state) == {"moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc"}
    resumed = library.start("adam", hyper, after)
    resumed.load(state)
    np.testing.assert_equal(resumed.step(grads, 0.1), first.step(grads, 0.1))
    assert not np.array_equal(second.step(grads, 0.1)[0], first.step(grads, 0.1)[0])
