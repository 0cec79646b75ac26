"""The figures of recomputation and compression are measured, and stand in the tables."""

from typing import Any

import pytest

from optimetry.accelerated.benchmarks import bench_dgc, bench_recompute
from optimetry.accelerated.benchmarks.tables import text_of


def test_recomputation_is_measured_in_bytes_and_seconds() -> None:
    """Bytes are counted, so they are held here; seconds are held by whoever runs the benchmark."""
    figures = bench_recompute.measure(batch=64, width=16, rounds=1)
    assert figures["bytes ratio"] <= 0.3
    assert figures["bytes ratio"] == figures["recomputed bytes"] / figures["plain bytes"]
    assert figures["plain seconds"] > 0
    assert figures["recomputed seconds"] > 0


def test_the_wire_is_measured() -> None:
    pytest.importorskip("torch", reason="the extra torch is not installed")
    figures = bench_dgc.wire(elements=20_000, workers=2)
    assert figures["dense bytes"] == 80_000
    assert figures["ratio"] <= 0.0025


@pytest.mark.parametrize("engine", ["numba", "numpy"])
def test_compression_is_measured_against_the_reference(engine: str) -> None:
    figures = bench_dgc.compression(elements=5_000, engine=engine, rounds=1)
    assert figures["elements"] == 5_000


def test_figures_stand_in_the_tables() -> None:
    run: dict[str, Any] = {
        "benchmarks": [{"extra_info": {"figures": {"of": "Recomputation", "bytes ratio": 0.25, "time ratio": 1.2}}}],
        "machine_info": {"cpu": {}, "python_version": "3"},
    }
    text = text_of(run)
    assert "## Recomputation" in text
    assert "|          0.25 |          1.2 |" in text
    assert run["benchmarks"][0]["extra_info"]["figures"]["of"] == "Recomputation"
