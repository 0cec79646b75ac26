"""Frameworks whose adapter is a program, TensorFlow.js and torch's C++ frontend: how they start, and what they compute.

Runs need Node with the package (in ``node_modules`` of this folder, of one above it, or of ``NODE_PATH``), or torch and
g++, which compiles for half a minute where that has not been done yet. What is not there is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from optimetry.conformance import targets
from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.cli import main
from optimetry.conformance.commands.harness.command import Rehearsal
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.loading import install_hint, load_target, program_command
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetError, UsageError

FOLDER = Path(targets.__path__[0])
PROGRAMS = [name for name, row in FRAMEWORKS.items() if row.program]
FRONTEND = FOLDER / "torchcpp" / "frontend.py"

IS_PLAIN_DESCENT = {"tfjs": ("adadelta", "torch.adadelta", "papers.adadelta")}
"""Rules in which a framework ignores every hyperparameter: findings say why."""


def there(name: str) -> list[str]:
    """The command of a framework; skips the test where what it needs is not installed."""
    command = program_command(name)
    assert command is not None
    if shutil.which(command[0]) is None:
        pytest.skip(f"not run: {command[0]} is not installed")
    if name == "torchcpp" and (find_spec("torch") is None or shutil.which("g++") is None):
        pytest.skip("not run: torch or g++ is not installed")
    return command


@pytest.fixture(scope="module", params=PROGRAMS)
def target(request: pytest.FixtureRequest) -> Iterator[ProgramTarget]:
    """Each framework."""
    program = ProtocolProgram(there(request.param))
    try:
        yield ProgramTarget.started(program, Guard(), request.param)
    except TargetError as error:
        if "is not found" not in str(error):
            raise
        pytest.skip(f"not run: {error}")
    finally:
        program.close()


def test_each_is_the_one_in_the_table(target: ProgramTarget) -> None:
    row = FRAMEWORKS[target.name]
    assert target.version == row.version
    listed = {tuple(dtypes) for dtypes in target.connection.hello["optimizers"].values()}
    assert listed == {row.dtypes}


def test_each_answers_as_the_protocol_says(target: ProgramTarget) -> None:
    findings = list(Rehearsal(ProtocolProgram(target.connection.program.command), 60.0).played())
    assert len(findings) > 25
    assert [finding for finding in findings if finding.problems] == []


def test_every_hyperparameter_that_is_not_pinned_has_a_use(target: ProgramTarget) -> None:
    """Two values of it give different results in some case; other frameworks' tables are held to pass all."""
    rng = np.random.default_rng(0)
    dtype = target.connection.hello["optimizers"]["sgd"][0]
    start = (rng.normal(size=5).astype(dtype),)
    grads = tuple((rng.normal(size=5).astype(dtype),) for _ in range(3))
    for rule in target.connection.hello["optimizers"]:
        declared = subject_named(rule).hyperparameters()
        pinned = target.pinned.get(rule, {})
        bases = [
            {
                hyperparameter.name: pinned.get(
                    hyperparameter.name, hyperparameter.corners[min(k, len(hyperparameter.corners) - 1)]
                )
                for hyperparameter in declared
            }
            for k in range(3)
        ]
        used = set()
        for hyperparameter in declared:
            for base, corner in (
                (base, corner)
                for base in bases
                for corner in hyperparameter.corners
                if hyperparameter.name not in pinned
            ):
                cases = [
                    Case(rule, dtype, base | {hyperparameter.name: value}, (0.1,) * 3, start, grads)
                    for value in (base[hyperparameter.name], corner)
                ]
                if not any(target.declines(case) for case in cases):
                    first, second = (trajectory(target, case, Guard()) for case in cases)
                    used |= {hyperparameter.name} if first.tobytes() != second.tobytes() else set()
        expected = {hyperparameter.name for hyperparameter in declared} - set(pinned)
        assert used == (set() if rule in IS_PLAIN_DESCENT.get(target.name, ()) else expected), rule


def verdicts_of(target: ProgramTarget, rule: str) -> set[str]:
    """The verdicts of a few float32 cases on a rule, of all engines."""
    verdicts = judge(target.engines(), rule, "float32", effort=Effort("few", 12, 1), seed=0)
    return {f"{verdict.verdict}: {verdict.computes}" for verdict in verdicts}


@pytest.mark.parametrize("target", ["tfjs"], indirect=True)
def test_a_sample_of_tensorflow_js_has_its_verdicts(target: ProgramTarget) -> None:
    assert verdicts_of(target, "sgd") == verdicts_of(target, "momentum") == {"conforms: documented"}
    assert verdicts_of(target, "adam") == {"dialect: scaled_epsilon, step_count_global"}
    assert verdicts_of(target, "adagrad") == {"dialect: epsilon_inside"}


@pytest.mark.parametrize("target", ["torchcpp"], indirect=True)
def test_a_sample_of_torch_in_cpp_has_its_verdicts(target: ProgramTarget) -> None:
    assert verdicts_of(target, "sgd") == {"conforms: documented"}
    assert verdicts_of(target, "adam") == {"dialect: scaled_epsilon = papers.adam = torch.adam"}


@pytest.mark.parametrize("target", ["tfjs"], indirect=True)
def test_centered_rmsprop_of_tensorflow_js_subtracts_epsilon(target: ProgramTarget) -> None:
    """A parameter whose first gradient is zero becomes NaN: the root of `0 - (0 + epsilon)`."""
    hyper = {"rho": 0.95, "epsilon": 1e-6, "momentum": 0.0}
    zero, one = (np.full(1, x, np.float32) for x in (0, 1))
    for centered in (False, True):
        case = Case("rmsprop", "float32", {**hyper, "centered": centered}, (0.1,), (one,), ((zero,),))
        assert np.isnan(trajectory(target, case, Guard())).item() == centered


@pytest.mark.parametrize("target", ["torchcpp"], indirect=True)
def test_a_group_of_torch_cannot_have_what_the_class_has_by_default(target: ProgramTarget) -> None:
    """A weight decay of 0, as for biases, is replaced by the optimizer's; one of 0.25 is not."""
    one = np.ones(1, np.float64)
    hyper = {"momentum": 0.0, "dampening": 0.0, "nesterov": False, "maximize": False}
    decays = ({**hyper, "weight_decay": 0.5}, {**hyper, "weight_decay": 0.0}, {**hyper, "weight_decay": 0.25})
    _, groups = target.engines()
    run = groups.start_groups("torch.sgd", [(decay, [one]) for decay in decays])
    after = run.step([0 * one] * 3, [1.0] * 3)
    assert [array.item() for array in after] == [0.5, 0.5, 0.75]


def test_commands_name_the_file_that_ships() -> None:
    assert program_command("tfjs") == ["node", str(FOLDER / "tfjs" / "harness.js")]
    assert program_command("torchcpp") == [sys.executable, str(FRONTEND)]
    assert program_command("torchcpp", "python3") == ["python3", str(FRONTEND)]
    assert program_command("torch") is program_command("numpy") is program_command("module:object") is None
    for name in PROGRAMS:
        assert Path((program_command(name) or [""])[1]).is_file()


def test_what_node_runs_takes_no_python() -> None:
    with pytest.raises(UsageError, match=r"^--python = 'python3': must be left out with tfjs, which node runs$"):
        program_command("tfjs", "python3")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_in_a_process_of_its_own_alone(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", name, "--beside"]) == 2
    assert f"--beside: must be left out with {name}, which is a program" in capsys.readouterr().err


def test_hints_name_the_registry() -> None:
    assert install_hint("tfjs") == f'npm install "@tensorflow/tfjs@{FRAMEWORKS["tfjs"].version}"'
    assert install_hint("torchcpp").startswith("pip install ")


def test_a_missing_package_of_npm_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there("tfjs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NODE_PATH", raising=False)
    if any((folder / "node_modules").exists() for folder in FRONTEND.parents):
        pytest.skip("it is installed above the harness")
    with pytest.raises(TargetError, match="@tensorflow/tfjs is not found from this directory or in NODE_PATH"):
        load_target("tfjs")


def test_a_missing_program_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="target tfjs: cannot start 'node'"):
        load_target("tfjs")
    assert main(["check", "tfjs"]) == 2


def frontend(folder: Path, *options: str, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
    """Run the script that compiles, with an empty folder for what is compiled."""
    environment = os.environ | {"XDG_CACHE_HOME": str(folder), "PATH": path}
    command = [sys.executable, *options, str(FRONTEND)]
    return subprocess.run(command, check=False, env=environment, capture_output=True, text=True, input="")


def test_a_missing_torch_is_said(tmp_path: Path) -> None:
    done = frontend(tmp_path, "-S")
    assert (done.returncode, done.stderr) == (1, f"torch is not installed for {sys.executable}\n")


def test_a_missing_compiler_is_said_and_nothing_is_kept(tmp_path: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("not run: torch is not installed")
    done = frontend(tmp_path, path=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == "g++ is not found on the PATH; it compiles torch's C++ frontend\n"
    assert [file.suffix for file in (tmp_path / "optimetry").iterdir()] == [".lock"]


def test_a_compiler_that_fails_is_said(tmp_path: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("not run: torch is not installed")
    compiler = tmp_path / "g++"
    compiler.write_text("#!/bin/sh\nexit 3\n")
    compiler.chmod(0o755)
    done = frontend(tmp_path, path=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert (done.returncode, done.stderr) == (1, "g++ failed with status 3 on frontend.cpp\n")


def test_what_is_compiled_is_kept_by_what_it_was_compiled_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("torch") is None:
        pytest.skip("not run: torch is not installed")
    from optimetry.conformance.targets.torchcpp import frontend as script

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    torch = script.torch_folder()
    for name in ("SOURCE", "WIRE"):
        file = tmp_path / getattr(script, name).name
        file.write_bytes(getattr(script, name).read_bytes())
        monkeypatch.setattr(script, name, file)
        before = script.kept(torch)
        assert script.kept(torch) == before
        assert before.parent == tmp_path / "optimetry"
        file.write_text("int main() {}")
        assert script.kept(torch) != before


def test_a_program_that_is_loaded_ends_with_its_target() -> None:
    there("tfjs")
    try:
        target = load_target("tfjs")
    except TargetError as error:
        pytest.skip(f"not run: {error}")
    assert isinstance(target, ProgramTarget)
    process = target.connection.program._process
    assert process is not None
    assert process.poll() is None
    del target
    assert process.poll() is not None
