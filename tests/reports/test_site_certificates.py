"""Certificates on the page of their rule."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from optimetry.reports.certificate import Failure
from optimetry.reports.results import Results
from optimetry.reports.site.build import build
from tests.reports.written import BAD, CERTIFICATE, GOOD, HEADER


def test_a_rules_page_has_its_certificates(tmp_path: Path) -> None:
    build([Results(HEADER, [GOOD, BAD], certificates=[CERTIFICATE])], tmp_path)
    page = (tmp_path / "rule" / "sgd.html").read_text("utf-8")
    section = page.split('<h2 id="certificates">')[1]
    for cell in ("float16", "first", "defaults", "0.75 at w 0x3c01, g 0x3555"):
        assert f"<td>{cell}</td>" in section
    for figure in ("all 4,294,967,296", "50.0%", "7", "0"):
        assert f'<td class="n">{figure}</td>' in section
    assert "failure:" not in section
    assert "certificates" not in (tmp_path / "rule" / "adam.html").read_text("utf-8")


def test_failures_and_what_a_stranger_wrote_are_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    example = Failure(parameter="0x3c00", gradients=[evil], result="0x7e00", expected=0.5, bound=1e-3)
    certificate = dataclasses.replace(CERTIFICATE, setting=evil, failures=1, examples=[example], reason=evil)
    build([Results(HEADER, [], certificates=[certificate])], tmp_path)
    page = (tmp_path / "rule" / "sgd.html").read_text("utf-8")
    assert "gives 0x7e00, must be 0.5 ± 0.001" in page
    assert page.count("<script") == 1, "our own"
