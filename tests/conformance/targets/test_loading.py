import json
import re
import subprocess
import sys

import pytest

from optimetry.conformance.harness.python_harness import PROTOCOL, Player
from optimetry.conformance.targets.loading import (
    builtin_meaning,
    builtin_names,
    builtin_version,
    extras,
    install_command,
    is_missing,
    load_target,
    version_note,
)
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetError
from tests.conformance.judged import without_lines

pytestmark = pytest.mark.usefixtures("miniatures")


def refusal(spec):
    with pytest.raises(TargetError) as caught:
        load_target(spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_builtin_targets_are_the_files_of_their_folder():
    assert set(builtin_names()) == {"accelerated", "numpy", *FRAMEWORKS}


def test_a_builtin_name_loads():
    assert load_target("numpy").name == "numpy"


@pytest.mark.parametrize("path", ["Correct", "instance", "factory", "Nested.target"])
def test_a_class_an_instance_a_factory_and_a_nested_object_load(path):
    target = load_target(f"miniatures:{path}")
    assert (target.name, target.version) == ("miniature", "1.0")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NoEngine", "engines() lists no engine"),
        ("EnginesOfOneName", "engines() lists 2 engines named 'default': each needs its own `engine`"),
        ("RaisesWhenAskedForEngines", "engines() raised RuntimeError: no list"),
        ("ListsWrongly", "not_run() raised TypeError: 'int' object is not iterable"),
    ],
)
def test_engines_that_cannot_be_told_apart_are_refused_beside_the_judge_and_apart(name, expected):
    assert without_lines(refusal(f"miniatures:{name}")) == f"target miniatures:{name}: {expected}"
    answer = Player(f"miniatures:{name}").answer({"do": "hello", "protocol": PROTOCOL})
    assert without_lines(answer["error"]) == expected


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


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("here_alone.py:MyTarget", "here_alone:MyTarget?"),
        ("here_alone", "here_alone:NAME, with what here_alone.py defines?"),
        ("here_alone.py", "here_alone:NAME, with what here_alone.py defines?"),
        ("below/here_alone.py:MyTarget", "below.here_alone:MyTarget?"),
    ],
)
def test_a_file_in_place_of_its_module_is_suggested_as_one(tmp_path, monkeypatch, spec, meant):
    (tmp_path / "below").mkdir()
    for folder in (tmp_path, tmp_path / "below"):
        (folder / "here_alone.py").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError, match=rf"; did you mean {re.escape(meant)}$"):
        load_target(spec)


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


def test_a_target_of_wrappers_alone_needs_no_start(optimetry):
    asked = ("check", "miniatures:WrappersAlone", "--effort", "quick", "--dtype", "float32", "--format", "json")
    status, out, _ = optimetry(*asked, "--optimizer", "sgd", "--optimizer", "l2_decay")
    rule, wrapper = json.loads(out)[0]["verdicts"]
    assert (rule["verdict"], rule["reason"]) == ("unsupported", "wrappers alone offers no rules: it has no start")
    assert (status, wrapper["verdict"]) == (0, "conforms")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("NoStart", "a NoStart is no target, it lacks start or start_wrapper (a method)"),
        (
            "Nothing",
            "a Nothing is no target, it lacks name (a string), version (a string), start or start_wrapper (a method)",
        ),
        ("number", "a int is no target, it lacks name"),
        ("factory_of_nothing", "a NoneType is no target, it lacks name"),
        ("FailsToBuild", "calling it without arguments raised ValueError: no licence; one optimizer of yours: "),
        ("exits_when_made", "calling it without arguments raised SystemExit: bye"),
    ],
)
def test_what_is_no_target_says_what_it_lacks(path, expected):
    assert expected in without_lines(refusal(f"miniatures:{path}"))


def test_a_missing_framework_says_how_to_install_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "optimetry.conformance.targets.torch.target", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert 'torch is not installed: pip install "torch>=2.6"' in refusal("torch")


def test_extras_name_distributions():
    assert extras()["paddle"] == ["paddlepaddle>=3.0"]
    assert extras()["keras"][1:] == ["jax>=0.8", "torch>=2.6"]


def test_another_version_of_a_framework_is_noted():
    assert version_note("paddle", FRAMEWORKS["paddle"].version) == ""
    assert version_note("torch", f"{FRAMEWORKS['torch'].version}+cpu") == ""
    assert version_note("mine:Target", "1.0") == ""
    note = version_note("paddle", "2.6.2")
    version = FRAMEWORKS["paddle"].version
    assert note.startswith(
        f"Note: the adapter was written for paddle {version} and has not been checked against 2.6.2."
    )
    assert note.endswith(f'pip install "paddlepaddle=={version}"')


def test_the_list_of_targets_tells_another_version(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda distribution: "2.6.0+cpu")
    assert builtin_version("torch") == f"2.6.0, adapter for {FRAMEWORKS['torch'].version}"


def test_the_version_of_a_missing_framework_is_how_to_install_it(monkeypatch):
    monkeypatch.setattr("optimetry.conformance.targets.loading.extras", lambda: {"torch": ["no-such-distribution>=1"]})
    assert (builtin_version("torch"), is_missing("torch")) == ("not installed", True)
    assert install_command("torch") == 'pip install "no-such-distribution>=1"'


def test_commands_that_install_a_framework_are_whole_lines_below_the_table(optimetry):
    out = optimetry("targets")[1]
    table, _, below = out.partition("\n\n")
    assert "install" not in table.replace("not installed", "").replace("installed", "")
    assert '"paddlepaddle==1.8.5" "protobuf<3.21"\n' in below


def test_versions_and_meanings_import_no_framework():
    code = (
        "import sys; from optimetry.conformance.targets.loading import *;"
        "print([(builtin_version(name), builtin_meaning(name)) for name in builtin_names()]);"
        "assert not {row.module for row in FRAMEWORKS.values()} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "PyTorch" in done.stdout


@pytest.mark.parametrize("name", builtin_names())
def test_every_builtin_target_says_what_it_is(name):
    assert len(builtin_meaning(name)) > 10
