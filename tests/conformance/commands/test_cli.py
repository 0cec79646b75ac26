import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from optimetry.conformance.commands.checking import diagnosing
from optimetry.conformance.commands.cli import COMMANDS, parser, split
from optimetry.conformance.commands.files.results_folder import write
from optimetry.conformance.commands.workers.launching import launch_of
from optimetry.conformance.subjects.wrappers import WRAPPERS
from optimetry.conformance.targets.loading import builtin_names
from optimetry.reports.results import read

pytestmark = pytest.mark.usefixtures("miniatures", "few_cases")

QUICK = ("--effort", "quick", "--optimizer", "sgd", "--dtype", "float32")


def test_a_conforming_target_is_status_0(optimetry):
    status, out, err = optimetry("check", "miniatures:Correct", *QUICK)
    assert (status, err) == (0, "")
    assert out.startswith("miniature 1.0. Judged by optimetry ")
    assert "effort quick, seed 0" in out
    assert out.endswith("\n1 verdict: 1 conforms\n\nminiature computes 1 rule as documented.\n")


def test_a_diverging_target_is_status_1_and_keeps_its_counterexample(optimetry, tmp_path):
    status, out, _ = optimetry("check", "miniatures:Uphill", *QUICK, "--out", tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert status == 1
    assert "1 verdict: 1 diverges" in out
    assert out.endswith("\nwhere and why: optimetry diagnose miniatures:Uphill --optimizer sgd --dtype float32\n")
    assert str(folder / "counterexamples") in out
    script = folder / "counterexamples" / "sgd-float32-default.py"
    assert {path.name for path in folder.iterdir()} == {"counterexamples", "results.jsonl", "table.md", "table.csv"}
    shown = subprocess.run([sys.executable, str(script)], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert "differ by more than rounding can explain" in shown.stdout


def test_a_script_is_mentioned_where_there_is_one(optimetry, tmp_path):
    for name, suffix in (("Uphill", "py"), ("Raises", "json")):
        _, out, _ = optimetry("check", f"miniatures:{name}", *QUICK, "--out", tmp_path / name)
        (file,) = (tmp_path / name / "counterexamples").iterdir()
        assert file.suffix == f".{suffix}"
        assert ("each .py needs NumPy alone" in " ".join(out.split())) == (suffix == "py")


def test_without_out_nothing_is_written_and_out_is_named(optimetry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, out, _ = optimetry("check", "miniatures:Uphill", *QUICK)
    assert "--out DIR" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Raises", "raised RuntimeError: out of luck"),
        ("RaisesAtStart", "raised RuntimeError: no start"),
        ("Hangs", "hung: one run took longer than 0.5 s"),
        ("Exits", "ended with exit status 7"),
        ("WrongShape", "of shape"),
        ("WrongDtype", "float16"),
        ("DropsLast", "returned"),
        ("ChangesInputs", "changed gradient 0"),
    ],
)
def test_a_misbehaving_target_is_an_error_with_its_reason(optimetry, name, reason):
    status, out, err = optimetry("check", f"miniatures:{name}", *QUICK, "--time-limit", "0.5")
    assert (status, err) == (1, "")
    assert "1 verdict: 1 error" in out
    assert reason in " ".join(out.split())


def test_nan_everywhere_does_not_conform_and_is_said_to_be_nan(optimetry):
    status, out, _ = optimetry("check", "miniatures:AllNaN", *QUICK)
    assert status == 1
    assert " diverges " in out
    assert re.search(r"returned NaN at step \d+, element \d+, where the documented formula gives -?\d", out)


def test_an_error_of_the_judge_itself_costs_one_verdict(optimetry, tmp_path):
    names = ("--optimizer", "sgd", "--optimizer", "adagrad", "--dtype", "float32", "--effort", "quick")
    status, out, _ = optimetry("check", "miniatures:BreaksTheJudge", *names, "-n", "1", "--beside", "--out", tmp_path)
    assert status == 1
    assert "optimetry itself failed, please report it: ZeroDivisionError: planted in the judge" in " ".join(out.split())
    assert [verdict.verdict for verdict in read(tmp_path / "results.jsonl").verdicts] == ["error", "conforms"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(optimetry, tmp_path):
    arguments = ("check", "miniatures:Uphill", *QUICK, "--dtype", "float64", "--seed", "5", "--out")
    optimetry(*arguments, tmp_path / "a", "-n", "1")
    optimetry(*arguments, tmp_path / "b", "-n", "2")
    for name in ("results.jsonl", "table.md", "table.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_random_seed_is_drawn_and_printed(optimetry, tmp_path):
    _, out, _ = optimetry("check", "miniatures:Correct", *QUICK, "--seed", "random", "--out", tmp_path)
    seed = read(tmp_path / "results.jsonl").header.seed
    assert seed != 0
    assert f"seed {seed}," in out


def test_names_are_judged_in_the_order_asked_and_once(optimetry, tmp_path):
    names = ("--optimizer", "sgd", "--optimizer", "adagrad", "--optimizer", "sgd", "--dtype", "float32")
    optimetry("check", "miniatures:Correct", "--effort", "quick", *names, "--out", tmp_path)
    results = read(tmp_path / "results.jsonl")
    assert results.header.optimizers == ["sgd", "adagrad"]
    assert [verdict.optimizer for verdict in results.verdicts] == ["sgd", "adagrad"]


def test_a_second_run_leaves_nothing_of_the_first(optimetry, tmp_path):
    optimetry("check", "miniatures:Uphill", *QUICK, "--out", tmp_path)
    (tmp_path / "counterexamples" / "notes.txt").write_text("mine")
    optimetry("check", "miniatures:Correct", *QUICK, "--out", tmp_path)
    assert [path.name for path in (tmp_path / "counterexamples").iterdir()] == ["notes.txt"]


def test_engines_are_rows(optimetry):
    status, out, _ = optimetry("check", "miniatures:TwoEngines", *QUICK)
    assert status == 0  # what is not offered fails nothing
    assert "\nunsupported in float32: sgd (fast): not fast yet\n" in out
    assert "2 verdicts: 1 conforms, 1 unsupported" in out


def test_a_run_in_which_nothing_was_judged_is_no_success_unless_a_ledger_knows_of_it(optimetry, tmp_path):
    asked = ("miniatures:OffersLittle", "--optimizer", "adam", "--dtype", "float64", "--effort", "quick")
    status, out, err = optimetry("check", *asked)
    assert status == 2
    assert "1 verdict: 1 unsupported" in out
    reason = "nothing was judged, every verdict is unsupported: adam: miniature offers float32 only"
    assert err == f"optimetry: error: {reason}\n"
    (tmp_path / "ledger.txt").write_text("# what is not offered needs no line\n")
    assert optimetry("check", *asked, "--expect", tmp_path / "ledger.txt")[0] == 0


def test_what_a_library_cannot_do_is_in_its_row_and_no_failure(optimetry):
    dtypes = ("--dtype", "float32", "--dtype", "float64")
    status, out, _ = optimetry("check", "miniatures:OffersLittle", "--effort", "quick", "--optimizer", "adam", *dtypes)
    assert status == 0
    assert "[1]  not tried: missing gradients, 0-d parameters, epsilon other than 1e-08" in out
    assert "\nunsupported in float64: adam: miniature offers float32 only\n" in out
    assert "2 verdicts: 1 conforms, 1 unsupported" in out
    status, out, _ = optimetry("diagnose", "miniatures:OffersLittle", "--optimizer", "adam", *dtypes)
    assert status == 0
    assert "not tried: missing gradients, 0-d parameters, epsilon other than 1e-08" in " ".join(out.split())


def test_engines_that_cannot_run_here_are_named_and_no_failure(optimetry):
    status, out, _ = optimetry("check", "miniatures:NeedsHardware", *QUICK)
    assert status == 0
    assert "1 verdict: 1 conforms\nengine cuda not run: no CUDA device\n" in out
    _, out, _ = optimetry("check", "miniatures:Correct", *QUICK)
    assert "not run" not in out


def test_wrappers_are_judged_when_they_are_named(optimetry):
    status, out, _ = optimetry("check", "numpy", "--optimizer", "l1_decay", *QUICK[:2], *QUICK[4:], "-n", "1")
    assert status == 0
    assert "l1_decay" in out
    assert "1 verdict: 1 conforms" in out


@pytest.mark.slow
def test_the_flag_adds_all_wrappers(optimetry):
    status, out, _ = optimetry("check", "numpy", "--wrappers", *QUICK, "-n", "1")
    assert status == 0
    assert all(name in out for name in ("sgd", *WRAPPERS))
    assert f"{1 + len(WRAPPERS)} verdicts" in out


def test_an_expected_verdict_is_status_0(optimetry, tmp_path):
    ledger = tmp_path / "expected.txt"
    ledger.write_text("sgd * diverges wrong sign\n")
    status, out, _ = optimetry("check", "miniatures:Uphill", *QUICK, "--expect", ledger)
    assert status == 0
    assert f"all that is offered conforms or is expected by {ledger}" in out


def test_a_verdict_that_is_not_expected_is_status_1_and_named(optimetry, tmp_path):
    ledger = tmp_path / "expected.txt"
    ledger.write_text("sgd float64 diverges another dtype\n")
    status, out, _ = optimetry("check", "miniatures:Uphill", *QUICK, "--expect", ledger)
    assert status == 1
    assert re.search(rf"unexpected: sgd float32 \(engine default\): diverges:\w+, not in {re.escape(str(ledger))}", out)
    assert "stale" not in out


def test_an_unexpected_pass_is_status_1(optimetry, tmp_path):
    ledger = tmp_path / "expected.txt"
    ledger.write_text("# known\nsgd float32 diverges wrong sign\n")
    status, out, _ = optimetry("check", "miniatures:Correct", *QUICK, "--expect", ledger)
    assert status == 1
    assert f"stale: {ledger}, line 2: expects sgd float32 diverges, but the verdict is conforms" in out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("check", "trch"), f"unknown target 'trch', must be one of: {', '.join(builtin_names())}, or your own as"),
        (("check", "miniatures:NoStart"), "it lacks start or start_wrapper (a method)"),
        (("check", "miniatures:SaysItWrongly"), "cannot: unknown word '0-d parameter', must be one of: missing "),
        (("check", "no.such:Target"), "no module 'no' in the current directory"),
        (("check", "numpy", "--optimizer", "adm"), "unknown optimizer 'adm', must be one of: adadelta"),
        (("check", "numpy", "--optimizer", "adm"), ", … (`optimetry rules` lists them); did you mean adam?"),
        (("check", "numpy", "--dtype", "float31"), "unknown dtype 'float31', must be one of: float16, bfloat16"),
        (("check", "numpy", "--effort", "huge"), "unknown effort 'huge', must be one of: quick, standard, thorough"),
        (("check", "numpy", "--seed", "-1"), "--seed = '-1', must be a whole number of at least 0 or `random`"),
        (("check", "numpy", "--search", "none"), "'none', must be a number of seconds of at least 0 or `off`"),
        (("check", "numpy", "--search", "-1"), "--search = '-1', must be a number of seconds of at least 0 or `off`"),
        (("check", "numpy", "--search", "nan"), "--search = 'nan', must be a number of seconds of at least 0 or `off`"),
        (("check", "numpy", "--seed", "1.5"), "--seed = '1.5'"),
        (("check", "numpy", "-n", "0"), "-n = '0', must be a whole number of at least 1"),
        (("check", "numpy", "-n", "two"), "-n = 'two'"),
        (("check", "numpy", "--time-limit", "nan"), "--time-limit = 'nan', must be a number of seconds above 0"),
        (("check", "numpy", "--time-limit", "0"), "--time-limit = '0'"),
        (("check", "numpy", "--expect", "absent.txt"), "absent.txt: No such file"),
        (("check", "numpy", "--junit", ""), "argument --junit: must not be empty (try `optimetry check --help`)"),
        (
            ("check",),
            "no TARGET, must be a built-in name (`optimetry targets`), or module:object; everything behind `--`",
        ),
        (("check", "--", "no-such-program"), "program = 'no-such-program': is not found, here or on the PATH"),
        (("check", "numpy", "--", "cat"), "target 'numpy': must be left out where a program is named behind `--`"),
        (("check", "--python", "python3", "--", "cat"), "--python = 'python3': is for TARGET"),
        (("check", "--with", "steps=100", "--", "cat"), "--with steps=100: is for TARGET and --as"),
        (("check", "numpy", "--python", "no-such-python"), "--python = 'no-such-python': is not found"),
        (("check", "numpy:a.B", "--as", "adam", "--as", "sgd"), "argument --as: adam and sgd: must be one rule"),
        (("check", "numpy", "--beside", "--memory-limit", "1G"), "--beside: must be left out with --memory-limit"),
        (("check", "numpy", "--beside", "--python", "python3"), "--beside: must be left out with --python"),
        (("check", "--beside", "--", "cat"), "--beside: must be left out with --, which"),
        (("check", "numpy", "--memory-limit", "1GB"), "--memory-limit = '1GB', must be a whole number with M"),
        (("check", "numpy", "--frobnicate"), "unrecognized arguments: --frobnicate (try `optimetry check --help`)"),
        (("check", "numpy", "--optimzer", "adam"), "--optimzer adam; did you mean --optimizer? (try `optimetry check"),
        (("chek", "numpy"), "unknown command 'chek', must be one of: check, diagnose, "),
        (("chek", "numpy"), "; did you mean check?\n"),
        ((), "the following arguments are required: COMMAND"),
        (("report",), "the following arguments are required: RESULTS"),
        (("report", "absent.jsonl"), "absent.jsonl: No such file"),
    ],
)
def test_wrong_usage_is_status_2_and_writes_nothing(refused, tmp_path, monkeypatch, arguments, expected):
    monkeypatch.chdir(tmp_path)
    out = ("--out", "out") if arguments[:1] in (("check",), ("report",)) and len(arguments) > 1 else ()
    assert expected in refused(*arguments, *out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("called", "built"), [("rules", ["rules"]), (None, list(COMMANDS))])
def test_a_command_that_is_called_is_the_only_one_built(called, built):
    (commands,) = (action for action in parser(called)._actions if isinstance(action, argparse._SubParsersAction))
    assert list(commands.choices) == built


def test_out_that_is_a_file_is_refused(refused, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "is a file, must be a folder" in refused("check", "numpy", "--out", tmp_path / "file")
    assert "is a file, must be a folder" in refused("check", "numpy", "--out", tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "mine"


def test_out_that_cannot_be_written_is_refused(refused, tmp_path):
    if os.geteuid() == 0:
        folder = Path("/proc/optimetry")  # not even root makes a folder there
    else:
        folder = tmp_path / "locked" / "out"
        folder.parent.mkdir(mode=0o500)
    assert f"--out {folder}: " in refused("check", "miniatures:Correct", *QUICK, "--out", folder)


def test_what_a_target_says_that_is_no_text_is_written_as_an_escape(tmp_path):
    write(tmp_path / "table.md", "raised \udce9")
    assert (tmp_path / "table.md").read_text() == r"raised \udce9"


def test_a_bad_ledger_is_refused_with_its_line(refused, tmp_path):
    (tmp_path / "expected.txt").write_text("adam float32 fine why\n")
    text = refused("check", "numpy", "--expect", tmp_path / "expected.txt", "--out", tmp_path / "out")
    assert "expected.txt, line 1: unknown verdict 'fine'" in text
    assert not (tmp_path / "out").exists()


def test_the_diagnosis_that_is_proposed_has_the_cases_of_the_check(optimetry):
    out = optimetry("check", "miniatures:Uphill", *QUICK, "--seed", "3")[1]
    assert out.endswith(" --optimizer sgd --dtype float32 --seed 3\n")


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["a b:C"], "optimetry diagnose 'a b:C' --optimizer adam"),
        (["torch", "--beside"], "optimetry diagnose torch --optimizer adam --beside"),
        (
            ["torch", "--python", sys.executable, "--memory-limit", "8G"],
            f"optimetry diagnose torch --optimizer adam --python {sys.executable} --memory-limit 8G",
        ),
        (["torch:a.B", "--as", "adam", "--with", "lr=1"], "optimetry diagnose torch:a.B --as adam --with lr=1"),
        (["--", "sh", "my harness.sh"], "optimetry diagnose --optimizer adam -- sh 'my harness.sh'"),
        (
            ["--memory-limit", "1G", "--", "sh", "x"],
            "optimetry diagnose --optimizer adam --memory-limit 1G -- sh x",
        ),
    ],
)
def test_the_command_that_says_more(words, command):
    """Of a target, run as before."""
    ours, program = split(["check", *words])
    options = parser().parse_args(ours)
    options.program = program
    assert diagnosing(launch_of(options), "adam") == command
