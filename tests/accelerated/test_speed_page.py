"""What `nox -s bench -- published` times is what the published page of speed needs."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

from optimetry.accelerated.kernels import offered

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "reports" / "published" / "speed"


def selection(page: str) -> str:
    """A ``-k`` of noxfile.py."""
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    (value,) = (
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == page
    )
    text = ast.literal_eval(value)
    assert isinstance(text, str)
    return text


def collected(*options: str, large: str = "") -> set[str]:
    """The benchmarks that pytest selects, as ``file::name[values]``."""
    quiet = ("-q", "--collect-only", "-p", "no:cacheprovider", "-o", "python_files=bench_*.py")
    command = (sys.executable, "-m", "pytest", *quiet, "accelerated/benchmarks", *options)
    environment = {"PATH": "", "OPTIMETRY_BENCH_LARGE": large}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return {line.rpartition("/")[2] for line in done.stdout.splitlines() if "::" in line}


def test_every_rule_and_size_of_the_page_is_timed_and_no_other() -> None:
    rows = {
        *(f"test_one_tensor[{rule}-{dtype}-10000000]" for rule in offered() for dtype in ("float32", "bfloat16")),
        *(f"test_many_tensors[{rule}-{size}]" for rule in offered() for size in ("1000-10000", "10000-100")),
    }
    chosen = collected("-k", selection("SPEED_PAGE"), large="1")
    assert {name for name in chosen if name.startswith("bench_rules.py")} == {f"bench_rules.py::{row}" for row in rows}
    parts = {name for name in collected() if not name.startswith(("bench_rules.py", "bench_cuda.py"))}
    assert len(parts) > 10
    assert chosen == parts | {f"bench_rules.py::{row}" for row in rows}


def test_the_page_of_cuda_has_large_tensors_and_many() -> None:
    sizes = ("float32-1-100000000", "bfloat16-1-100000000", "float32-1000-10000", "float32-10000-100")
    assert collected("-k", selection("CUDA_PAGE")) == {
        f"bench_cuda.py::test_cuda[{rule}-False-{size}]" for rule in offered() for size in sizes
    }


def test_the_published_page_has_these_sizes() -> None:
    published = json.loads((PUBLISHED / "speed.json").read_text(encoding="utf-8"))
    sizes = {(row["dtype"], row["tensors"], row["elements"]) for row in published["rows"]}
    assert sizes == {
        *((dtype, 1, 10_000_000) for dtype in ("float32", "bfloat16")),
        *(("float32", *size) for size in ((1_000, 10_000), (10_000, 100))),
    }
