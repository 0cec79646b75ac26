"""A run whose judge is killed goes on with ``--resume``, and writes what it would have written undisturbed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import pytest

from optimetry.conformance.commands.files.resuming import resumed
from optimetry.conformance.commands.workers.jobs import Job
from optimetry.reference.errors import UsageError
from optimetry.reports.keeping import add
from optimetry.reports.results import Results, ResultsError, read
from optimetry.reports.speed import Speed

HERE = Path(__file__).parents[1]
COMMAND = (sys.executable, "-c", "import sys; from optimetry.conformance.commands.cli import main; sys.exit(main())")
ASKED = (
    "--optimizer",
    "sgd",
    "--optimizer",
    "adagrad",
    "--dtype",
    "float32",
    "--effort",
    "quick",
    "--search",
    "off",
    "-n",
    "1",
)

WAITS = '''
import os, time
from pathlib import Path
from miniatures import Raises

class Waits(Raises):
    """Raises in its steps; notes what it starts, and waits where it is told to."""

    def __init__(self, engine="plain"):
        self.engine = engine

    def engines(self):
        return [Waits("plain"), Waits("fast")]

    def start(self, optimizer, hyper, parameters):
        if not Path(f"{optimizer}-{self.engine}").exists():
            Path(f"{optimizer}-{self.engine}").touch()
        while Path(f"wait-{optimizer}").exists():
            time.sleep(0.01)
        return super().start(optimizer, hyper, parameters)
'''


MEASURED = Speed(
    rule="sgd", contender="miniature", dtype="float32", tensors=1, elements=10, nanoseconds=1.0, spread=0.1, bytes=8,
    gigabytes_per_second=8.0, touch_share=0.5, peer=None, peer_ratio=None,
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The current folder, of which `waits:Waits` is a target, here and in processes that are started here."""
    made = tmp_path_factory.mktemp("resumed")
    (made / "waits.py").write_text(WAITS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        patch.syspath_prepend(HERE)
        patch.syspath_prepend(made)
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        yield made


@pytest.fixture(scope="module")
def undisturbed(folder):
    """What the whole run writes and prints."""
    command = (*COMMAND, "check", "waits:Waits", *ASKED, "--out", "out")
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (1, "")
    return contents(folder / "out"), ran.stdout


@pytest.fixture
def out(folder, undisturbed):
    """The folder of that run, with its files as they were written."""
    shutil.rmtree(folder / "out")
    (folder / "out" / "counterexamples").mkdir(parents=True)
    for name, text in undisturbed[0].items():
        (folder / "out" / name).write_text(text)
    for seen in folder.glob("*-plain"):
        seen.unlink()
    return folder / "out"


def contents(folder):
    """The files of a folder."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def lines(path, kind):
    text = path.read_text() if path.exists() else ""
    return [line for line in text.splitlines() if json.loads(line)["kind"] == kind]


def test_a_killed_judge_goes_on_where_it_was(folder, optimetry, undisturbed, out):
    whole, printed = undisturbed
    shutil.rmtree(out)
    (folder / "wait-adagrad").touch()
    results = out / "results.jsonl"
    with subprocess.Popen((*COMMAND, "check", "waits:Waits", *ASKED, "--out", "out"), start_new_session=True) as judge:
        while not (folder / "adagrad-plain").exists():
            assert judge.poll() is None
            time.sleep(0.02)
        judge.kill()
        assert judge.wait() == -signal.SIGKILL
    assert len(lines(results, "verdict")) == 2
    with pytest.raises(ValueError, match="unfinished"):
        read(results)

    (folder / "wait-adagrad").unlink()
    (folder / "sgd-plain").unlink()
    with results.open("a") as file:
        file.write('{"kind": "verdict", "optimizer": "ada')
    assert optimetry("check", "waits:Waits", *ASKED, "--out", "out", "--resume") == (1, printed, "")
    assert contents(out) == whole
    assert not (folder / "sgd-plain").exists()  # its verdicts were there


@pytest.mark.parametrize(("kept", "anew"), [(0, {"sgd", "adagrad"}), (4, {"sgd", "adagrad"}), (7, set())])
def test_wherever_it_was_ended_the_file_is_the_same(folder, optimetry, undisturbed, out, kept, anew):
    whole, printed = undisturbed
    texts = whole["results.jsonl"].splitlines(keepends=True)
    assert len(texts) == 8  # a header, two documents, two verdicts on each optimizer, a footer
    shutil.rmtree(out / "counterexamples")
    (out / "results.jsonl").write_text("".join(texts[:kept]) + texts[kept][:-1])
    assert optimetry("check", "waits:Waits", *ASKED, "--out", "out", "--resume") == (1, printed, "")
    assert contents(out) == whole
    assert {path.name.partition("-")[0] for path in folder.glob("*-plain")} == anew


def test_a_finished_run_is_reported_again_and_keeps_what_was_measured_since(folder, optimetry, out):
    results = out / "results.jsonl"
    add(results, Results(read(results).header, speed=[MEASURED]))
    before = results.read_text()
    (folder / "ledger.txt").write_text("sgd * error raises\nadagrad * error raises\n")
    asked = ("check", "waits:Waits", *ASKED, "--out", "out", "--resume", "--expect", "ledger.txt")
    status, printed, _ = optimetry(*asked)
    assert (status, "all that is offered conforms or is expected by ledger.txt" in printed) == (0, True)
    assert results.read_text() == before
    assert not list(folder.glob("*-plain"))


def test_a_run_that_begins_anew_keeps_what_was_measured_also_where_it_is_ended(folder, optimetry, out):
    results = out / "results.jsonl"
    before = read(results)
    add(results, Results(before.header, speed=[MEASURED]))
    assert optimetry("check", "waits:Waits", *ASKED, "--out", "out")[0] == 1
    kept, whole = read(results), results.read_bytes()
    assert (kept.speed, kept.verdicts, kept.documents) == ([MEASURED], before.verdicts, before.documents)
    assert (out / "speed.md").exists()
    for ended in (1, 2, 5, 7):  # lines that the run has written when it is ended
        results.write_bytes(b"".join(whole.splitlines(keepends=True)[:ended]))
        assert optimetry("check", "waits:Waits", *ASKED, "--out", "out", *["--resume"][: ended > 1])[0] == 1
        assert results.read_bytes() == (whole if ended > 1 else whole.replace(whole.splitlines(keepends=True)[1], b""))


def test_another_run_is_refused_and_nothing_is_changed(folder, refused, out):
    before = contents(out)
    other = ("--seed", "1", "--effort", "standard", "--dtype", "float64", "--optimizer", "adam")
    message = refused("check", "numpy", *ASKED, *other, "--out", "out", "--resume")
    assert message.startswith(
        "optimetry: error: --resume: out/results.jsonl is of another run: it has target = miniature, "
        "target_version = 1.0, dtypes = float32, optimizers = sgd adagrad, seed = 0, effort = quick, this run has "
        "target = numpy, "
    )
    assert message.endswith(
        "dtypes = float32 float64, optimizers = sgd adagrad adam, seed = 1, effort = standard: repeat its options, "
        "or choose another folder\n"
    )
    assert "or leave out --resume to begin anew" in refused(
        "check", "waits:Waits", *ASKED, "--seed", "1", "--out", "out", "--resume"
    )
    assert refused("check", "numpy", *ASKED, "--out", "out").endswith(": choose another folder\n")
    assert contents(out) == before


def test_a_file_that_its_run_has_not_written_is_refused(out):
    results = out / "results.jsonl"
    header, jobs = read(results).header, [Job(name, ("float32",)) for name in ("sgd", "adagrad")]
    texts = results.read_text().splitlines(keepends=True)
    for changed in (
        "no results\n",
        "".join([texts[0], *texts[3:]]),
        "".join([*texts[:3], texts[5]]),
        "".join([*texts[:3], texts[3].replace(": ", ":  ", 1), *texts[4:]]),
    ):
        results.write_text(changed)
        with pytest.raises(ResultsError, match=r"results.jsonl.*: not "):
            resumed(results, header, jobs, ["plain", "fast"])
        assert results.read_text() == changed


def test_every_field_of_the_header_is_compared(out):
    results = out / "results.jsonl"
    header = read(results).header
    assert resumed(results, header, [Job(name, ("float32",)) for name in header.optimizers], ["plain"]).verdicts
    for name in {field.name for field in fields(header)} - {"kind", "schema"}:
        with pytest.raises(UsageError, match=f"it has {name} = .*, this run has {name} = another: "):
            resumed(results, replace(header, **{name: "another"}), [], [])


def test_resume_needs_a_folder(refused):
    assert "--resume: needs --out" in refused("check", "numpy", *ASKED, "--resume")
