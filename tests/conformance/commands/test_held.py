"""Two runs never write into one folder of results at a time."""

import os
import subprocess
import sys

import pytest

from optimetry.conformance.commands.files import held as holding
from optimetry.conformance.commands.files.held import FILE, held
from optimetry.reference.errors import UsageError

SGD = ("numpy", "--optimizer", "sgd", "--dtype", "bfloat16")
RUNS = {
    "check": ("-n", "1", "--effort", "quick", "--search", "off"),
    "certify": ("-n", "1", "--blocks", "1"),
    "campaign": ("-n", "1", "--do", "check", "--effort", "quick"),
    "accuracy": ("--steps", "1"),
    "bench": ("--size", "10", "--seconds", "0.01"),
}

pytestmark = pytest.mark.skipif(holding.fcntl is None, reason="the system has no such locks")


@pytest.mark.parametrize("command", RUNS)
def test_a_second_run_names_the_one_that_holds_the_folder_and_writes_nothing(optimetry, command, tmp_path):
    arguments = (command, *SGD, *RUNS[command], "--out", tmp_path)
    with held(tmp_path):
        (tmp_path / "results.jsonl").write_text("of the first run\n")
        before = {path.name: path.read_text() for path in tmp_path.iterdir()}
        status, out, err = optimetry(*arguments)
        assert (status, out) == (2, "")
        assert f"--out {tmp_path}: in use by process {os.getpid()} on " in err
        assert "; wait until it ends, or give another folder" in err
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before
    (tmp_path / "results.jsonl").unlink()
    assert optimetry(*arguments)[0] == 0
    assert not (tmp_path / FILE).exists()


def test_a_run_that_was_killed_holds_nothing(tmp_path):
    code = f"""
import os, pathlib, signal
from optimetry.conformance.commands.files.held import held
with held(pathlib.Path({str(tmp_path)!r})):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert f"process {os.getpid()} " not in (tmp_path / FILE).read_text()
    with held(tmp_path):
        assert (tmp_path / FILE).read_text().startswith(f"process {os.getpid()} ")


def test_a_file_that_another_run_has_just_removed_is_not_mistaken_for_the_folder_s(tmp_path, monkeypatch):
    lock, calls = holding.fcntl.flock, []

    def removed_before(file, how):
        if not calls:
            (tmp_path / FILE).unlink()
        calls.append(how)
        lock(file, how)

    monkeypatch.setattr(holding.fcntl, "flock", removed_before)
    with held(tmp_path), pytest.raises(UsageError, match="in use by process"), held(tmp_path):
        pass
    assert len(calls) == 3


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(UsageError, match="cannot be written: Is a directory"), held(tmp_path):
        pass


def test_a_command_that_is_no_text_holds_a_folder_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["optimetry", "check", "numpy", "--out", "\udce9"])  # the byte 0xe9 alone
    with (
        held(tmp_path),
        pytest.raises(UsageError, match=r"in use by process .*: optimetry check numpy --out '\\udce9'"),
        held(tmp_path),
    ):
        pass
