"""Test vectors: their form, the same bytes each time, and each reader on an honest and a faulty program."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import jsonschema
import numpy as np
import pytest

from optimetry.conformance.judging import vectors
from optimetry.conformance.numerics.agreement import SLACK, Expected
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.selftest import vector_table

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "vectors"
WIRE = ROOT / "conformance" / "harness"
"""Where the reader in C++ has its JSON from."""
PAGE = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")

made = cache(vector_table.made)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The vectors of Adam, as the command writes them."""
    from optimetry.conformance.commands.cli import main

    out = tmp_path_factory.mktemp("vectors")
    assert main(["vectors", "--out", str(out), "--optimizer", "adam"]) == 0
    return out


def test_a_file_keeps_its_schema_and_is_the_same_each_time(folder, tmp_path, optimetry):
    status, out, _ = optimetry("vectors", "--out", tmp_path, "--optimizer", "adam")
    assert (status, "written: 2 files of" in out) == (0, True)
    schema = json.loads(Path(vectors.__file__).with_name("vectors.schema.json").read_text(encoding="utf-8"))
    for name in ("adam-float32.json", "adam-float64.json"):
        text = (folder / "fluid" / name).read_bytes()
        assert text == (tmp_path / "fluid" / name).read_bytes()
        found = json.loads(text)
        jsonschema.validate(found, schema)
        assert len({vector["id"] for vector in found["vectors"]}) == len(found["vectors"])
        assert {flag for vector in found["vectors"] for flag in vector["flags"]} == set(found["flags"])
        assert "\\" not in text.decode("ascii").replace("\\u", "")  # the reader in C++ knows no other


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
            archive.read("vectors.schema.json") == Path(vectors.__file__).with_name("vectors.schema.json").read_bytes()
        )
    assert "not allowed with argument" in refused("vectors", "--archive", "x.zip", "--out", "x")
    assert "is a file, must be a folder" in refused("vectors", "--archive", archives[0] / "x", "--optimizer", "adam")


@pytest.mark.parametrize("arguments", [["--optimizer", "l2_decay"], ["--dtype", "bfloat16"], ["--book", "none"]])
def test_what_has_no_vectors_is_refused(arguments, refused, tmp_path):
    assert arguments[1] in refused("vectors", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_an_allowed_error_is_the_slack_times_the_bound_and_what_rounding_loses():
    (case, _), *_ = vectors.chosen("adam", "float32")
    oracle = expected(case)
    value, allowed = vectors.rounded(oracle, case)
    lost = np.abs(value.astype(np.float64) - oracle.value)
    known = np.isfinite(allowed)
    assert known.any()
    np.testing.assert_array_equal(allowed[known], (SLACK * oracle.bound + lost)[known])
    unknown = Expected(oracle.value, np.full_like(oracle.bound, np.inf), oracle.start)
    assert np.isinf(vectors.rounded(unknown, case)[1]).all()


@pytest.mark.parametrize("number", [1.0, 0.1, 3e-320, 5e-324, 1.7e308, 2.0**-30])
def test_an_allowed_error_is_written_short_and_rounded_up(number):
    text = vectors.short(number)
    assert re.fullmatch(r"0x[01](\.[0-9a-f]{1,3}|\.0*[0-9a-f]{1,3})?p[+-]\d+", text)
    assert number <= float.fromhex(text) <= max(number * 1.02, number + 1e-322)


def readers():
    yield (
        "py",
        lambda source, _: [sys.executable, source],
        ("np.sqrt(self.moment2) + self.epsilon", "np.sqrt(self.moment2 + self.epsilon)"),
    )
    yield "js", lambda source, _: ["node", source], ("f(1 - b2)", "f(1 - f(b2 * f(beta2)))")
    yield "cpp", compiled, ("std::sqrt(v[i]) + epsilon", "std::sqrt(v[i] + epsilon)")


def compiled(source, folder):
    program = folder / "reader"
    subprocess.run(["g++", "-O1", "-std=c++17", f"-I{WIRE}", "-o", program, source], check=True)
    return [program]


@pytest.mark.parametrize(("suffix", "command", "change"), list(readers()), ids=["python", "javascript", "c++"])
def test_a_reader_accepts_an_honest_program_and_rejects_a_faulty_one(suffix, command, change, folder, tmp_path):
    needed = {"js": "node", "cpp": "g++"}.get(suffix)
    if needed and not shutil.which(needed):
        pytest.skip(f"needs {needed}")
    source = (EXAMPLES / f"reader.{suffix}").read_text(encoding="utf-8")
    assert source.count(change[0]) == 1
    files = sorted((folder / "fluid").glob("adam-*.json"))
    for text, status in ((source, 0), (source.replace(*change), 1)):
        place = tmp_path / str(status)
        place.mkdir()
        program = place / f"reader.{suffix}"
        program.write_text(text, encoding="utf-8")
        ran = subprocess.run([*command(program, place), *files], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (status, "")
        assert ("rejected: adam-float32" in ran.stdout and "rejected: adam-float64" in ran.stdout) == bool(status)


def test_the_page_says_which_faults_vectors_miss():
    listed = set(re.findall(r"^\| `(\w[\w.]*)` \|", PAGE, re.MULTILINE))
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
    sets = {("adam", "float32"): made("adam", "float32")}
    assert {fault.name for fault in some if vector_table.misses(fault, sets)} == {x.name for x in some} & listed
