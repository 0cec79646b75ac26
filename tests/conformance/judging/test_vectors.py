"""Test vectors: their form, the same bytes each time, and each reader on an honest and a faulty program."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import jsonschema
import numpy as np
import pytest

from optimetry.conformance.harness import python_harness
from optimetry.conformance.judging.vectors import ordinary, writing
from optimetry.conformance.numerics.agreement import SLACK, Expected
from optimetry.conformance.selftest import vector_reading, vector_table
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard
from tests.conformance.judged import vectors_of
from tests.conformance.reader_faults import READER_FAULTS

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "vectors"
WIRE = Path(python_harness.__file__).parent
"""Where the reader in C++ has its JSON from."""
PAGE = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")

SCHEMA = json.loads(Path(writing.__file__).with_name("vectors.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The vectors of Adam, as the command writes them."""
    from optimetry.conformance.commands.cli import main

    out = tmp_path_factory.mktemp("vectors")
    assert main(["vectors", "--out", str(out), "--optimizer", "adam"]) == 0
    return out


@pytest.mark.slow
def test_a_file_keeps_its_schema_and_is_the_same_each_time(folder, tmp_path, optimetry):
    status, out, _ = optimetry("vectors", "--out", tmp_path, "--optimizer", "adam")
    assert (status, "written: 2 files of" in out) == (0, True)
    for name in ("adam-float32.json", "adam-float64.json"):
        text = (folder / "fluid" / name).read_bytes()
        assert text == (tmp_path / "fluid" / name).read_bytes()
        file = json.loads(text)
        jsonschema.validate(file, SCHEMA)
        assert len({vector["id"] for vector in file["vectors"]}) == len(file["vectors"])
        assert {flag for vector in file["vectors"] for flag in vector["flags"]} == set(file["flags"])
        assert "\\" not in text.decode("ascii").replace("\\u", "")  # the reader in C++ knows no other


@pytest.mark.slow
def test_an_archive_holds_the_same_files_and_their_schema_and_is_the_same_each_time(
    folder, tmp_path, optimetry, refused, monkeypatch
):
    archives = [tmp_path / "new" / "vectors.zip", tmp_path / "again.zip"]
    for archive in archives:
        asked = ("vectors", "--archive", archive, "--optimizer", "adam", "--dtype", "float32")
        status, out, _ = optimetry(*asked)
        assert (status, out.endswith(f" MB in {archive}\n")) == (0, True), out
        monkeypatch.setattr("time.time", lambda: 2e9)  # whenever it is made
    first, second = (archive.read_bytes() for archive in archives)
    assert first == second
    with ZipFile(archives[0]) as archive:
        assert archive.namelist() == ["fluid/adam-float32.json", "vectors.schema.json"]
        assert archive.read("fluid/adam-float32.json") == (folder / "fluid" / "adam-float32.json").read_bytes()
        assert (
            archive.read("vectors.schema.json") == Path(writing.__file__).with_name("vectors.schema.json").read_bytes()
        )
    assert "not allowed with argument" in refused("vectors", "--archive", "x.zip", "--out", "x")
    assert "is a file, must be a folder" in refused("vectors", "--archive", archives[0] / "x", "--optimizer", "adam")
    assert "is a folder, must be a file" in refused("vectors", "--archive", tmp_path, "--optimizer", "adam")


@pytest.mark.parametrize("arguments", [["--optimizer", "l2_decay"], ["--dtype", "bfloat16"], ["--book", "none"]])
def test_what_has_no_vectors_is_refused(arguments, refused, tmp_path):
    assert arguments[1] in refused("vectors", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_a_larger_case_tells_what_no_small_one_does():
    """An epsilon beside a small root shows in few cases in float32, and in small ones in float64."""
    larger = {
        dtype: [
            [point_class.name for point_class in classes] for case, classes in cases if case.elements > ordinary.LARGEST
        ]
        for dtype in writing.DTYPES
        for cases in [ordinary.chosen("papers.radam", dtype)]
    }
    assert larger == {"float32": [["epsilon"]], "float64": []}


def test_an_allowed_error_is_the_slack_times_the_bound_and_what_rounding_loses():
    (case, _), *_ = ordinary.chosen("adam", "float32")
    oracle = ordinary.judged(case)
    value, allowed = writing.rounded(oracle, case)
    lost = np.abs(value.astype(np.float64) - oracle.value)
    known = np.isfinite(allowed)
    assert known.any()
    np.testing.assert_array_equal(allowed[known], (SLACK * oracle.bound + lost)[known])
    unknown = Expected(oracle.value, np.full_like(oracle.bound, np.inf), oracle.start)
    assert np.isinf(writing.rounded(unknown, case)[1]).all()


@pytest.mark.parametrize("number", [1.0, 0.1, 3e-320, 5e-324, 1.7e308, 2.0**-30])
def test_an_allowed_error_is_written_short_and_rounded_up(number):
    text = writing.short(number)
    assert re.fullmatch(r"0x[01](\.[0-9a-f]{1,3}|\.0*[0-9a-f]{1,3})?p[+-]\d+", text)
    assert number <= float.fromhex(text) <= max(number * 1.02, number + 1e-322)


def test_the_largest_error_allows_every_number():
    assert float.fromhex(writing.short(writing.LARGEST)) == float.fromhex(writing.short(1.797e308)) == writing.LARGEST


COMMANDS = {
    "py": lambda source: [sys.executable, source],
    "js": lambda source: ["node", source],
    "cpp": lambda source: [compiled(source)],
}


def compiled(source):
    program = source.with_suffix("")
    subprocess.run(["g++", "-O1", "-std=c++17", f"-I{WIRE}", "-o", program, source], check=True)
    return program


def needs_program(suffix):
    needed = {"js": "node", "cpp": "g++"}.get(suffix)
    if needed and not shutil.which(needed):
        pytest.skip(f"needs {needed}")


def judged_by_reader(suffix, changes, files, folder):
    """Run a reader whose texts are replaced; return its status and the ends of the ids that it rejects."""
    needs_program(suffix)
    text = (EXAMPLES / f"reader.{suffix}").read_text(encoding="utf-8")
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    shutil.copytree(EXAMPLES.parent / "programs", folder / "programs")
    program = folder / "vectors" / f"reader.{suffix}"
    program.parent.mkdir()
    program.write_text(text, encoding="utf-8")
    ran = subprocess.run([*COMMANDS[suffix](program), *files], capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    ids = re.findall(r"^rejected: (\S+)", ran.stdout, re.MULTILINE)
    assert len(set(ids)) == len(ids)
    assert ran.stdout.endswith(f"{len(ids)} rejected\n")
    return ran.returncode, ids


@pytest.mark.parametrize("suffix", COMMANDS)
def test_a_reader_without_a_file_accepts_nothing(suffix, tmp_path):
    needs_program(suffix)
    program = shutil.copy(EXAMPLES / f"reader.{suffix}", tmp_path)
    ran = subprocess.run(COMMANDS[suffix](Path(program)), capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert re.fullmatch(r"usage: .*reader.* FILE \[FILE \.\.\.\]\n", ran.stderr)


@pytest.mark.parametrize("suffix", COMMANDS)
def test_a_reader_accepts_an_honest_program_and_rejects_a_faulty_one_in_both_dtypes(suffix, folder, tmp_path):
    files = sorted((folder / "fluid").glob("adam-*.json"))
    places = [tmp_path / name for name in ("honest", "faulty")]
    for place in places:
        place.mkdir()
    assert judged_by_reader(suffix, {}, files, places[0]) == (0, [])
    changes = getattr(READER_FAULTS["epsilon under the root"], suffix)
    status, ids = judged_by_reader(suffix, changes, files, places[1])
    assert status == 1
    assert {"adam-float32-00", "adam-float64-00"} <= set(ids)


@pytest.mark.parametrize("suffix", COMMANDS)
@pytest.mark.parametrize("fault", READER_FAULTS)
def test_a_reader_rejects_each_kind_of_fault(fault, suffix, folder, tmp_path):
    declared = READER_FAULTS[fault]
    status, ids = judged_by_reader(
        suffix, getattr(declared, suffix), [folder / "fluid" / "adam-float32.json"], tmp_path
    )
    rejected = {name.rpartition("-")[2] for name in ids}
    assert status == 1
    assert rejected == declared.rejected if declared.alone else rejected >= declared.rejected


@pytest.mark.parametrize(
    ("fault", "check", "without"),
    [
        ("gradients scaled in place", "buffer.tobytes() != grad.tobytes()", "False"),
        ("the first moment has the array of the gradient", "buffer[...] = grad = array", "buffer = grad = array"),
        (
            "a last bit of the rate in every third run",
            'np.array_equal(rows, first.setdefault(vector["id"], rows), equal_nan=True)',
            "True",
        ),
    ],
)
def test_a_reader_needs_each_of_its_checks(fault, check, without, folder, tmp_path):
    changes = {**READER_FAULTS[fault].py, check: without}
    assert judged_by_reader("py", changes, [folder / "fluid" / "adam-float32.json"], tmp_path) == (0, [])


@pytest.mark.slow
def test_the_page_says_which_faults_vectors_miss():
    figures = PAGE.partition(vector_table.BEGIN)[2].partition(vector_table.END)[0]
    listed = set(re.findall(r"^\| `(\w[\w.]*)` \|", figures, re.MULTILINE))
    tried = {fault.name: fault for fault in vector_table.faults()}
    assert listed < set(tried)
    assert f"Of {len(tried)} planted faults of rules, vectors alone catch {len(tried) - len(listed)} " in PAGE.replace(
        "\n", " "
    )
    kinds = Counter(vector_table.kind_of(tried[name]) for name in listed)
    assert all(f"| {kind} | {count} |" in PAGE for kind, count in kinds.items())
    assert f"The {len(listed)} that they miss" in PAGE
    assert listed >= set(vector_table.DEPENDS)
    some = [fault for fault in tried.values() if (fault.optimizer, fault.dtypes) == ("adam", ("float32",))]
    sets = {("adam", "float32"): vectors_of("adam", "float32")}
    assert {fault.name for fault in some if vector_table.misses(fault, sets)} == {x.name for x in some} & listed


def test_the_example_of_the_page_is_a_vector_of_the_rule():
    text = PAGE.partition("```json\n")[2].partition("```")[0]
    file = json.loads(text)
    jsonschema.validate(file, SCHEMA)
    (vector,) = file["vectors"]
    case = vector_reading.case_of(file, vector)
    assert [param.shape for param in case.parameters] == [(3,), (3,)]
    play = partial(vector_table.played, vector=vector, case=case, guard=Guard())
    assert play(NumpyTarget()) is not None
    assert play(FAULTS["nonfinite_replaced_by_zero"].target()) is not None  # of another rule
    assert play(FAULTS["step_skipped_unless_finite"].target()) is None


def test_no_book_has_more_than_two_megabytes():
    sizes = re.findall(r"^\| \w+ \| \d+ \| \d+ \| (\d\.\d\d) MB \|$", PAGE, re.MULTILINE)
    assert len(sizes) == 3
    assert max(map(float, sizes)) <= 2.0
