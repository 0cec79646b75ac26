"""What a continuous-integration service is given of a check."""

from dataclasses import replace
from xml.etree import ElementTree as ET

from optimetry.conformance.commands.ci import annotated, annotation, junit, summary
from optimetry.conformance.commands.files.ledger import Ledger, LedgerEntry
from optimetry.reports.results import Header, Results, Verdict

HEADER = Header(
    optimetry="0.1.0",
    target="mine",
    target_version="1.0",
    platform="Linux",
    dtypes=["float32"],
    optimizers=["adam", "sgd"],
    seed=0,
    effort="quick",
)
STRANGE = "<b>\x1b[31m]]> & \ud800 \x00"
VERDICTS = [
    Verdict(optimizer="sgd", dtype="float32", verdict="conforms"),
    Verdict(
        optimizer="adam",
        dtype="float32",
        verdict="diverges",
        law="rest",
        reason=STRANGE,
        counterexample={"script": "print(1 < 2)", "case": "{}"},
    ),
    Verdict(optimizer="ftrl", dtype="float32", verdict="unsupported", reason="no class"),
]


def test_an_annotation_is_one_line():
    text = annotation("100 %\nof it", title="a:b,c")
    assert text == "::error title=a%3Ab%2Cc::100 %25%0Aof it"


def test_junit_is_xml_whatever_a_target_says():
    results = Results(HEADER, VERDICTS)
    suite = ET.fromstring(junit(results, Ledger().balance(VERDICTS)))
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped", "errors")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
        "errors": "0",
    }
    (failure,) = suite.findall("testcase/failure")
    assert failure.get("message") == "diverges:rest"
    assert failure.text == "<b>?[31m]]> & ? ?\n\ncounterexample:\nprint(1 < 2)"


def test_what_is_expected_passes_and_says_what_it_is():
    known = Ledger(entries=[LedgerEntry("adam", "*", "diverges", "rest", "known", 1)])
    balance = known.balance(VERDICTS)
    suite = ET.fromstring(junit(Results(HEADER, VERDICTS), balance))
    assert [out.text for out in suite.findall("testcase/system-out")] == ["expected: diverges:rest"]
    assert suite.find("testcase/failure") is None
    assert list(annotated(balance, None)) == []


def test_a_summary_names_what_is_unexpected_and_leaves_out_what_is_not_offered():
    text = summary(Results(HEADER, VERDICTS), Ledger().balance(VERDICTS))
    assert "- unexpected: `adam` float32 (engine default): **diverges:rest**" in text
    assert "ftrl" not in text


def test_a_file_that_cannot_be_written_is_named(refused, tmp_path):
    assert "is a folder, must be a file" in refused("check", "numpy", "--junit", tmp_path)
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "junit.xml"
    assert f"--junit {below.parent}: {below.parent} is a file, must be a folder" in refused(
        "check", "miniatures:Correct", "--junit", below
    )


def test_junit_is_xml_whatever_a_target_and_an_engine_are_called():
    named = Results(replace(HEADER, target=STRANGE), [replace(VERDICTS[0], engine=STRANGE)])
    (case,) = ET.fromstring(junit(named, Ledger().balance(named.verdicts))).findall("testcase")
    assert (case.get("classname"), case.get("name")) == ("<b>?[31m]]> & ? ?.sgd", "float32 <b>?[31m]]> & ? ?")
