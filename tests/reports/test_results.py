import dataclasses
import json

import jsonschema
import pytest

from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.reports import results
from optimetry.reports.results import Computes, Footer, Header, ResultsError, Verdict, Writer, described, line, read

HEADER = Header(
    optimetry="0.1.0",
    target="torch",
    target_version="2.13.0",
    platform="Linux x86_64",
    dtypes=["float32"],
    optimizers=["adam", "sgd"],
    seed=7,
    effort="quick",
)
GOOD = Verdict(optimizer="sgd", dtype="float32", verdict="conforms", share=0.93, ulp=3, vacuous=0.01, cases=40)
BAD = Verdict(
    optimizer="adam",
    dtype="float32",
    verdict="dialect",
    computes=Computes("scaled_epsilon", "sqrt(v) + eps*sqrt(1-b2^t)", False, [{"float32": ["beta1"]}]),
    dialect="scaled_epsilon",
    law="rest",
    share=1.7976931348623157e308,
    ulp=2**62,
    cases=40,
    engine="fused",
    reason="epsilon is scaled: √(1 + β₂ᵗ)",
    counterexample={"case": "{}", "script": "print()\n", "step": 1},
)
ABSENT = Verdict(optimizer="ftrl", dtype="float32", verdict="unsupported", reason="no class")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "results.jsonl"
    with Writer(path, HEADER) as writer:
        for verdict in (GOOD, BAD, ABSENT):
            writer.write(verdict)
    return path


def refusal(path):
    with pytest.raises(ResultsError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def changed(path, number, **fields):
    """Rewrite one line with other fields; None removes one."""
    lines = path.read_text().splitlines()
    record = json.loads(lines[number - 1]) | fields
    lines[number - 1] = json.dumps({name: value for name, value in record.items() if value != "removed"})
    path.write_text("\n".join(lines) + "\n")


def test_what_was_written_is_read(path):
    found = read(path)
    assert found.header == HEADER
    assert found.verdicts == [GOOD, BAD, ABSENT]


def test_a_verdict_line_has_the_documented_fields_in_their_order():
    documented = (
        "kind book optimizer dtype verdict computes dialect law share ulp vacuous cases engine reason counterexample"
    )
    assert " ".join(json.loads(line(GOOD))) == documented
    assert " ".join(json.loads(line(BAD))["computes"]) == "rule formula found arithmetic"


def test_every_line_keeps_the_schema(path):
    for text in path.read_text().splitlines():
        jsonschema.validate(json.loads(text), results.schema())


def test_the_schema_is_itself_valid_and_knows_every_field():
    jsonschema.Draft202012Validator.check_schema(results.schema())
    for kind, record in {"header": Header, "verdict": Verdict, "footer": Footer}.items():
        named = {field.name for field in dataclasses.fields(record)}
        assert named == set(results.schema()["$defs"][kind]["properties"])
        assert named == set(results.schema()["$defs"][kind]["required"])


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
    assert "No such file" in refusal(tmp_path / "absent.jsonl")
    assert "directory" in refusal(tmp_path)


def test_another_schema_version_is_refused(path):
    changed(path, 1, schema=3, optimetry="9.0", surprise=1)
    assert "written by optimetry 9.0 in schema version 3, must be 1 or 2" in refusal(path)


SCHEMA_1 = """\
{"kind": "header", "schema": 1, "optimetry": "0.1.0", "target": "torch", "target_version": "2.13.0", \
"platform": "Linux x86_64", "dtypes": ["float32"], "optimizers": ["adam", "sgd", "ftrl"], "seed": 7, "effort": "quick"}
{"kind": "verdict", "optimizer": "adam", "dtype": "float32", "verdict": "dialect", \
"dialect": "scaled_epsilon+float32", "share": 12.5, "ulp": 9, "vacuous": 0.0, "cases": 40, "engine": "fused", \
"reason": "why", \
"counterexample": {"case": "{}", "script": null}}
{"kind": "verdict", "optimizer": "sgd", "dtype": "float32", "verdict": "conforms", "dialect": null, "share": 0.5, \
"ulp": 1, "vacuous": 0.25, "cases": 40, "engine": "default", "reason": "", "counterexample": null}
{"kind": "verdict", "optimizer": "ftrl", "dtype": "float32", "verdict": "diverges", "dialect": null, "share": 1e300, \
"ulp": 1, "vacuous": 0.0, "cases": 1, "engine": "default", "reason": "nothing", "counterexample": null}
{"kind": "footer", "verdicts": 3, \
"counts": {"conforms": 1, "dialect": 1, "diverges": 1, "unsupported": 0, "error": 0}}
"""


def test_a_file_of_schema_1_is_read_with_what_it_says(path):
    path.write_text(SCHEMA_1)
    found = read(path)
    adam, sgd, ftrl = found.verdicts
    assert (found.header.target, found.header.schema) == ("torch", results.SCHEMA_VERSION)
    assert (adam.verdict, adam.dialect, adam.computes) == (
        "dialect",
        "scaled_epsilon+float32",
        Computes("scaled_epsilon+float32"),
    )
    assert (adam.share, adam.ulp, adam.engine, adam.reason) == (12.5, 9, "fused", "why")
    assert adam.counterexample == {"case": "{}", "script": None}
    assert (sgd.computes, sgd.vacuous, sgd.book, sgd.law) == (Computes("documented"), 0.25, "fluid", None)
    assert (ftrl.verdict, ftrl.computes) == ("diverges", Computes())
    with Writer(path, found.header) as writer:
        for verdict in found.verdicts:
            writer.write(verdict)
    assert read(path) == found, "written again in the schema of today"


def test_a_file_of_schema_1_with_wrong_counts_is_refused(path):
    path.write_text(SCHEMA_1.replace('"dialect": 1, "diverges": 1', '"dialect": 2, "diverges": 0'))
    assert ", line 5: the footer counts 3 verdicts" in refusal(path)


WAYS = {
    "flushes subnormals": Arithmetic(flushes_subnormals=True),
    "moments formed as increments": Arithmetic(incremental_moments=True),
    "beta1, learning_rate in float32": Arithmetic(float32=("beta1", "learning_rate")),
    "beta1, norm in float32": Arithmetic(float32=("beta1",), float32_norm=True),
    "rho in float32 in some uses": Arithmetic(float32_in_some_uses=("rho",)),
}


@pytest.mark.parametrize(
    "way", [*WAYS.values(), Arithmetic(True, True, ("beta1",), ("beta2", "epsilon")), Arithmetic()]
)
def test_every_kind_of_arithmetic_survives_a_file(path, way):
    verdict = dataclasses.replace(BAD, computes=Computes("documented", None, False, way.record()))
    with Writer(path, HEADER) as writer:
        writer.write(verdict)
    assert read(path).verdicts == [verdict]


@pytest.mark.parametrize(("said", "way"), WAYS.items())
def test_every_kind_of_arithmetic_has_words(said, way):
    (entry,) = way.record()
    assert described(entry) == said
    assert str(Computes("documented", None, False, way.record())) == f"documented; {said}"


@pytest.mark.parametrize(
    ("number", "fields", "expected"),
    [
        (1, {"seed": "seven"}, "not a header line: seed: 'seven' is not of type 'integer'"),
        (3, {"verdict": "fine"}, "not a verdict line: verdict: 'fine' is not one of"),
        (3, {"share": -1.0}, "not a verdict line: share: -1.0 is less than the minimum of 0"),
        (3, {"cases": "removed"}, "not a verdict line: 'cases' is a required property"),
        (3, {"surprise": 1}, "'surprise' was unexpected"),
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


def test_nothing_may_follow_the_footer(path):
    path.write_text(path.read_text() + line(GOOD) + "\n")
    assert ", line 6: text after the footer" in refusal(path)
