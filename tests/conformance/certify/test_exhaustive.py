"""`optimetry check --effort exhaustive`: all pairs of the first step, beside the drawn cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.certify.pairs import Pairs
from optimetry.conformance.commands import certifying, check, cli
from optimetry.conformance.commands.files.blocks import FILE
from optimetry.conformance.selftest.faults import single_pair
from optimetry.reports.results import read

FAULTY = single_pair.PARAMETER % 64 * 64 + single_pair.GRADIENT % 64
"""The number of the block that has the pair."""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few cases, and compare two blocks in the place of all."""
    monkeypatch.setitem(check.ALL_EFFORTS, "exhaustive", Effort("exhaustive", 20, 2, pairs=True))
    monkeypatch.setattr(Pairs, "share", lambda self, count: [FAULTY, FAULTY + 1])


def checked(target: str, out: Path, *options: str) -> int:
    """Run the command, and return its status."""
    asked = ("--optimizer", "sgd", "--dtype", "bfloat16", "--effort", "exhaustive", "-n", "1", "--out", str(out))
    return cli.main(["check", target, *asked, *options])


def test_a_fault_in_one_pair_is_found_beside_a_verdict_that_conforms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked("optimetry.conformance.selftest.faults.single_pair:target", tmp_path) == 1
    results = read(tmp_path / "results.jsonl")
    assert [verdict.verdict for verdict in results.verdicts] == ["conforms"]
    (certificate,) = results.certificates
    assert (certificate.step, certificate.failures, certificate.pairs) == ("first", 1, 2 * 2**20)
    assert results.header.effort == "exhaustive"
    assert "w 0x3f81, g 0x0001" in capsys.readouterr().out
    before = (tmp_path / "results.jsonl").read_bytes()
    assert checked("optimetry.conformance.selftest.faults.single_pair:target", tmp_path) == 1
    assert (tmp_path / "results.jsonl").read_bytes() == before
    assert (tmp_path / "certificates.md").exists()
    assert not (tmp_path / FILE).exists()


@pytest.mark.slow
def test_a_run_that_was_ended_among_its_certificates_goes_on_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ("--dtype", "float16", "--dtype", "float32")
    assert checked("numpy", tmp_path, *more) == 0
    file = tmp_path / "results.jsonl"
    whole = file.read_bytes()
    assert [(x.dtype, x.holds) for x in read(file).certificates] == [("bfloat16", True), ("float16", True)]

    done = certifying.certified
    monkeypatch.setattr(certifying, "certified", lambda *asked: ended(done(*asked)))
    file.unlink()
    assert checked("numpy", tmp_path, *more) == 130
    assert len(read(file, unfinished=True).certificates) == 1
    assert (tmp_path / FILE).exists()

    monkeypatch.setattr(certifying, "certified", done)
    assert checked("numpy", tmp_path, *more, "--resume") == 0
    assert file.read_bytes() == whole
    monkeypatch.setattr(certifying, "certified", None)  # nothing is left to certify
    assert checked("numpy", tmp_path, *more, "--resume") == 0
    assert file.read_bytes() == whole


def ended(certificates):
    """Yield the first certificate alone, then end as Ctrl-C does."""
    yield next(certificates)
    raise KeyboardInterrupt


def test_rules_with_norms_and_wide_dtypes_have_no_certificate() -> None:
    dtypes = ["bfloat16", "float16", "float32", "float64"]
    judges = certifying.first_steps(["sgd", "lamb", "clip_by_norm", "adam"], dtypes, 0)
    named = [(judge.pairs.optimizer, judge.pairs.dtype) for judge in judges]
    assert named == [("sgd", "bfloat16"), ("sgd", "float16"), ("adam", "bfloat16"), ("adam", "float16")]
