"""Errors at the defaults on the site, and the pictures of them."""

import dataclasses
from xml.etree import ElementTree as ET

import pytest

from optimetry.reports.accuracy import LARGEST, Spread
from optimetry.reports.results import Computes, Results
from optimetry.reports.site import plots
from optimetry.reports.site.build import build
from optimetry.reports.site.words import in_words
from tests.reports.written import BAD, GOOD, HEADER, accuracy

MEASURED = [accuracy(gradients="normal"), accuracy(), accuracy(engine="single"), accuracy("lion")]
TORCH = Results(HEADER, [GOOD, BAD], [], MEASURED)


def test_pages_show_the_figures_and_what_they_mean(tmp_path):
    build([TORCH], tmp_path)
    matrix, rule, target = (
        (tmp_path / name).read_text() for name in ("index.html", "rule/adam.html", "target/torch-2.13.0.html")
    )
    assert "at the defaults: no one will notice (2.0e-06 of an update)" in matrix
    assert matrix.count("at the defaults") == 1  # what conforms needs no such words
    assert rule.count("<td>2.0e-06 (2.0e-04)</td>") == 6  # two kinds of gradients, after 1, 10 and 30 steps, the last
    assert '<td class="wraps">fused, single</td><td>training</td>' in rule
    assert "<td>lion</td>" in target
    assert 'src="../picture/adam-float32.svg"' in rule
    assert "torch 2.13.0, fused" in (tmp_path / "picture/adam-float32.svg").read_text()


@pytest.mark.parametrize(
    ("outcome", "law", "share", "says"),
    [
        ("error", None, 0.9, False),
        ("diverges", "groups_are_independent", 0.9, False),
        ("diverges", "groups_are_independent", 3.0, True),
        ("diverges", None, 3.0, True),
    ],
)
def test_what_a_run_at_the_defaults_does_not_show_has_no_such_words(tmp_path, outcome, law, share, says):
    verdict = dataclasses.replace(BAD, verdict=outcome, computes=Computes(), dialect=None, law=law, share=share)
    build([Results(HEADER, [verdict], [], MEASURED)], tmp_path)
    assert ("at the defaults" in (tmp_path / "index.html").read_text()) == says


def test_a_rule_that_was_measured_and_not_judged_has_a_page(tmp_path):
    build([Results(HEADER, [], [], [accuracy("lion")])], tmp_path)
    assert "lion" in (tmp_path / "rule/lion.html").read_text()
    assert "Rule by rule" not in (tmp_path / "target/torch-2.13.0.html").read_text()


@pytest.mark.parametrize(
    ("median", "words"),
    [
        (0.0, "no one will notice (0 of an update)"),
        (3e-3, "a training ends slightly different (3.0e-03 of an update)"),
        (0.1, "changes training (0.1 of an update)"),
    ],
)
def test_the_worst_engine_has_the_word(median, words):
    assert in_words([accuracy(median=0.0), accuracy(median=median), accuracy(gradients="normal", median=9.0)]) == words
    assert in_words([accuracy(median=LARGEST / 100)]) == "another optimizer (1.0e+298 of an update)"
    assert in_words([]) == ""


def test_rounding_to_less_precision_is_not_called_another_optimizer():
    measured = [accuracy(median=2e-6), accuracy(dtype="float16", median=0.9), accuracy(dtype="float64", median=2e-3)]
    assert in_words(measured[:2]) == "no one will notice (2.0e-06 of an update)"
    assert in_words(measured).startswith("a training ends slightly different")  # what is left when rounding is small
    assert in_words([measured[1]]) == ""


def drawn(*measured):
    return plots.drift([(f"target {i}", each) for i, each in enumerate(measured)])


def test_a_picture_is_the_same_each_time_and_has_two_themes():
    text = drawn(*MEASURED[:2])
    assert text == drawn(*MEASURED[:2])
    assert not any(colour in text for colour in plots.THEME)
    assert "@media(prefers-color-scheme:dark)" in text
    for name, light, dark in plots.THEME.values():
        assert text.count(f"{name}:{light};") == text.count(f"{name}:{dark};") == 1


def test_a_strange_name_is_text_in_a_picture():
    root = ET.fromstring(plots.drift([("<script>alert(1)</script>$x^2$", MEASURED[0])]))
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert any("<script>" in (element.text or "") for element in root.iter())


def test_a_picture_has_room_for_some_targets_and_for_figures_without_a_place():
    lost = Spread(median=0.0, p99=LARGEST, largest=LARGEST)
    points = [dataclasses.replace(point, update=lost) for point in MEASURED[0].points]
    text = drawn(*[MEASURED[0]] * plots.SHOWN, dataclasses.replace(MEASURED[0], points=points))
    assert f"target {plots.SHOWN - 1}" in text
    assert f"target {plots.SHOWN}" not in text
    drawn(dataclasses.replace(MEASURED[0], points=points))


@pytest.mark.parametrize(("factor", "powers"), [(1.5, {"10⁻⁶", "10⁻⁵"}), (60.0, {"10⁻⁵", "10⁻⁴"})])
def test_an_ordinate_has_two_powers_of_ten_also_where_errors_lie_within_a_decade(factor, powers):
    first, last = MEASURED[0].points[0], MEASURED[0].points[-1]
    errors = [Spread(median=size, p99=size, largest=size) for size in (2.2e-6, 2.2e-6 * factor)]
    points = [dataclasses.replace(point, update=x) for point, x in zip((first, last), errors, strict=True)]
    curve = dataclasses.replace(MEASURED[0], points=points)
    for text in (drawn(curve), plots.drifts({"adam": [("torch", curve)], "sgd": [("torch", curve)]})):
        assert powers <= {"".join(x.itertext()) for x in ET.fromstring(text).iter() if x.tag.endswith("text")}
