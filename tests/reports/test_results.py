import dataclasses
import json

import jsonschema
import pytest

from optimetry.reports.accuracy import Accuracy
from optimetry.reports.certificate import Certificate
from optimetry.reports.results import Footer, Header, ResultsError, Verdict, Writer, line, read
from optimetry.reports.schema import schema
from optimetry.reports.speed import Speed
from tests.reports.written import ABSENT, BAD, GOOD, HEADER, refusal

PART = {"rule": "documented", "where": None, "given": None}
CLIPPED = {"finding": "clipped", "limits": "±1"}
COMPUTES = {"rule": None, "formula": None, "found": False, "arithmetic": [], "same_as": []}


def changed(path, number, **fields):
    """Rewrite one line with other fields; None removes one."""
    lines = path.read_text().splitlines()
    record = json.loads(lines[number - 1]) | fields
    lines[number - 1] = json.dumps({name: value for name, value in record.items() if value != "removed"})
    path.write_text("\n".join(lines) + "\n")


def test_what_was_written_is_read(path):
    results = read(path)
    assert results.header == HEADER
    assert results.verdicts == [GOOD, BAD, ABSENT]


def test_a_verdict_line_has_the_documented_fields_in_their_order():
    documented = (
        "kind book optimizer dtype verdict computes dialect law share ulp vacuous cases engine reason untried "
        "counterexample"
    )
    assert " ".join(json.loads(line(GOOD))) == documented
    assert " ".join(json.loads(line(BAD))["computes"]) == "rule formula found arithmetic parts same_as"


def test_every_line_keeps_the_schema(path):
    for text in path.read_text().splitlines():
        jsonschema.validate(json.loads(text), schema())


def test_the_schema_is_itself_valid_and_knows_every_field():
    jsonschema.Draft202012Validator.check_schema(schema())
    for kind, record in {
        "header": Header,
        "verdict": Verdict,
        "accuracy": Accuracy,
        "speed": Speed,
        "certificate": Certificate,
        "footer": Footer,
    }.items():
        named = {field.name for field in dataclasses.fields(record)}
        assert named == set(schema()["$defs"][kind]["properties"])
        optional = {Verdict: {"untried"}, Speed: {"threads"}}.get(record, set())  # not in files of older versions
        assert named - optional == set(schema()["$defs"][kind]["required"])


def test_a_verdict_line_of_before_says_nothing_of_what_was_not_tried(path):
    changed(path, 2, untried="removed")
    assert read(path).verdicts[0].untried == []
    changed(path, 3, untried=["missing gradients"])
    assert read(path).verdicts[1].untried == ["missing gradients"]


def test_the_footer_counts(path):
    assert json.loads(path.read_text().splitlines()[-1]) == {
        "kind": "footer",
        "verdicts": 3,
        "counts": {"conforms": 1, "imprecise": 0, "dialect": 1, "diverges": 0, "unsupported": 1, "error": 0},
    }


def test_a_number_that_json_does_not_have_is_never_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        line(dataclasses.replace(GOOD, share=float("inf")))


def test_lines_can_be_followed_while_the_run_goes_on(tmp_path):
    path = tmp_path / "results.jsonl"
    with Writer(path, HEADER) as writer:
        writer.write(GOOD)
        assert path.read_text().splitlines() == [line(HEADER), line(GOOD)]


def test_a_run_that_fails_leaves_no_footer(tmp_path):
    path = tmp_path / "results.jsonl"

    def interrupted():
        with Writer(path, HEADER) as writer:
            writer.write(GOOD)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "unfinished" in refusal(path)
    assert "no footer after 1 verdicts" in refusal(path)


@pytest.mark.parametrize("cut", [5, 60, 400])
def test_a_file_cut_off_anywhere_is_unfinished(path, cut):
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    assert "unfinished" in refusal(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello\n", b"[1, 2]\n", b'{"kind": "verdict"}\n', b'{"kind": "header", "tool": "x"}\n', b"\x89PNG\r\n\xff"],
)
def test_a_foreign_file_is_refused(path, content):
    path.write_bytes(content)
    assert "not a results file of optimetry" in refusal(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert refusal(tmp_path / "absent.jsonl") == ": No such file or directory"
    assert refusal(tmp_path) == ": Is a directory"


def test_another_schema_version_is_refused(path):
    changed(path, 1, schema=3, optimetry="9.0", surprise=1)
    assert "written by optimetry 9.0 in schema version 3, must be 1 or 2" in refusal(path)


@pytest.mark.parametrize(
    ("number", "fields", "expected"),
    [
        (1, {"seed": "seven"}, "not a header line: seed: 'seven' is not of type 'integer'"),
        (3, {"verdict": "fine"}, "not a verdict line: verdict: 'fine' is not one of"),
        (3, {"share": -1.0}, "not a verdict line: share: -1.0 is less than the minimum of 0"),
        (3, {"cases": "removed"}, "not a verdict line: 'cases' is a required property"),
        (3, {"surprise": 1}, "'surprise' was unexpected"),
        (3, {"kind": []}, "not a verdict line: kind: "),
        (
            3,
            {"computes": {**COMPUTES, "parts": [{**PART, "run": {"finding": "held", "what": "m"}}]}},
            "not a verdict line: a part that is 'held' lacks format",
        ),
        (
            3,
            {"computes": {**COMPUTES, "parts": [{**PART, "run": {**CLIPPED, "also": [{"finding": "scheduled"}]}}]}},
            "not a verdict line: a part that is 'scheduled' lacks factor",
        ),
        (
            3,
            {"computes": {**COMPUTES, "parts": [{**PART, "run": {**CLIPPED, "also": [{"finding": "guesses"}]}}]}},
            "computes.parts[0].run.also[0].finding: 'guesses' is not one of",
        ),
        (3, {"kind": "other"}, "not a verdict line: kind: 'verdict' was expected"),
        (3, {"counterexample": {"case": "{}"}}, "counterexample: 'script' is a required property"),
        (3, {"computes": {"rule": "x"}}, "computes: 'formula' is a required property"),
        (
            3,
            {"computes": {"rule": None, "formula": None, "found": False, "arithmetic": ["guesses"]}},
            "computes.arithmetic[0]: 'guesses' is not valid under any of the given schemas",
        ),
        (5, {"verdicts": 4}, "the footer counts 4 verdicts"),
        (
            5,
            {"counts": {"conforms": 2, "imprecise": 0, "dialect": 0, "diverges": 0, "unsupported": 1, "error": 0}},
            "the footer counts 3 verdicts",
        ),
    ],
)
def test_a_line_that_breaks_the_schema_is_named_with_its_number(path, number, fields, expected):
    changed(path, number, **fields)
    assert refusal(path).startswith(f", line {number}: ")
    assert expected in refusal(path)


@pytest.mark.parametrize("number", [3, 5])
@pytest.mark.parametrize("broken", ["{", "NaN", '{"kind": "verdict", "share": NaN}', ""])
def test_a_broken_line_is_named_with_its_number(path, broken, number):
    """The last one, too: a line that ends was not cut off."""
    lines = path.read_text().splitlines()
    lines[number - 1] = broken
    path.write_text("\n".join(lines) + "\n")
    assert refusal(path) == f", line {number}: not a JSON object"


def test_a_line_that_is_nested_too_deep_for_a_reader_is_named(path):
    lines = path.read_text().splitlines()
    lines[2] = "[" * 100_000
    path.write_text("\n".join(lines) + "\n")
    assert refusal(path) == ", line 3: not a JSON object"


def test_a_footer_of_schema_1_without_counts_is_refused(path):
    changed(path, 1, schema=1)
    changed(path, 5, counts=[1])
    assert ", line 5: not a footer line: counts: [1] is not of type 'object'" in refusal(path)


def test_nothing_may_follow_the_footer(path):
    path.write_text(path.read_text() + line(GOOD) + "\n")
    assert ", line 6: text after the footer" in refusal(path)


def test_a_line_ends_where_its_file_ends_it_and_at_no_other_separator(path):
    """JSON allows U+2028 and others in a text, which Python's `str.splitlines` takes for the ends of lines."""
    lines = path.read_text().splitlines()
    apart = {**json.loads(lines[2]), "reason": "one\u2028two\x85three"}
    path.write_text("\n".join([*lines[:2], json.dumps(apart, ensure_ascii=False), *lines[3:]]) + "\n", "utf-8")
    assert read(path).verdicts[1].reason == "one\u2028two\x85three"


@pytest.mark.parametrize("content", ["[1, 2]", '{"kind": "header"', '["unfinished"'])
def test_an_unfinished_file_of_one_line_that_is_no_header_is_refused(path, content):
    path.write_text(content)
    with pytest.raises(ResultsError, match="not a results file of optimetry"):
        read(path, unfinished=True)
