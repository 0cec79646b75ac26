"""What is published is of the pinned frameworks, of these rules and cases, and consistent with itself."""

import dataclasses
import math
import re
from pathlib import Path

import pytest

from optimetry.conformance.cases.effort import EFFORTS
from optimetry.conformance.commands.files.ledger import read as read_ledger
from optimetry.conformance.commands.text.documents import document_of
from optimetry.conformance.harness.python_harness import engine_name, engines_of
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.numerics.formats import MARGIN
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetError
from optimetry.reference.rules import RULES
from optimetry.reports import certificate_tables, tables
from optimetry.reports.matrix import page
from optimetry.reports.results import read

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "reports" / "published"
FOLDERS = {
    name: PUBLISHED / f"{name}-{row.version}"
    for name, row in FRAMEWORKS.items()
    if not row.apart or any(PUBLISHED.glob(f"{name}-*"))
}
"""Those that are installed apart are published where somebody has them."""
AGAIN = "run `nox -s publish`"

each_framework = pytest.mark.parametrize("name", FOLDERS)


def results_of(name):
    return read(FOLDERS[name] / "results.jsonl")


def rows(file):
    """The rows of the tables in a Markdown file, without their headings."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [line for line in lines if not line.startswith(("|:", "| framework"))]


def cells(row):
    return tuple(cell.strip().strip("`") for cell in row.strip("|").split("|"))


def test_there_is_one_folder_for_each_framework_at_its_pinned_version():
    folders = {path.parent for path in PUBLISHED.glob("*-*/results.jsonl")}
    assert folders == set(FOLDERS.values()), AGAIN


@each_framework
def test_results_are_of_the_pinned_version_and_of_every_rule(name):
    header = results_of(name).header
    assert (header.target, header.target_version) == (name, FRAMEWORKS[name].version), AGAIN
    assert set(RULES) <= set(header.optimizers)
    assert set(header.dtypes) == set(FRAMEWORKS[name].dtypes)


@each_framework
def test_documents_say_what_is_documented(name):
    """But for statements that have been regrouped since: a verdict is on those that it was compared with."""
    for document in results_of(name).documents:
        today = document_of(subject_named(document.optimizer))
        if document.statements != today.statements:
            today = dataclasses.replace(today, statements=document.statements, notes=document.notes)
        assert document == today, f"{document.optimizer}: {AGAIN}"


@each_framework
def test_tables_are_of_the_results(name):
    results = results_of(name)
    assert (FOLDERS[name] / "table.md").read_text(encoding="utf-8") == tables.markdown([results]), AGAIN
    assert (FOLDERS[name] / "table.csv").read_text(encoding="utf-8") == tables.csv_text([results]), AGAIN


def test_certificates_are_of_the_results_and_hold():
    folder = PUBLISHED / "certificates"
    certified = [read(file) for file in sorted(folder.glob("*/results.jsonl"))]
    assert [x.header.target for x in certified] == ["accelerated", "torch"]
    assert (folder / "certificates.md").read_text(encoding="utf-8") == certificate_tables.markdown(certified)
    assert (folder / "certificates.csv").read_text(encoding="utf-8") == certificate_tables.csv_text(certified)
    assert all(results.certificates and all(each.holds for each in results.certificates) for results in certified)


def test_the_matrix_is_of_the_results():
    published = [results_of(name) for name in FOLDERS]
    folders = [FOLDERS[name].name for name in FOLDERS]
    assert (PUBLISHED / "matrix.md").read_text(encoding="utf-8") == page(published, folders), AGAIN


@each_framework
def test_the_ledger_expects_what_was_found(name):
    results = results_of(name)
    file = ROOT / "reports" / "expected" / f"{name}.txt"
    balance = read_ledger(file, results.header.optimizers, results.header.dtypes).balance(results.verdicts)
    assert (balance.unexpected, balance.stale) == ([], {})


@each_framework
def test_counterexamples_are_those_of_the_results_that_findings_link_to(name):
    findings = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    texts = {}
    for verdict in results_of(name).verdicts:
        if verdict.counterexample is not None:
            stem = f"{verdict.optimizer}-{verdict.dtype}-{verdict.engine}"
            texts[stem] = verdict.counterexample.get("script") or verdict.counterexample["case"]
    for file in (FOLDERS[name] / "counterexamples").iterdir():
        assert file.read_text(encoding="utf-8").strip() == texts[file.stem].strip(), AGAIN
        assert f"{FOLDERS[name].name}/counterexamples/{file.name})" in findings


@each_framework
def test_what_was_found_is_found_again(name):
    """One verdict of each framework; the sizes of what was compared tell whether cases are still drawn as before."""
    try:
        engines = {engine_name(engine): engine for engine in engines_of(load_target(name))}
    except TargetError as error:
        pytest.skip(str(error))
    results = results_of(name)
    offered = [each for each in results.verdicts if each.verdict != "unsupported" and each.engine in engines]
    # To find nothing again takes longest, and to find how something is computed, as does quad precision; sums depend
    # on the processor.
    quick = [each for each in offered if each.computes.rule and not each.computes.arithmetic]
    known = [each for each in quick if subject_named(each.optimizer).elementwise and each.dtype != "float64"]
    before = known[(8 + len(known) // 2) % len(known)]  # other optimizers, engines and dtypes for each framework
    engine, effort = engines[before.engine], EFFORTS[results.header.effort]
    (again,) = judge([engine], before.optimizer, before.dtype, effort=effort, seed=results.header.seed)
    if not any(verdict.computes.same_as for verdict in results.verdicts):  # written before other books were named
        again = dataclasses.replace(again, computes=dataclasses.replace(again.computes, same_as=[]))
    assert alike(dataclasses.asdict(again), dataclasses.asdict(before)), AGAIN


NUMBER = re.compile(r"\d+\.\d+(?:e[-+]?\d+)?")


def alike(a, b):
    """Whether two records are equal but for the digits of bounds, and of ratios to them, that `MARGIN` blurs."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=MARGIN - 1)
    if isinstance(a, str) and isinstance(b, str):
        numbers = [list(map(float, NUMBER.findall(text))) for text in (a, b)]
        return NUMBER.sub("", a) == NUMBER.sub("", b) and alike(*numbers)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    return a == b


@pytest.mark.parametrize(
    "other", [{"share": 2.00001}, {"text": "allowed = [[1.50002e-16]]"}, {"text": "allowed = [1.5e-16]"}, {"list": [1]}]
)
def test_records_that_differ_in_more_than_last_digits_are_not_alike(other):
    record = {"share": 2.0, "text": "allowed = [[1.5e-16]]", "list": [1, None]}
    assert alike(record, record | {"share": 2.000001, "text": "allowed = [[1.5000001e-16]]"})
    assert not alike(record, record | other)


def test_effects_are_those_of_every_difference_found():
    differences = {
        (name, verdict.optimizer, str(verdict.computes) or verdict.verdict)
        for name in FOLDERS
        for verdict in results_of(name).verdicts
        if verdict.verdict in ("imprecise", "dialect", "diverges") and verdict.optimizer in RULES
    }
    assert {(row[0], row[1], row[3]) for row in map(cells, rows(PUBLISHED / "effects.md"))} == differences, AGAIN


def test_every_effect_is_among_the_findings_and_no_other():
    findings = ROOT / "docs" / "findings.md"
    of_rules = [row for row in rows(findings) if len(cells(row)) == len(cells(rows(PUBLISHED / "effects.md")[0]))]
    assert sorted(map(cells, of_rules)) == sorted(map(cells, rows(PUBLISHED / "effects.md")))


def test_the_files_that_findings_point_to_exist():
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((\.\./[^)#]+)\)", text)
    assert len(links) > 20
    for link in links:
        assert (ROOT / "docs" / link).resolve().exists(), link


def test_a_counterexample_still_runs():
    """It raises if rounding explains the difference."""
    script = (FOLDERS["torch"] / "counterexamples" / "adam-float32-single.py").read_text(encoding="utf-8")
    exec(compile(script, "adam", "exec"), {"__name__": "adam"})
    with pytest.raises(AssertionError):
        exec(compile(re.sub(r"(?m)^allowed = .*$", "allowed = [[[1.0]]]", script), "adam", "exec"), {})
