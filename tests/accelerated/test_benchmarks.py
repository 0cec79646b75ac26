from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.benchmarks import bench_cuda, rounds, tables
from optimetry.accelerated.benchmarks.measuring import hyper_of, inputs, measure, optimizer_of, rows_of, touching
from optimetry.accelerated.benchmarks.plot import draw, draw_sweep
from optimetry.accelerated.benchmarks.rounds import Timing, timings
from optimetry.accelerated.benchmarks.tables import text_of, timed_with
from optimetry.accelerated.benchmarks.touch import bytes_moved, touch
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.kernels import kernel_of
from optimetry.reference.rules import rule_named
from optimetry.reports.results import read
from optimetry.reports.site.plots import THEME
from tests.accelerated.cases import EACH_KIND, IDS, VARIANTS


@pytest.mark.parametrize(("name", "hyper"), VARIANTS, ids=IDS)
def test_touch_reads_and_writes_the_same_arrays(name: str, hyper: dict[str, Any]) -> None:
    kernel = kernel_of(rule_named(name).of(hyper))
    for ours, its in zip(kernel.passes, touch(kernel).passes, strict=True):
        assert (ours.reads, ours.writes, ours.sums) == (its.reads, its.writes, its.sums)
        values = [np.array([2.0**i]) for i in range(len(its.reads))]
        results = its.function(*values)
        assert len(results) == its.sums + len(its.writes)
        for new, array in zip(results[its.sums :], its.writes, strict=True):
            assert new != values[its.reads.index(array)]


@pytest.mark.parametrize(
    ("name", "hyper", "dtype", "count"),
    [
        ("sgd", {}, "float32", 12),
        ("adam", {}, "float32", 28),
        ("adam", {}, "float64", 56),
        ("adam", {}, "bfloat16", 2 + 2 + 2 + 16),
        ("lars_momentum", {"momentum": 0.9}, "float32", 8 + 20),
        ("lamb", {}, "float32", 24 + 16),
        ("torch.adafactor", {"eps1": 1e-30}, "float32", 8 + 4 + 12),
    ],
)
def test_bytes_moved(name: str, hyper: dict[str, Any], dtype: str, count: int) -> None:
    assert bytes_moved(kernel_of(rule_named(name).of(hyper)), DTYPES[dtype]) == count


def test_a_rule_of_matrices_is_timed_with_matrices() -> None:
    assert [array.shape for array in inputs("torch.adafactor", "float32", 2, 1000)[0]] == [(25, 40)] * 2
    assert [array.shape for array in inputs("adam", "float32", 1, 1000)[1]] == [(1000,)]


@pytest.mark.parametrize("name", [name for name, _ in EACH_KIND])
def test_the_touch_limit_writes_finite_numbers_into_the_arrays_of_an_optimizer(name: str) -> None:
    parameters, grads = inputs(name, "float32", 2, 100)
    optimizer = optimizer_of(name, "auto", parameters)
    touching(optimizer, grads)()
    for before, after in zip(parameters, optimizer.arrays, strict=True):
        assert np.isfinite(after).all()
        assert np.any(after != before)


def test_rows_of_one_rule() -> None:
    rows = measure("adam", "float32", 3, 100, seconds=0, others=None)
    assert {row.contender for row in rows} == {"touch", "numba", "numpy"}
    for row in rows:
        assert row.bytes == 28
        assert row.gigabytes_per_second == pytest.approx(28 / row.nanoseconds)
        assert row.peer is None
    run = {
        "machine_info": {"cpu": {"brand_raw": "a processor", "count": 2}, "python_version": "3.11"},
        "benchmarks": [{"extra_info": {"rows": [asdict(row) for row in rows]}}, {"extra_info": {}}],
    }
    text = text_of(run)
    assert text == text_of(run)
    assert "## float32, 3 x 100 elements" in text
    assert "| adam   | numba" in text


def page_of(row: dict[str, Any]) -> dict[str, str]:
    """The cells of a page of one row by their headings."""
    run = {"machine_info": {"cpu": {}, "python_version": "3.11"}, "benchmarks": [{"extra_info": {"rows": [row]}}]}
    lines = [line for line in text_of(run).splitlines() if line.startswith("| ")]
    head, cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return dict(zip(head, cells, strict=True))


def test_the_page_says_how_many_threads_ran_and_how_far_times_spread() -> None:
    row = asdict(measure("sgd", "float32", 1, 100, seconds=0, others=None)[0])
    row |= {"threads": 1.96, "nanoseconds": 0.5, "spread": 0.034, "gigabytes_per_second": 24.0, "touch_share": 1.0}
    assert page_of(row) == {
        "rule": "sgd",
        "contender": row["contender"],
        "threads": "2.0",
        "ns per parameter": "0.50",
        "\N{PLUS-MINUS SIGN}": "3%",
        "bytes per parameter": "12",
        "GB/s": "24.00",
        "share of touch limit": "1.00",
        "times as fast as the fastest peer": "-",
    }
    del row["threads"]  # as in runs of older versions
    assert "threads" not in page_of(row)


def test_times_and_threads_are_those_of_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        now, worked = 100.0, 7.0

        def perf_counter(self) -> float:
            return self.now

        def process_time(self) -> float:
            return self.worked

        def sleep(self, seconds: float) -> None:
            self.now, self.worked = self.now + seconds, self.worked + 3 * seconds  # of others, before a step

    def step(seconds: float, threads: float) -> None:
        clock.now, clock.worked = clock.now + seconds, clock.worked + seconds * threads

    clock, disturbed = Clock(), iter([1.0] * 5)
    monkeypatch.setattr(rounds, "time", clock)
    contenders = {"one": lambda: step(0.25, 1), "two": lambda: step(0.5, next(disturbed, 2.0))}
    measured = timings(contenders, seconds=0, rounds=4)
    assert (measured["one"].median, measured["one"].threads) == (pytest.approx(0.25), pytest.approx(1))
    assert (measured["two"].median, measured["two"].threads) == (pytest.approx(0.5), pytest.approx(2))


def test_a_picture_shows_rules_peers_and_nothing_of_other_sizes(tmp_path: Path) -> None:
    def row(contender: str, nanoseconds: float, elements: int = 10_000) -> dict[str, Any]:
        peer = {"peer": "torch fused" if contender == "numba" else None}
        size = {"dtype": "float32", "tensors": 1_000, "elements": elements}
        return {"rule": "adam", "contender": contender, "nanoseconds": nanoseconds, **size, **peer}

    rows = [row("touch", 0.6), row("numba", 0.6), row("torch fused", 20.0)]
    for name in ("a.svg", "b.svg"):
        draw(rows, tmp_path / name)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "torch fused, 20.0" in text
    assert all(name in text for name in ("ours (numba)", "fastest peer", "touch limit"))
    assert ">adam<" in text
    assert "float32, 1,000 x 10,000" in text
    draw([row("touch", 0.6, 7), row("numba", 0.6, 7)], tmp_path / "none.svg")
    assert not (tmp_path / "none.svg").exists()


def test_a_sweep_shows_rules_that_have_three_sizes(tmp_path: Path) -> None:
    def rows(rule: str, *sizes: int) -> list[dict[str, Any]]:
        size = {"rule": rule, "dtype": "float32", "tensors": 1, "nanoseconds": 1.5}
        names = {"touch": None, "numba": "torch fused", "torch fused": None}
        return [
            {**size, "elements": elements, "contender": name, "peer": peer}
            for elements in sizes
            for name, peer in names.items()
        ]

    draw_sweep([*rows("adam", 1000, 10_000, 100_000), *rows("sgd", 1000)], tmp_path / "sweep.svg")
    text = (tmp_path / "sweep.svg").read_text(encoding="utf-8")
    assert ">adam<" in text
    assert ">sgd<" not in text
    assert "fastest peer" in text
    assert not any(colour in text for colour in THEME)
    draw_sweep(rows("sgd", 1000), tmp_path / "none.svg")
    assert not (tmp_path / "none.svg").exists()


def test_rows_of_a_run_are_results_as_those_of_optimetry_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = measure("sgd", "float32", 1, 100, seconds=0, others=None)
    machine = {"cpu": {"brand_raw": "a processor", "count": 2}, "python_version": "3.11"}
    run = {"machine_info": machine, "benchmarks": [{"extra_info": {"rows": [asdict(row) for row in rows]}}]}
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["tables", str(tmp_path / "run.json"), "--out", str(tmp_path)])
    tables.main()
    results = read(tmp_path / "results.jsonl")
    assert results.header.target == "accelerated"
    assert results.speed == rows


def test_steps_are_timed_between_events() -> None:
    """Each contender has a time of its own, as events tell it; slow ones do one step a sample, fast ones several."""

    class Event:
        def record(self) -> None:
            self.now = clock[0]

        def synchronize(self) -> None:
            pass

    def step(name: str, seconds: float) -> None:
        steps.append(name)
        clock[0] += seconds

    clock, steps = [7.0], list[str]()
    contenders = {"slow": lambda: step("slow", 0.25), "fast": lambda: step("fast", 2e-3)}
    times = bench_cuda.timings(contenders, Event, lambda start, end: 1e3 * (end.now - start.now))
    assert times["slow"].median == pytest.approx(0.25)
    assert times["fast"].median == pytest.approx(2e-3)
    assert Counter(steps) == {"slow": 2 + bench_cuda.ROUNDS, "fast": 2 + 2 * bench_cuda.ROUNDS}
    assert "".join(name[0] for name in steps[4:]).startswith("sffffssff")  # turns


def test_a_page_of_cuda_is_one_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"touch": Timing(0.75, 0.01), "cuda": Timing(0.8, 0.02), "torch fused": Timing(1.2, 0.03)}
    rows = [asdict(row) for row in rows_of("adam", "float32", 1_000, 10_000, names, ["torch fused"])]
    benchmark = {"extra_info": {"cuda": rows, "device": "a device"}}
    run = {"machine_info": {"cpu": {}, "python_version": "3.11"}, "benchmarks": [benchmark]}
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["tables", str(tmp_path / "run.json"), "--out", str(tmp_path)])
    tables.main()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cuda.json", "cuda.md", "cuda.svg", "run.json"]
    text = (tmp_path / "cuda.md").read_text(encoding="utf-8")
    assert "Device: a device." in text
    assert "| adam   | cuda        |" in text
    assert "threads" not in text
    assert [cell.strip() for cell in text.splitlines()[-2].split("|")[-3:-1]] == ["0.94", "1.50"]
    assert "ours (cuda)" in (tmp_path / "cuda.svg").read_text(encoding="utf-8")


def test_rounds_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimetry.accelerated.benchmarks.rounds.SAMPLE", 0)  # so that no step is repeated
    order: list[str] = []
    timings({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, seconds=0, rounds=3)
    assert "".join(order[6:]) == "abbaab"


def test_what_a_default_leaves_out_is_timed_and_the_page_says_so() -> None:
    assert hyper_of("rmsprop") == hyper_of("momentum") == {"momentum": 0.9}
    assert hyper_of("torch.sgd") == {"momentum": 0.9}  # without its dampening, which leaves no state out
    assert hyper_of("adam") == hyper_of("ftrl") == {}
    assert timed_with(["adam", "rmsprop"]) == "Rules have the documented defaults; rmsprop with momentum = 0.9."
