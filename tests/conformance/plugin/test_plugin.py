import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from optimetry.conformance import parametrize_with_checks
from optimetry.conformance.commands.files.ledger import read
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.plugin.checks import Judging, Nonconformity
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetError, UsageError
from tests.conformance.judged import dialect_named

pytest_plugins = ["pytester"]

SUITE = ("--pyargs", "optimetry.conformance.suite")
QUICK = ("--optimizer-rule", "sgd", "--optimizer-dtype", "float32")
TEST = "test_engine_computes_the_documented_rule"
DRAWN = "test_engine_computes_it_on_cases_that_hypothesis_draws"
FRAMEWORK_MODULES = {row.module for row in FRAMEWORKS.values()}
HEAVY = {"numpy", "ml_dtypes", "hypothesis.strategies", "jsonschema", "tabulate", "tqdm"} | FRAMEWORK_MODULES


@pytest.fixture
def suite(pytester, monkeypatch):
    """Run pytest on the suite in this process, the miniatures within reach, of workers too."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=":")
    monkeypatch.syspath_prepend(Path(__file__).parents[1])

    def ran(*arguments, paths=SUITE):
        return pytester.runpytest_inprocess(*paths, "-p", "no:cacheprovider", *arguments)

    return ran


def test_a_conforming_target_passes_under_readable_ids(suite):
    result = suite("--optimizer-target", "miniatures:Correct", *QUICK, "-v")
    result.assert_outcomes(passed=2)
    ids = [f"*::{test}?sgd-float32-default?*" for test in (TEST, DRAWN)]
    result.stdout.fnmatch_lines(["optimetry: miniature 1.0, effort quick, seed 0", *ids])


def test_the_page_of_continuous_integration_lists_every_option(pytestconfig):
    page = (Path(__file__).parents[3] / "docs" / "ci.md").read_text(encoding="utf-8")
    options = {name for name in vars(pytestconfig.option) if name.startswith("optimizer_")}
    assert options == {name.replace("-", "_") for name in re.findall(r"^\| `--(optimizer-\w+) ", page, re.MULTILINE)}


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_session_that_judges_nothing_fails(suite, pytester, workers):
    """A wrong dtype is no conformance; a ledger says that it is meant."""
    pytester.makepyfile(
        empty="""
        class Empty:
            name, version = "empty", "1.0"
            def unsupported(self, optimizer, hyper, dtype): return "not yet"
            def start(self, optimizer, hyper, parameters): raise NotImplementedError
        """
    )
    asked = ("--optimizer-target", "empty:Empty", *QUICK, *workers)
    result = suite(*asked)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["optimetry: nothing was judged, every check was skipped: not yet"])
    ledger = pytester.path / "ledger.txt"
    ledger.touch()
    assert suite(*asked, "--optimizer-expect", str(ledger)).ret == pytest.ExitCode.OK


def test_unsupported_engines_are_skipped_with_the_reason(suite):
    result = suite("--optimizer-target", "miniatures:TwoEngines", *QUICK, "-rs")
    result.assert_outcomes(passed=2, skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED*not fast yet"])


@pytest.mark.parametrize(("gain", "outcomes"), [("1-decay", {"passed": 2}), ("decay", {"failed": 2})])
def test_a_class_is_judged_as_the_rule_that_is_asked_for(suite, gain, outcomes):
    asked = ("numpy:classes_for_numpy.OfGains", "--optimizer-rule", "decayed_adagrad", *QUICK[2:])
    result = suite("--optimizer-target", *asked, "--optimizer-with", f"gain={gain}")
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines([f"optimetry: decayed_adagrad: lr = learning_rate, *gain = {gain}*"])


def test_a_failure_shows_reason_share_and_script(suite):
    result = suite("--optimizer-target", "miniatures:Uphill", *QUICK)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["*miniature 1.0, engine default: sgd in float32: diverges", "*reason: *", "*share: beyond any bound, ULP: *"]
    )
    result.stdout.fnmatch_lines(["*import numpy as np"])
    assert "examine.py" not in result.stdout.str()


def test_k_selects_and_x_stops(suite):
    rules = ("--optimizer-rule", "sgd", "--optimizer-rule", "adagrad")
    result = suite("--optimizer-target", "miniatures:Correct", *rules, "-k", "adagrad and float64")
    result.assert_outcomes(passed=2, deselected=6)
    result = suite("--optimizer-target", "miniatures:Raises", *rules, "-x")
    result.assert_outcomes(failed=1)


def test_workers_of_xdist_collect_the_same_and_share_a_random_seed(suite, pytester):
    """One test for each of two workers."""
    rules = ("--optimizer-rule", "sgd", "--optimizer-rule", "adagrad", "--optimizer-dtype", "float32", "-k", TEST)
    options = ("-p", "no:cacheprovider", "-n", "2", "--optimizer-seed", "random")
    result = pytester.runpytest_subprocess(*SUITE, "--optimizer-target", "miniatures:Raises", *rules, *options)
    result.assert_outcomes(failed=2)
    seeds = [line.rsplit("seed: ")[-1] for line in result.outlines if "seed: " in line]
    assert len(seeds) >= 2
    assert len(set(seeds)) == 1


def test_junitxml_names_every_check(suite, pytester):
    suite("--optimizer-target", "miniatures:TwoEngines", *QUICK, "--junitxml=junit.xml")
    cases = ET.parse(pytester.path / "junit.xml").findall(".//testcase")
    assert [case.get("name") for case in cases] == [
        f"{test}[sgd-float32-{engine}]" for test in (TEST, DRAWN) for engine in ("plain", "fast")
    ]


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_without_a_target_the_suite_is_wrong_usage(suite, options):
    result = suite(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: optimetry: no target to judge: add --optimizer-target*"])


def test_without_a_target_the_suite_by_path_is_wrong_usage(suite):
    import optimetry.conformance.suite

    (folder,) = optimetry.conformance.suite.__path__
    assert suite(paths=(folder, "-c", "/dev/null")).ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--optimizer-target", "trch"), "unknown target 'trch'"),
        (("--optimizer-target", "miniatures:NoStart"), "lacks start"),
        (("--optimizer-target", "numpy:classes_for_numpy.OfLists"), "needs the rule that it stands for: --as, in"),
        (("--optimizer-target", "numpy", "--optimizer-with", "eps=1"), "--optimizer-with eps=1: is for one class"),
        (("--optimizer-target", "numpy", "--optimizer-rule", "adm"), "unknown optimizer 'adm'"),
        (("--optimizer-target", "numpy", "--optimizer-dtype", "int8"), "unknown dtype 'int8'"),
        (("--optimizer-target", "numpy", "--optimizer-effort", "huge"), "unknown effort 'huge'"),
        (("--optimizer-target", "numpy", "--optimizer-seed", "x"), "--optimizer-seed = 'x'"),
        (("--optimizer-target", "numpy", "--optimizer-expect", "none.txt"), "none.txt: No such file"),
    ],
)
def test_wrong_options_are_wrong_usage(suite, options, expected):
    result = suite(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{expected}*"])


def test_other_tests_run_as_ever_and_nothing_heavy_is_imported(pytester):
    pytester.makepyfile(f"""
        import sys

        def test_mine():
            assert "optimetry.conformance.plugin.pytest_plugin" in sys.modules
            assert not {HEAVY!r} & set(sys.modules)
    """)
    pytester.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_importing_the_plugin_imports_nothing_heavy():
    code = f"import sys, optimetry.conformance.plugin.pytest_plugin; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_the_decorator_serves_a_test_file_of_ones_own(suite, pytester):
    pytester.makepyfile("""
        from miniatures import Correct, TwoEngines, Uphill
        from optimetry.conformance import parametrize_with_checks

        @parametrize_with_checks(TwoEngines(), optimizers=["sgd"])
        def test_engines(check):
            check()

        @parametrize_with_checks(Uphill, optimizers=["sgd"], dtypes=["float32"])
        def test_wrong(check):
            check()
    """)
    result = suite("-v", "--strict-markers", paths=())
    result.assert_outcomes(passed=2, skipped=2, failed=1)
    result.stdout.fnmatch_lines(["*::test_engines?sgd-float64-fast? SKIPPED*"])


EXPECTED = "# known\nsgd float32 diverges the wrong sign\n"
"""A ledger that lists what `Uphill` computes."""


@pytest.mark.parametrize("place", ["option", "ini"])
def test_what_a_ledger_expects_is_no_failure(suite, pytester, place):
    pytester.makefile(".txt", expected=EXPECTED)
    option = ("--optimizer-expect", "expected.txt") if place == "option" else ()
    if place == "ini":
        pytester.makeini("[pytest]\noptimizer_expect = expected.txt")
    result = suite("--optimizer-target", "miniatures:Uphill", *QUICK, *option, "-rx", "--rootdir", ".")
    result.assert_outcomes(xfailed=2)
    result.stdout.fnmatch_lines(["optimetry: miniature 1.0*expected verdicts in *expected.txt"])
    result.stdout.fnmatch_lines(["XFAIL*diverges*, expected by *expected.txt, line 2: the wrong sign"])


def test_a_stale_line_of_a_ledger_fails(suite, pytester):
    """Of the two checks, the one of the verdict; cases that Hypothesis draws conform as before."""
    pytester.makefile(".txt", expected=EXPECTED)
    result = suite("--optimizer-target", "miniatures:Correct", *QUICK, "--optimizer-expect", "expected.txt")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*stale: *expected.txt, line 2: expects sgd float32 diverges, but the verdict is co*"])


def listing(tmp_path, judging, text):
    """The judging, with a ledger of that text."""
    ledger = tmp_path / "expected.txt"
    ledger.write_text(text)
    return replace(judging, ledger=read(ledger, list(SUBJECTS), list(FORMATS)))


def test_another_verdict_than_the_ledger_expects_fails(tmp_path):
    """The name of a dialect counts."""
    judging = Judging.of(computing(dialect_named("adam", "scaled_epsilon")), ["adam"], ["float32"], "quick", 0)
    for entries in ("", "adam float32 dialect:epsilon_inside why\n", "adam float64 error why\n"):
        (check,) = listing(tmp_path, judging, entries).checks
        with pytest.raises(Nonconformity, match=r"not in .*expected\.txt") as caught:
            check()
        assert ("stale: " in str(caught.value)) == ("epsilon_inside" in entries)
    (check,) = listing(tmp_path, judging, "adam * dialect:scaled_epsilon why\n").checks
    with pytest.raises(pytest.xfail.Exception, match="dialect:scaled_epsilon, expected by"):
        check()


@pytest.mark.usefixtures("miniatures")
def test_a_line_about_what_is_no_longer_offered_fails(tmp_path):
    class Refuses(NumpyTarget):
        def unsupported(self, optimizer, hyper, dtype):
            return "no more"

    ledger = tmp_path / "expected.txt"
    ledger.write_text("adam * diverges why\n")
    (check,) = Judging.of(Refuses(), ["adam"], ["float32"], "quick", 0, ledger).checks
    with pytest.raises(Nonconformity, match="but the verdict is unsupported"):
        check()


def test_the_decorator_takes_a_ledger(suite, pytester):
    pytester.makefile(".txt", expected="sgd float32 error no luck\n")
    pytester.makepyfile("""
        from pathlib import Path
        from miniatures import Correct, Raises
        from optimetry.conformance import parametrize_with_checks

        LEDGER = Path(__file__).with_name("expected.txt")

        @parametrize_with_checks(Raises(), optimizers=["sgd"], expect=LEDGER)
        def test_known(check):
            check()

        @parametrize_with_checks(Correct(), optimizers=["sgd"], dtypes=["float32"], expect=LEDGER)
        def test_stale(check):
            check()
    """)
    suite(paths=()).assert_outcomes(xfailed=1, failed=2)


@pytest.mark.usefixtures("miniatures")
def test_the_decorator_refuses_what_it_cannot_judge():
    with pytest.raises(UsageError, match="unknown optimizer 'adm'"):
        parametrize_with_checks("numpy", optimizers=["adm"])
    with pytest.raises(UsageError, match="dtypes is empty: nothing would be checked"):
        parametrize_with_checks("numpy", dtypes=[])
    with pytest.raises(UsageError, match="optimizers is empty: nothing would be checked"):
        parametrize_with_checks("numpy", optimizers=iter(()))
    with pytest.raises(UsageError, match="seed='random', must be a whole number"):
        parametrize_with_checks("numpy", seed="random")
    with pytest.raises(TargetError, match="lacks start"):
        parametrize_with_checks("miniatures:NoStart")


@pytest.mark.usefixtures("miniatures")
def test_engines_are_judged_once_and_together(monkeypatch):
    from optimetry.conformance.plugin import checks

    calls = []
    judge = checks.judge
    monkeypatch.setattr(
        checks, "judge", lambda *arguments, **named: calls.append(arguments) or judge(*arguments, **named)
    )
    for check in Judging.of("miniatures:TwoEngines", ["sgd"], ["float32"], "quick", 0).checks:
        try:
            check()
        except pytest.skip.Exception:
            assert check.engine == "fast"
    assert len(calls) == 1


@pytest.mark.usefixtures("miniatures")
def test_a_target_that_warns_is_not_at_fault_where_warnings_are_errors():
    (check,) = Judging.of("miniatures:Shouts", ["sgd"], ["float32"], "quick", 0).checks
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check()


@pytest.mark.usefixtures("miniatures")
def test_nonconformity_is_an_assertion():
    (check,) = Judging.of("miniatures:Uphill", ["sgd"], ["float32"], "quick", 0).checks
    with pytest.raises(Nonconformity, match="diverges") as caught:
        check()
    assert isinstance(caught.value, AssertionError)
