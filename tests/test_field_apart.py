"""Libraries of `examples/field` that have folders of their own: pinned, installed once, and reached as each must be."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.test_field import FOLDER, LIBRARIES, apart


def test_a_library_apart_has_an_adapter_and_pins_and_is_not_among_the_others() -> None:
    requirements = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
    assert apart.DECLARED.keys() <= set(LIBRARIES)
    forms = {"requirements": r"[\w.-]+==[\w.]+", "npm": r"[\w.-]+@[\w.-]+", "debian": r"[\w.-]+=[\w.+-]+"}
    for declared in (apart.DECLARED[apart.home(library)] for library in apart.DECLARED):
        ((kind, pins),) = ((kind, declared[kind]) for kind in forms if kind in declared)
        assert all(re.fullmatch(forms[kind], pin) for pin in pins)
        beside_others = "python" not in declared
        assert not any(beside_others and f"\n{pin}\n" in requirements for pin in pins)


def test_a_library_apart_is_importable_while_it_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pip installs it once, with its options and what its source is built with; a failure leaves no folder behind."""
    commands: list[list[str]] = []

    def run(command: list[str], *, check: bool, env: dict[str, str]) -> None:
        commands.append(command)
        assert check
        assert Path(env["PIP_CONSTRAINT"]).read_text(encoding="utf-8") == "setuptools<80"
        if len(commands) == 1:
            raise subprocess.CalledProcessError(1, command)
        Path(command[command.index("--target") + 1]).mkdir()

    monkeypatch.setattr(apart.subprocess, "run", run)
    before, own = list(sys.path), tmp_path / "chainer"
    with pytest.raises(subprocess.CalledProcessError), apart.reachable("chainer", tmp_path):
        pytest.fail("it is not installed")
    assert list(tmp_path.iterdir()) == []
    for _ in range(2):
        with apart.reachable("chainer", tmp_path) as target:
            assert target == ["examples.field.chainer:Target"]
            assert sys.path == [str(own), *before]
        assert sys.path == before
    assert len(commands) == 2
    needed = apart.DECLARED["chainer"]["requirements"]
    assert commands[1][-len(needed) :] == needed
    with apart.reachable("torch_ema", tmp_path) as target:
        assert target == ["examples.field.torch_ema:Target"]
        assert sys.path == before


def test_a_library_that_needs_another_python_has_an_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another adapter of the library is in the same one; nothing is put in front of the path."""
    commands: list[list[str]] = []

    def run(command: list[str], *, check: bool, env: Any = None) -> None:
        commands.append(command)
        assert check
        if "venv" in command:
            Path(command[-1]).mkdir()

    monkeypatch.setattr(apart.subprocess, "run", run)
    before = list(sys.path)
    for library in ("nnabla_lars", "nnabla"):
        with apart.reachable(library, tmp_path) as target:
            assert target == [
                f"examples.field.{library}:Target",
                "--python",
                str(tmp_path / "nnabla" / "bin" / "python"),
            ]
            assert sys.path == before
    (made, installed) = commands
    assert made[:3] == ["python3.10", "-m", "venv"]
    assert installed[0] == f"{made[-1]}/bin/python"
    assert {"nnabla==1.39.0", "numpy==1.26.4"} <= set(installed), "all that it needs, whichever came first"


def test_a_library_of_another_language_is_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of npm, with arguments where an adapter has some; of Debian, unpacked and built where it will be."""
    commands: list[list[str]] = []

    def run(command: list[str], *, check: bool, cwd: Path | None = None) -> None:
        commands.append(command)
        assert check
        if command[0] == "npm":
            Path(command[command.index("--prefix") + 1]).mkdir()
        if cwd is not None:
            (cwd / "libfann-dev.deb").touch()
        if command[0] == "dpkg":
            linked = Path(command[-1], "usr", "lib", "libfloatfann.so")
            linked.parent.mkdir(parents=True)
            linked.touch()

    monkeypatch.setattr(apart.subprocess, "run", run)
    harness, own = str(FOLDER / "programs" / "brain_js.js"), str(tmp_path / "brain_js")
    for library, arguments in (("brain_js", []), ("brain_js_biases", ["biases"])):
        with apart.reachable(library, tmp_path) as target:
            assert target == ["--", "node", harness, own, *arguments]
    with apart.reachable("fann", tmp_path) as target:
        assert target == ["--", str(tmp_path / "fann" / "harness")]
    (npm, downloaded, unpacked, built) = commands
    assert npm[-1] == "brain.js@2.0.0-beta.24"
    assert "--ignore-scripts" in npm
    assert downloaded[-1] == "libfann2=2.2.0+ds-8"
    assert unpacked[:2] == ["dpkg", "--extract"]
    assert built[0] == "g++"
    assert built[-1] == "-lfloatfann"
    assert f"-Wl,--disable-new-dtags,-rpath,{tmp_path / 'fann' / 'usr' / 'lib'}" in built, "where it will be"
    assert not any(word == f"-L{tmp_path / 'fann' / 'usr' / 'lib'}" for word in built), "where it is built"
