"""`optimetry campaign`: checks, certifications and searches as tasks, on a cluster of Dask or without one."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest

from optimetry.conformance.certify.worst import Worst, WorstSearch
from optimetry.conformance.commands import cli
from optimetry.conformance.commands.campaigns import finished as keeping
from optimetry.conformance.commands.campaigns.finished import FILE, Finished
from optimetry.conformance.commands.campaigns.plan import CampaignPlan, CheckPart, SearchPart, encoded
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.reference.errors import UsageError
from optimetry.reports.results import ResultsError, Verdict, read, verdict_of

SLOW = """
import os, time
from optimetry.conformance.targets.numpy.target import NumpyTarget

class Slow(NumpyTarget):
    def start(self, optimizer, hyper, parameters):
        time.sleep(float(os.environ.get("SECONDS", "0")))
        return super().start(optimizer, hyper, parameters)
"""

OPTIONS = ["--optimizer", "sgd", "--dtype", "bfloat16", "--effort", "quick", "--blocks", "1", "--starts", "24"]

PLAN = CampaignPlan([SearchPart(WorstSearch(starts=6), "sgd", "float32", 0, "default")])


def worst(share):
    return Worst(share, None, None)


def tasks_of(path):
    return [json.loads(line)["task"] for line in path.read_text().splitlines()[1:] if line.endswith("}")]


@pytest.fixture
def campaign(tmp_path):
    """Start a campaign of a slow target in a process of its own."""
    (tmp_path / "slow.py").write_text(SLOW)

    def start(out, *options, seconds=0.0):
        environment = {**os.environ, "SECONDS": str(seconds), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(tmp_path)}
        main = "import sys; from optimetry.conformance.commands.cli import main; sys.exit(main())"
        words = [sys.executable, "-c", main, "campaign", "slow:Slow", *OPTIONS, "--out", str(out), *options]
        return subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return start


def wait_for(path, tasks, process):
    end = time.monotonic() + 120
    while not path.exists() or len(path.read_bytes().splitlines()) <= tasks:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_neither_a_lost_worker_nor_a_killed_client_changes_a_byte(campaign, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    psutil = pytest.importorskip("psutil", reason="comes with Dask")
    alone = campaign(tmp_path / "alone", "-n", "2")
    disturbed, kept = tmp_path / "disturbed", tmp_path / "disturbed" / FILE
    client = campaign(disturbed, "--scheduler", "local", "-n", "2", seconds=0.02)
    wait_for(kept, 3, client)
    children = psutil.Process(client.pid).children()
    names = ("spawn_main", "dask worker")  # setproctitle, where it is installed, gives them the second
    workers = [child for child in children if any(name in " ".join(child.cmdline()) for name in names)]
    assert len(workers) == 2
    os.kill(workers[0].pid, signal.SIGKILL)
    wait_for(kept, 9, client)
    client.kill()
    client.communicate()
    before = tasks_of(kept)
    assert len(set(before)) == len(before) >= 9
    again = campaign(disturbed, "--scheduler", "local", "-n", "2")
    printed, errors = again.communicate(timeout=120)
    assert again.returncode == 0, errors
    assert printed.count(b"conforms") == 2
    assert errors.splitlines()[0].startswith(b"dashboard: http://")
    assert len(errors.splitlines()) == 1  # no progress bar in a pipe
    assert alone.communicate(timeout=120)[1] == b""
    assert files_in(tmp_path / "alone") == files_in(disturbed)
    results = read(disturbed / "results.jsonl")
    assert (len(results.verdicts), len(results.certificates)) == (1, 2)


def test_the_files_are_those_of_check_and_certify(tmp_path, capsys):
    out, others = tmp_path / "campaign", tmp_path / "others"
    common = ["numpy", "--optimizer", "sgd", "--dtype", "bfloat16", "--seed", "3", "-n", "1", "--out"]
    share, effort = ["--blocks", "1"], ["--effort", "quick"]
    assert cli.main(["campaign", *common, str(out), "--do", "check", "--do", "certify", *share, *effort]) == 0
    printed = capsys.readouterr().out
    assert "1 conforms\n\nnumpy " in printed
    assert printed.endswith(f"\n\nwritten: {out}\n")
    assert cli.main(["campaign", *common, str(tmp_path / "checked"), "--do", "check", *effort]) == 0
    assert "\n\n\n" not in capsys.readouterr().out
    assert cli.main(["check", *common, str(others), *effort]) == 0
    assert cli.main(["certify", *common, str(others), *share]) == 0
    assert files_in(out) == files_in(others)


def test_a_target_that_does_not_offer_or_keeps_no_protocol_is_reported_alike(tmp_path, monkeypatch, capsys):
    (tmp_path / "partly.py").write_text(
        "from optimetry.conformance.targets.numpy.target import NumpyTarget\n"
        "class Partly(NumpyTarget):\n"
        "    def unsupported(self, optimizer, hyper, dtype):\n"
        "        return 'no momentum' if optimizer == 'momentum' else None\n"
        "    def start(self, optimizer, hyper, parameters):\n"
        "        raise RuntimeError('broken')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    common = ["partly:Partly", "--optimizer", "sgd", "--optimizer", "momentum", "--dtype", "float16"]
    common += ["--blocks", "2", "-n", "1", "--out"]
    assert cli.main(["campaign", *common, "a", "--do", "certify"]) == 1
    printed = capsys.readouterr().out
    assert cli.main(["certify", *common, "b"]) == 1
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")
    assert "not offered: momentum float16 (engine default): no momentum" in printed
    assert cli.main(["campaign", *common, "c", "--do", "worst", "--starts", "2"]) == 0
    lines = [json.loads(line) for line in (tmp_path / "c" / "worst-cases.jsonl").read_text().splitlines()]
    assert [line.get("reason", "nothing") for line in lines] == ["raised RuntimeError: broken (partly.py:6)", "nothing"]


def test_a_task_is_kept_once_in_whatever_order_and_read_in_the_defined_one(tmp_path):
    path, run = tmp_path / FILE, {"seed": 0}
    with closing(Finished(path, run, PLAN)) as kept:
        assert [kept.take()[0] for _ in range(6)] == [0, 1, 2, 3, 4, 5]
        assert kept.take() is None
        assert [kept.add(number, [worst(number / 8)]) for number in (4, 0, 4, 1)] == [True, True, False, True]
    path.write_bytes(path.read_bytes() + b'{"task": 2, "findi')  # cut off by kill -9
    with closing(Finished(path, run, PLAN)) as kept:
        assert kept.count == 3
        assert [kept.take()[0] for _ in range(3)] == [2, 3, 5]
        for number in (5, 3, 2):
            kept.add(number, [worst(number / 8)])
        assert [fields["share"] for (fields,) in kept.in_order()] == [number / 8 for number in range(6)]
        assert tasks_of(path) == [4, 0, 1, 5, 3, 2]
        kept.end()
    assert not path.exists()


def test_what_is_begun_stays_within_the_window_whatever_lags_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "WINDOW", 3)
    plan = CampaignPlan([SearchPart(WorstSearch(starts=10_000), "sgd", "float32", 0, "default")])
    with closing(Finished(tmp_path / FILE, {}, plan)) as kept:
        assert [kept.take()[0] for _ in range(3)] == [0, 1, 2]
        assert kept.take() is None
        kept.add(1, [worst(0.5)])
        assert kept.take() is None
        kept.add(0, [worst(0.5)])
        assert [kept.take()[0] for _ in range(2)] == [3, 4]
        assert kept.take() is None


@pytest.mark.parametrize(
    "line", ['{"task": 0, "findings": []}', '{"task": 6, "findings": []}', '{"task": 1}', "[]", "x"]
)
def test_a_file_that_no_campaign_has_written_is_refused(line, tmp_path):
    path = tmp_path / FILE
    with closing(Finished(path, {"seed": 0}, PLAN)) as kept:
        kept.add(0, [worst(0.5)])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ResultsError, match="line 3: not a line of unfinished campaigns"):
        Finished(path, {"seed": 0}, PLAN)
    with pytest.raises(UsageError, match=r"other settings \(seed 0\): finish or remove it"):
        Finished(path, {"seed": 1}, PLAN)


def test_findings_are_read_as_they_were_written():
    finding = WorstSearch(starts=1, generations=2).worst(NumpyTarget(), "sgd", "bfloat16")
    again = SearchPart.decoded(json.loads(json.dumps(encoded(finding))))
    assert (again.share, again.case.to_json(), again.beyond) == (finding.share, finding.case.to_json(), None)
    verdict = Verdict(optimizer="sgd", dtype="float32", verdict="error", reason="hung")
    assert CheckPart.decoded(json.loads(json.dumps(encoded(verdict)))) == verdict == verdict_of(encoded(verdict))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--out: must be given"),
        (["--out", "x", "--do", "bench"], "unknown --do 'bench', must be one of: check, certify, worst"),
        (["--out", "x", "--dtype", "float64"], "--do certify: --dtype must have one of: bfloat16, float16, float32"),
        (["--out", "x", "--optimizer", "lamb"], "--do certify: --optimizer must have a rule that treats elements"),
        (["--out", "x", "--do", "worst", "--optimizer", "l2_decay"], "--do worst: --optimizer must have a rule that"),
        (["--out", "x", "--scheduler", "tcp://h:1", "-n", "2"], "-n 2: must be left out, the cluster at tcp://h:1"),
        (["--out", "x", "--starts", "0"], "--starts = '0', must be a whole number of at least 1"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_written(options, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["campaign", "numpy", *options]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_dask_the_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert cli.main(["campaign", "numpy", "--scheduler", "local", "--out", str(tmp_path)]) == 2
    assert "pip install -e 'path/to/optimetry[cluster]'; or use --scheduler none" in capsys.readouterr().err


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, capsys):
    pytest.importorskip("distributed", reason="Dask is not installed")
    assert cli.main(["campaign", "numpy", "--scheduler", "nowhere", "--out", str(tmp_path)]) == 2
    assert "must be `none`, `local`, or an address such as tcp://host:8786" in capsys.readouterr().err
