"""Files of the first schema are still read."""

from optimetry.reports import results
from optimetry.reports.results import Computes, Writer, read
from tests.reports.written import refusal

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
    old = read(path)
    adam, sgd, ftrl = old.verdicts
    assert (old.header.target, old.header.schema) == ("torch", results.SCHEMA_VERSION)
    assert (adam.verdict, adam.dialect, adam.computes) == (
        "dialect",
        "scaled_epsilon+float32",
        Computes("scaled_epsilon+float32"),
    )
    assert (adam.share, adam.ulp, adam.engine, adam.reason) == (12.5, 9, "fused", "why")
    assert adam.counterexample == {"case": "{}", "script": None}
    assert (sgd.computes, sgd.vacuous, sgd.book, sgd.law) == (Computes("documented"), 0.25, "fluid", None)
    assert (ftrl.verdict, ftrl.computes) == ("diverges", Computes())
    with Writer(path, old.header) as writer:
        for verdict in old.verdicts:
            writer.write(verdict)
    assert read(path) == old, "written again in the schema of today"


def test_a_file_of_schema_1_with_wrong_counts_is_refused(path):
    path.write_text(SCHEMA_1.replace('"dialect": 1, "diverges": 1', '"dialect": 2, "diverges": 0'))
    assert ", line 5: the footer counts 3 verdicts" in refusal(path)


def test_a_footer_of_schema_1_without_counts_is_refused(path):
    start, _, _ = SCHEMA_1.rpartition('{"kind": "footer"')
    path.write_text(start + '{"kind": "footer", "verdicts": 3}\n')
    assert refusal(path) == ", line 5: not a footer line: counts: 'conforms' is a required property"
