"""The command `optimetry diagnose`: how its work is shared out, what it prints and its exit status."""

from __future__ import annotations

import pytest

from optimetry.conformance.commands.cli import main
from optimetry.conformance.commands.diagnose import PROCESSES, in_order, shared_out
from optimetry.conformance.commands.text.found_text import found_text
from optimetry.conformance.judging.diagnose import Diagnosis, FoundFormula
from optimetry.reports.results import Verdict


def test_long_formulas_are_broken_at_the_same_place_and_marks_stay_below_what_differs() -> None:
    before, after = "w -= lr*m" + " + 1*g" * 12, "w -= lr*m" + " + 1*g" * 11 + " + 2*g"
    diagnosis = Diagnosis(
        Verdict(optimizer="adam", dtype="float32", verdict="dialect"),
        found=FoundFormula("documented", "1 -> 2", ((before, after),), cases=1, programs=1),
    )
    lines = list(found_text(diagnosis, 60))
    first, second = (line for line in lines if line.startswith("    found "))
    assert len(first) == 60
    marks = lines[lines.index(second) + 1]
    assert second[marks.index("^")] == "2"


@pytest.mark.parametrize("engines", [1, 2, 3, 7])
@pytest.mark.parametrize("dtypes", [("float32",), ("float32", "float64"), ("float64", "float16", "float32")])
def test_processes_share_out_all_there_is_and_no_engine_runs_in_two(engines: int, dtypes: tuple[str, ...]) -> None:
    jobs = shared_out("sgd", dtypes, engines)
    places = [(dtype, engine) for job in jobs for dtype in job.dtypes for engine in job.engines or ()]
    assert sorted(places) == sorted((dtype, engine) for dtype in dtypes for engine in range(engines))
    if engines > 1:
        assert len(jobs) == PROCESSES
        first, second = (set(job.engines or ()) for job in jobs)
        assert not first & second


def diagnosis(dtype: str, engine: str) -> Diagnosis:
    return Diagnosis(Verdict(optimizer="sgd", dtype=dtype, verdict="conforms", engine=engine))


def test_findings_are_put_in_the_order_of_dtypes_and_engines_and_a_lost_job_keeps_its_place() -> None:
    dtypes = ("float64", "float32")
    jobs = shared_out("sgd", dtypes, 3)
    diagnoses = [
        [diagnosis(dtype, str(engine)) for dtype in job.dtypes for engine in job.engines or ()] for job in jobs
    ]

    def order(findings: list[list[Diagnosis]]) -> list[tuple[str, str]]:
        return [(x.verdict.dtype, x.verdict.engine) for x in in_order(jobs, findings, dtypes)]

    assert order(diagnoses) == [(dtype, engine) for dtype in dtypes for engine in "012"]
    lost = [[diagnosis(dtype, "lost") for dtype in dtypes], diagnoses[1]]
    assert order(lost) == [(dtype, engine) for dtype in dtypes for engine in ("lost", "1")]


@pytest.mark.usefixtures("miniatures")
def test_engines_and_dtypes_are_reported_in_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "miniatures:TwoEngines", "--optimizer", "sgd"]) == 0
    out = capfd.readouterr().out
    assert "float32 and float64, engine plain: CONFORMS" in out
    assert out.index("float32 and float64, engine plain") < out.index("float32 and float64, engine fast: not offered")


@pytest.mark.usefixtures("miniatures")
def test_the_command_prints_a_report_and_says_by_its_status_whether_it_conforms(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["diagnose", "miniatures:Shouts", "--optimizer", "sgd", "--dtype", "float32"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("miniature 1.0: sgd\n\nfloat32: CONFORMS")
    assert "noise" not in out
    assert main(["diagnose", "miniatures:Uphill", "--optimizer", "sgd", "--dtype", "float32"]) == 1
    assert "DIVERGES" in capfd.readouterr().out
    assert main(["diagnose", "miniatures:Crashes", "--optimizer", "sgd", "--dtype", "float32"]) == 1
    assert "its process was killed by SIGSEGV" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["numpy"], "--optimizer"),
        (["numpy", "--optimizer", "adm"], "did you mean adam?"),
        (["numpy", "--optimizer", "sgd", "--optimizer", "adam"], "--optimizer adam: must be left out, one is "),
        (["numpy", "--optimizer", "adam", "--dtype", "float31"], "unknown dtype 'float31'"),
        (["numpy", "--optimizer", "adam", "--seed", "x"], "--seed = 'x'"),
        (["nupy", "--optimizer", "adam", "--dtype", "float32"], "unknown target 'nupy'"),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
