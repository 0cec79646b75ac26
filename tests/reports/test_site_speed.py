"""Speed on the site: times of one run, and their picture."""

import dataclasses
import json
import re

import pytest

from optimetry.conformance.commands.files.results_folder import write_tables
from optimetry.conformance.commands.report import pictures_written
from optimetry.reports.keeping import add
from optimetry.reports.results import Results, ResultsError, read
from optimetry.reports.site.build import build
from optimetry.reports.speed import Speed
from tests.reports.written import GOOD, HEADER, accuracy


def row(contender, nanoseconds, elements=1000, rule="sgd"):
    return Speed(
        rule=rule,
        contender=contender,
        dtype="float32",
        tensors=1,
        elements=elements,
        nanoseconds=nanoseconds,
        spread=0.02,
        bytes=12,
        gigabytes_per_second=12 / nanoseconds,
        touch_share=1 / nanoseconds,
        peer=None,
        peer_ratio=None,
    )


def test_a_line_of_before_says_nothing_of_threads(tmp_path):
    add(tmp_path / "results.jsonl", Results(HEADER, speed=[dataclasses.replace(row("numba", 2.0), threads=1.96)]))
    assert read(tmp_path / "results.jsonl").speed[0].threads == 1.96
    text = (tmp_path / "results.jsonl").read_text()
    (tmp_path / "results.jsonl").write_text(text.replace(', "threads": 1.96', ""))
    assert read(tmp_path / "results.jsonl").speed == [row("numba", 2.0)]


ROWS = [row("touch", 1.0), row("torch fused", 4.0), row("numba", 2.0), row("numba", 1.25, 10_000)]


def test_a_page_shows_the_times_and_a_picture_of_them(tmp_path):
    build([Results(HEADER, [GOOD], speed=ROWS)], tmp_path)
    page = (tmp_path / "rule/sgd.html").read_text()
    times = page.split('id="speed"')[1]
    assert times.index("speed of memory</td>") < times.index("accelerated numba</td>") < times.index("torch fused</td>")
    assert '<td class="n">4.000</td><td class="n">2.0 %</td><td class="n">3.000</td><td class="n">0.25</td>' in times
    assert 'src="../picture/speed-sgd-torch-2.13.0-float32-1.svg"' in times
    picture = (tmp_path / "picture/speed-sgd-torch-2.13.0-float32-1.svg").read_text()
    assert all(name in picture for name in ("accelerated numba", "torch fused", "speed of memory"))


def test_times_alone_have_pages(tmp_path):
    """They had none: rules were those of verdicts, accuracy and certificates."""
    build([Results(HEADER, speed=[*ROWS, row("touch", 1.0, rule="torch.adamw")])], tmp_path)
    assert "speed of memory</td>" in (tmp_path / "rule/sgd.html").read_text()
    assert "torch.adamw" in (tmp_path / "rule/torch.adamw.html").read_text()


def test_times_of_one_size_have_no_picture_and_each_table_a_name_of_its_own(tmp_path):
    many = [dataclasses.replace(each, tensors=1_000) for each in ROWS[:3]]
    build([Results(HEADER, [GOOD], speed=[*ROWS[:3], *many])], tmp_path)
    times = (tmp_path / "rule/sgd.html").read_text().split('id="speed"')[1]
    names = [part.split('"')[0] for part in times.split('aria-label="')[1:]]
    assert names == ["Times of torch 2.13.0, float32", "Times of torch 2.13.0, float32, 1,000 parameters"]
    assert "<img" not in times
    assert not list(tmp_path.glob("picture/speed*"))


def test_a_report_has_a_table_of_sizes_and_a_picture_of_them(tmp_path):
    reports = [Results(HEADER, speed=[*ROWS, row("touch", 0.5, rule="adam")])]
    made = [*write_tables(tmp_path, reports), *pictures_written(reports, tmp_path)]
    assert sorted(path.name for path in tmp_path.iterdir()) == made == ["speed.md", "sweep-sgd-float32-1.svg"]
    page = (tmp_path / "speed.md").read_text()
    assert re.sub(" +", "", page.split("## sgd, float32, 1 parameter\n\n")[1]).splitlines()[:4] == [
        "|elements|acceleratednumba|speedofmemory|torchfused|",
        "|-----------:|--------------------:|------------------:|--------------:|",
        "|1,000|2|1|4|",
        "|10,000|1.25|||",
    ]
    assert "## adam, float32, 1 parameter" in page


def test_times_of_a_new_run_replace_those_of_the_same_thing(tmp_path):
    path = tmp_path / "results.jsonl"
    add(path, Results(HEADER, accuracy=[accuracy()], speed=[*ROWS, row("numba", 3.0, rule="adam")]))
    add(path, Results(HEADER, speed=[row("touch", 1.5), row("numba", 2.5)]))
    results = read(path)
    assert [(each.rule, each.elements, each.nanoseconds) for each in results.speed] == [
        ("sgd", 10_000, 1.25),
        ("adam", 1000, 3.0),
        ("sgd", 1000, 1.5),
        ("sgd", 1000, 2.5),
    ]
    assert results.accuracy == [accuracy()]
    with pytest.raises(ResultsError, match=r"results of torch 2\.13\.0, must be of torch 3: choose another folder"):
        add(path, Results(dataclasses.replace(HEADER, target_version="3")))


@pytest.mark.parametrize(("field", "value"), [("nanoseconds", 0), ("contender", None), ("elements", "many")])
def test_a_line_that_is_no_time_is_refused(tmp_path, field, value):
    path = tmp_path / "results.jsonl"
    add(path, Results(HEADER, speed=ROWS[:1]))
    lines = path.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | {field: value})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ResultsError, match="line 2: not a speed line"):
        read(path)
