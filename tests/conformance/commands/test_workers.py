import errno
import multiprocessing
import os
import subprocess
import sys
import time
from collections import deque
from unittest.mock import Mock

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.workers import jobs, pool, worker
from optimetry.conformance.commands.workers.jobs import Job, Task, work
from optimetry.conformance.commands.workers.launching import Launch
from optimetry.conformance.commands.workers.pool import Workers
from optimetry.conformance.judging.diagnose import Diagnosis
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetError

pytestmark = pytest.mark.usefixtures("miniatures")

FEW = Effort("few", 10, 1)
COMMAND = (sys.executable, "-m", "optimetry.conformance.harness.python_harness", "miniatures:Sleepy")
SGD, ADAM, ADAGRAD, DECAYED = (Job(name, ("float32",)) for name in ("sgd", "adam", "adagrad", "decayed_adagrad"))


def judged(name, jobs, count=1, time_limit=60.0):
    with Workers(Task(Launch(f"miniatures:{name}"), FEW, 0, time_limit), count) as pool:
        verdicts = list(pool.run(jobs))
    assert multiprocessing.active_children() == []
    return verdicts


def error_of(name, time_limit=60.0):
    ((verdict,),) = judged(name, [SGD], time_limit=time_limit)
    assert (verdict.verdict, verdict.optimizer, verdict.dtype) == ("error", "sgd", "float32")
    return verdict.reason


def test_the_target_is_known_before_the_first_verdict():
    with Workers(Task(Launch("miniatures:Correct"), FEW, 0)) as pool:
        assert (pool.loaded.name, pool.loaded.version) == ("miniature", "1.0")


def test_every_engine_has_a_verdict():
    ((plain, fast),) = judged("TwoEngines", [SGD])
    assert (plain.engine, plain.verdict) == ("plain", "conforms")
    assert (fast.engine, fast.verdict, fast.reason) == ("fast", "unsupported", "not fast yet")


def test_the_order_is_that_of_the_jobs_however_many_workers():
    jobs = [SGD, ADAGRAD, DECAYED]
    alone = judged("SlowAtFirst", jobs, count=1)
    together = judged("SlowAtFirst", jobs, count=3)
    assert [(verdict.optimizer, verdict.dtype) for (verdict,) in together] == [
        (job.optimizer, *job.dtypes) for job in jobs
    ]
    assert together == alone


@pytest.mark.parametrize(("name", "reason"), [("Exits", "ended with exit status 7"), ("Crashes", "killed by SIGSEGV")])
def test_a_process_that_dies_is_an_error_that_says_how(name, reason):
    assert reason in error_of(name)


def test_a_hanging_run_is_interrupted():
    assert error_of("Hangs", time_limit=0.3) == "hung: one run took longer than 0.3 s"


def test_a_run_that_no_signal_reaches_is_killed(monkeypatch):
    monkeypatch.setattr(worker, "GRACE", 2.0)
    assert error_of("HangsDeaf", time_limit=0.3) == "hung: one run took longer than 0.3 s"


@pytest.mark.usefixtures("miniatures")
@pytest.mark.parametrize("out", [(), ("--out", "out")])
def test_a_worker_that_does_not_start_is_no_folder_that_cannot_be_written(refused, monkeypatch, tmp_path, out):
    full = Mock(Pipe=Mock(side_effect=OSError(errno.EMFILE, "Too many open files")))
    monkeypatch.setattr(worker, "new_processes", Mock(side_effect=[worker.new_processes(), full]))
    monkeypatch.chdir(tmp_path)
    message = refused("check", "miniatures:Correct", "--optimizer", "sgd", "--effort", "quick", "-n", 2, *out)
    assert message == "optimetry: error: target miniatures:Correct: no worker starts: Too many open files\n"


def test_the_other_jobs_go_on_after_a_crash():
    crashed, good, after = judged("OnlySgdCrashes", [SGD, ADAM, SGD])
    assert [verdict.verdict for (verdict,) in (crashed, good, after)] == ["error", "conforms", "error"]


def test_a_target_that_cannot_be_loaded_is_refused():
    task = Task(Launch("miniatures:NoStart"), FEW, 0)
    with pytest.raises(TargetError, match="lacks start"), Workers(task):
        pass
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [("import os; os._exit(5)", "its process ended with exit status 5"), ("while True: pass", "hung: loading")],
)
def test_a_target_whose_import_kills_or_hangs_is_refused(tmp_path, monkeypatch, source, expected):
    (tmp_path / "import_fails.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(worker, "LOADING_LIMIT", 60.0 if "exit" in source else 1.0)
    with pytest.raises(TargetError, match=expected), Workers(Task(Launch("import_fails:Target"), FEW, 0)):
        pass
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("spec", ["miniatures:Correct", "miniatures:Missing"])
def test_a_worker_whose_parent_is_gone_ends_without_a_traceback(spec, capfd):
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(Task(Launch(spec), FEW, 0), theirs, dict(os.environ)))
    process.start()
    ours.close()
    theirs.close()
    process.join()
    assert (process.exitcode, capfd.readouterr().err) == (1, "")


def test_leaving_early_leaves_no_process_behind():
    """Neither one that waits nor one in the middle of a run."""
    with Workers(Task(Launch("miniatures:HangsDeaf"), FEW, 0), 2) as pool:
        findings = pool.run([SGD, ADAM, SGD])
        pool._employ(deque([(0, SGD), (1, ADAM)]).popleft)
        busy = multiprocessing.active_children()
        assert len(busy) == 2
        assert all(worker.job is not None for worker in pool._pool)
        del findings
    assert multiprocessing.active_children() == []
    for process in busy:
        with pytest.raises(ValueError, match="closed"):
            process.is_alive()


def test_a_job_that_takes_long_is_no_hang_while_its_runs_are_short(monkeypatch):
    """Every heartbeat gives the worker another time limit: a job of many runs may take longer than one run."""
    monkeypatch.setattr(worker, "GRACE", 0.5)
    with Workers(Task(Launch("miniatures:Sleepy"), Effort("few", 70, 0), 0, time_limit=2.0)) as pool:
        start = time.monotonic()
        ((verdict,),) = pool.run([SGD])
    assert time.monotonic() - start > 3.0, "the job must outlast the limit of a run for this test to mean anything"
    assert (verdict.verdict, verdict.reason) == ("conforms", "")


@pytest.mark.parametrize(("command", "outcome"), [(COMMAND, "conforms"), (None, "error")])
def test_a_judge_that_takes_its_time_is_no_hang_of_a_program(monkeypatch, command, outcome):
    """A run beside the judge is killed when nothing was heard for the time of a run, here at once; a program is not."""
    monkeypatch.setattr(worker, "GRACE", -60.0)
    with Workers(Task(Launch("miniatures:Sleepy", command), Effort("few", 10, 0), 0, time_limit=60.0)) as pool:
        ((verdict,),) = pool.run([SGD])
    assert (verdict.verdict, verdict.reason.partition(":")[0]) == (outcome, "hung" if command is None else "")


def test_an_error_of_the_judge_itself_is_the_error_of_one_job(capfd):
    """That job says so; the others go on, and so does the same worker's successor."""
    broken, good = judged("BreaksTheJudge", [SGD, ADAGRAD])
    ((lost,), (kept,)) = broken, good
    assert (lost.verdict, lost.optimizer, lost.dtype) == ("error", "sgd", "float32")
    assert lost.reason == "optimetry itself failed, please report it: ZeroDivisionError: planted in the judge"
    assert (kept.verdict, kept.optimizer) == ("conforms", "adagrad")
    assert "Traceback" in capfd.readouterr().err


def test_a_job_of_some_engines_and_several_dtypes_has_them_in_order():
    job = Job("sgd", ("float64", "float32"), (1, 0))
    (verdicts,) = judged("TwoEngines", [job])
    assert [(x.dtype, x.engine) for x in verdicts] == [
        ("float64", "fast"),
        ("float64", "plain"),
        ("float32", "fast"),
        ("float32", "plain"),
    ]


def test_a_lost_job_has_an_error_for_each_dtype():
    (verdicts,) = judged("Exits", [Job("sgd", ("float64", "float32"))])
    assert [(x.dtype, x.verdict) for x in verdicts] == [("float64", "error"), ("float32", "error")]


def test_workers_diagnose_where_they_are_told_to():
    task = Task(Launch("miniatures:Crashes"), FEW, 0, diagnoses=True)
    with Workers(task) as pool:
        ((lost,),) = pool.run([SGD])
    assert isinstance(lost, Diagnosis)
    assert lost.verdict.reason == "its process was killed by SIGSEGV"
    assert lost.verdict.book == "fluid"


def test_a_lost_job_keeps_the_book_of_its_rule():
    ((lost,),) = judged("Exits", [Job("torch.adamw", ("float32",))])
    assert (lost.verdict, lost.book, lost.optimizer) == ("error", "torch", "torch.adamw")


def test_idle_processes_are_not_started(tmp_path, monkeypatch):
    monkeypatch.setenv("LOADS", str(tmp_path))
    judged("CountsLoads", [SGD], count=3)
    assert len(list(tmp_path.iterdir())) == 1


def test_the_parent_does_not_load_the_target(tmp_path, monkeypatch):
    (tmp_path / "loaded_by_workers.py").write_text("from miniatures import Correct\n")
    monkeypatch.syspath_prepend(tmp_path)
    with Workers(Task(Launch("loaded_by_workers:Correct"), FEW, 0)) as pool:
        assert pool.loaded.name == "miniature"
    assert "loaded_by_workers" not in sys.modules


def test_threads_are_few_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with worker.inherited():
        assert os.environ["OMP_NUM_THREADS"] == "3"
        assert os.environ["MKL_NUM_THREADS"] == "1"
    assert "MKL_NUM_THREADS" not in os.environ


def test_what_a_target_prints_and_warns_is_kept_off_our_output():
    """In a process of its own: a worker's standard error is that of the process it is forked from."""
    code = "from optimetry.conformance.commands.cli import main; main()"
    asked = ("check", "miniatures:Shouts", "--beside", "--optimizer", "sgd", "--dtype", "float32", "--effort", "quick")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code, *asked]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert "conforms" in done.stdout
    assert "noise" not in done.stdout
    assert "noise of a target" in done.stderr, "printed, and no part of our output"
    assert "Warning" not in done.stderr


def test_a_worker_has_the_variables_of_its_parent_when_it_is_started(tmp_path, monkeypatch):
    """Whatever those were when the process was started that it is forked from."""
    for name in ("first", "second"):
        monkeypatch.setenv("LOADS", str(tmp_path / name))
        (tmp_path / name).mkdir()
        judged("CountsLoads", [SGD])
        assert len(list((tmp_path / name).iterdir())) == 1
    monkeypatch.delenv("LOADS")
    with pytest.raises(TargetError, match="LOADS"):
        judged("CountsLoads", [SGD])


def test_a_process_that_workers_are_forked_from_has_imported_no_framework():
    """Nor anything else that a target may want to import first."""
    process = subprocess.run(
        [sys.executable, "-c", f"import sys, {jobs.__name__}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {row.module for row in FRAMEWORKS.values()}.isdisjoint(process.stdout.split())


def test_waiting_costs_no_processor_time(monkeypatch):
    """The parent blocks until a message or the next deadline: it does not look again and again."""
    waits = []
    blocking = pool.wait
    monkeypatch.setattr(pool, "wait", lambda pipes, timeout: waits.append(timeout) or blocking(pipes, timeout))
    error_of("Hangs", time_limit=1.0)
    assert 1 <= len(waits) <= 20, "once for each message, of which a run that hangs sends few"
    assert all(0 < timeout <= worker.LOADING_LIMIT for timeout in waits)
