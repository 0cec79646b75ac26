"""Badges: one for each rule and dtype that is offered, with the worst of the engines."""

import dataclasses
import json
from xml.etree import ElementTree as ET

from optimetry.reports.badges import COLOURS, LONGEST, badges, endpoint, svg
from optimetry.reports.results import OUTCOMES, Results
from tests.reports.written import ABSENT, BAD, GOOD, HEADER

FINE = dataclasses.replace(GOOD, optimizer="adam", engine="single")


def test_the_worst_engine_is_on_the_badge():
    files = dict(badges([Results(HEADER, [FINE, BAD, GOOD, ABSENT])]))
    assert set(files) == {f"torch-{rule}-float32.{ending}" for rule in ("adam", "sgd") for ending in ("json", "svg")}
    assert json.loads(files["torch-adam-float32.json"]) == {
        "schemaVersion": 1,
        "label": "adam float32",
        "message": "dialect scaled_epsilon",
        "color": COLOURS["dialect"],
    }
    title = ET.fromstring(files["torch-sgd-float32.svg"]).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == "sgd float32: conforms"


def test_a_badge_line_by_line():
    """The label stands left on grey, the message right of it on its colour, each as wide as its text."""
    drawn = svg("sgd float32", "no <b>", COLOURS["dialect"])
    assert drawn.endswith("</svg>\n")
    assert drawn.replace("><", ">\n<").splitlines() == [
        (
            '<svg xmlns="http://www.w3.org/2000/svg" width="137" height="20" role="img" '
            'aria-label="sgd float32: no &lt;b&gt;">'
        ),
        "<title>sgd float32: no &lt;b&gt;</title>",
        *('<clipPath id="r">', '<rect width="137" height="20" rx="3"/>', "</clipPath>"),
        '<g clip-path="url(#r)" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
        '<rect x="0" width="85" height="20" fill="#3b4048"/>',
        '<text x="6" y="14" textLength="73">sgd float32</text>',
        '<rect x="85" width="52" height="20" fill="#0b57a4"/>',
        '<text x="91" y="14" textLength="40">no &lt;b&gt;</text>',
        *("</g>", "</svg>"),
    ]


def test_a_text_that_is_too_long_for_a_badge_is_cut():
    label, message = "l" * LONGEST, "m" * LONGEST
    assert svg(label + "x", message + "x", "red") == svg(label, message, "red")
    assert json.loads(endpoint(label + "x", message + "x", "red")) == {
        "schemaVersion": 1,
        "label": label,
        "message": message,
        "color": "red",
    }


def test_a_stranger_draws_no_script_and_leaves_the_folder_not():
    strange = dataclasses.replace(GOOD, optimizer="../../<script>" + "x" * 1000)
    files = dict(badges([Results(dataclasses.replace(HEADER, target="../../a"), [strange])]))
    for name, text in files.items():
        assert "/" not in name
        assert "<script>" not in text or name.endswith(".json")
        assert len(text) < 3000


def test_every_outcome_has_a_colour_on_which_white_is_read():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for outcome in OUTCOMES:
        assert 1.05 / (luminance(COLOURS[outcome]) + 0.05) >= 4.5
        assert COLOURS[outcome] in svg("a", "b", COLOURS[outcome])
