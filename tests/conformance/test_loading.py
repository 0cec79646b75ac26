import subprocess
import sys
from pathlib import Path

import pytest

from optimetry.conformance.targets.loading import (
    ADAPTED,
    builtin_meaning,
    builtin_names,
    builtin_version,
    distribution_of,
    extras,
    load_target,
    version_note,
)
from optimetry.reference.errors import TargetError

pytestmark = pytest.mark.usefixtures("miniatures")


def refusal(spec):
    with pytest.raises(TargetError) as caught:
        load_target(spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_builtin_targets_are_the_files_of_their_folder():
    assert {"numpy", "paddle", "torch"} <= set(builtin_names())
    assert "target" not in builtin_names()


def test_a_builtin_name_loads():
    assert load_target("numpy").name == "numpy"


@pytest.mark.parametrize("path", ["Correct", "instance", "factory", "Nested.target"])
def test_a_class_an_instance_a_factory_and_a_nested_object_load(path):
    target = load_target(f"miniatures:{path}")
    assert (target.name, target.version) == ("miniature", "1.0")


def test_a_module_of_the_current_directory_loads(tmp_path, monkeypatch):
    package = tmp_path / "adapters_here"
    package.mkdir()
    (package / "mine.py").write_text("from optimetry.conformance.targets.numpy.target import NumpyTarget as Mine\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert load_target("adapters_here.mine:Mine").name == "numpy"


def test_an_unknown_name_lists_what_there_is():
    text = refusal("trch")
    assert "unknown target 'trch'" in text
    assert ", ".join(builtin_names()) in text
    assert "module:object" in text
    assert "did you mean torch?" in text


@pytest.mark.parametrize("spec", [":Target", "module:", "a b:c", "a:b:c", "a/b.py:c", "..a:b"])
def test_what_is_neither_name_nor_module_and_object_is_refused(spec):
    assert "module:object" in refusal(spec)


def test_an_empty_name_is_unknown():
    assert "unknown target ''" in refusal("")


def test_a_module_that_is_not_there_is_named():
    assert "no module 'no_such_package' in the current directory" in refusal("no_such_package.adapter:Target")
    assert "no module 'json.nothing'" in refusal("json.nothing:Target")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import no_such_dependency", "raised ModuleNotFoundError: No module named 'no_such_dependency'"),
        ("1 / 0", "raised ZeroDivisionError: division by zero"),
        ("def broken(:", "raised SyntaxError: "),
        ("import sys; sys.exit('bye')", "raised SystemExit: bye"),
    ],
)
def test_an_import_that_fails_says_why(tmp_path, monkeypatch, source, expected):
    (tmp_path / "import_fails.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    text = refusal("import_fails:Target")
    assert text.startswith("target import_fails:Target: importing import_fails")
    assert expected in text


def test_a_missing_attribute_is_named():
    assert "has no attribute 'Absent'" in refusal("miniatures:Absent")
    assert "has no attribute 'absent'" in refusal("miniatures:Nested.absent")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("NoStart", "a NoStart is no target, it lacks start (a method)"),
        ("Nothing", "a Nothing is no target, it lacks name (a string), version (a string), start (a method)"),
        ("number", "a int is no target, it lacks name"),
        ("factory_of_nothing", "a NoneType is no target, it lacks name"),
        ("FailsToBuild", "calling it without arguments raised ValueError: no licence"),
        ("exits_when_made", "calling it without arguments raised SystemExit: bye"),
    ],
)
def test_what_is_no_target_says_what_it_lacks(path, expected):
    assert expected in refusal(f"miniatures:{path}")


def test_a_missing_framework_says_how_to_install_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "optimetry.conformance.targets.torch.target", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert 'torch is not installed: pip install "torch>=2.6"' in refusal("torch")


def test_extras_name_distributions():
    assert extras()["paddle"] == ["paddlepaddle>=3.0"]
    assert extras()["keras"][1:] == ["jax>=0.8", "torch>=2.6"]


def pins():
    """The exact versions in constraints.txt by distribution."""
    lines = (Path(__file__).parents[2] / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def test_adapters_are_for_the_versions_of_our_own_sessions():
    frameworks = {name for name in builtin_names() if name in extras()}
    assert {name: pins()[distribution_of(extras()[name][0])] for name in frameworks} == ADAPTED


def test_another_version_of_a_framework_is_noted():
    assert version_note("paddle", ADAPTED["paddle"]) == ""
    assert version_note("torch", f"{ADAPTED['torch']}+cpu") == ""
    assert version_note("mine:Target", "1.0") == ""
    note = version_note("paddle", "2.6.2")
    assert note.startswith("Note: the adapter was written for paddle 3.3.1, and nobody has looked at what 2.6.2 does")
    assert note.endswith('pip install "paddlepaddle==3.3.1"')


def test_the_list_of_targets_tells_another_version(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda distribution: "2.6.0+cpu")
    assert builtin_version("torch") == "2.6.0, adapter for 2.13.0"


def test_the_version_of_a_missing_framework_is_how_to_install_it(monkeypatch):
    monkeypatch.setattr("optimetry.conformance.targets.loading.extras", lambda: {"torch": ["no-such-distribution>=1"]})
    assert builtin_version("torch") == 'not installed: pip install "no-such-distribution>=1"'


def test_versions_and_meanings_import_no_framework():
    code = (
        "import sys; from optimetry.conformance.targets.loading import *;"
        "print([(builtin_version(name), builtin_meaning(name)) for name in builtin_names()]);"
        "assert not {'torch', 'paddle'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "PyTorch" in done.stdout


@pytest.mark.parametrize("name", builtin_names())
def test_every_builtin_target_says_what_it_is(name):
    assert len(builtin_meaning(name)) > 10
