from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.compression import Compression
from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.engines.numba import NumbaEngine
from optimetry.accelerated.kernels.kernel import Kernel, Pass
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.source import loop_text, machine_code, tile_text
from optimetry.reference.errors import EngineUnavailableError
from optimetry.reference.rules import RULES
from tests.accelerated.cases import EACH_KIND, has_power, kernel, state_bits, variants_in

SCRIPT = """
import sys
import numpy as np
{before}
from optimetry.accelerated.optimizer import Accelerated
w = np.ones(3)
optimizer = Accelerated("momentum", [w], {{"momentum": 0.9}})
optimizer.step([np.ones(3)], 0.5)
assert (w == 0.5).all()
print(optimizer.engine, "|", optimizer.engine_reason)
try:
    print(Accelerated("momentum", [w], {{"momentum": 0.9}}, engine="numba").engine)
except Exception as error:
    print(type(error).__name__)
"""


def python(before: str = "", **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(before=before)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("before", "environment", "reason"),
    [
        ("sys.modules['numba'] = None", {}, "Numba cannot be imported: ModuleNotFoundError"),
        ("import numba; del numba.njit", {}, "Numba cannot be imported: ImportError"),
        ("", {"NUMBA_DISABLE_JIT": "1"}, "NUMBA_DISABLE_JIT is set"),
        (
            (
                "import numba.core.dispatcher as d\n"
                "def broken(*a): raise OSError('no LLVM')\n"
                "d.Dispatcher.compile = broken"
            ),
            {},
            "Numba does not compile here: OSError: no LLVM",
        ),
    ],
    ids=["missing", "broken", "disabled", "not compiling"],
)
def test_without_numba_numpy_works_and_says_so(before: str, environment: dict[str, str], reason: str) -> None:
    printed, asked = python(before, **environment)
    assert printed.startswith(f"numpy | {reason}")
    assert asked == "EngineUnavailableError"


def test_the_preferred_engine_gives_no_reason() -> None:
    assert python() == ["numba | None", "numba"]


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        assert python(NUMBA_CACHE_DIR=str(tmp_path))[1] == "numba"
        made = sorted((file.name, file.stat().st_mtime_ns) for file in tmp_path.rglob("momentum*.nb*"))
        assert len(made) == 2
    before = made
    python(NUMBA_CACHE_DIR=str(tmp_path))
    assert before == sorted((file.name, file.stat().st_mtime_ns) for file in tmp_path.rglob("momentum*.nb*"))


def test_a_cache_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """A file where the folder should be refuses even the superuser; Numba then looks for another."""
    blocked = tmp_path / "file"
    blocked.touch()
    assert python(NUMBA_CACHE_DIR=str(blocked / "below"))[0] == "numba | None"


def test_no_folder_for_the_cache() -> None:
    assert python("import numba.core.caching as c; c.CacheImpl._locator_classes = []")[0] == "numba | None"


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    full = (
        "import numba.core.caching as c\n"
        "def full(*a): raise OSError(28, 'No space left')\n"
        "c.IndexDataCacheFile.save = full"
    )
    assert python(full, NUMBA_CACHE_DIR=str(tmp_path))[0] == "numba | None"


def test_a_cache_that_an_older_version_wrote(tmp_path: Path) -> None:
    renamed = (
        "import numba.core.caching as c\n"
        "def load(*a): raise ModuleNotFoundError('No module named optimetry.accelerated.older')\n"
        "c.IndexDataCacheFile.load = load"
    )
    assert python(renamed, NUMBA_CACHE_DIR=str(tmp_path))[0] == "numba | None"


def test_another_formula_is_another_entry_of_the_cache() -> None:
    pass_ = kernel("sgd", {}).passes[0]
    digest = loop_text._digest("text", pass_.function)
    assert digest == loop_text._digest("text", pass_.function)
    assert digest != loop_text._digest("other text", pass_.function)
    assert digest != loop_text._digest("text", lambda w, g, lr: (w + lr * g,))


def writer(made: Kernel, pass_: Pass) -> loop_text.Writer:
    """The function that writes the loop of a pass."""
    if made.factors is None:
        return loop_text.text_of
    return tile_text.crossed_text if pass_ is made.passes[0] else tile_text.tiled_text


@pytest.mark.parametrize(
    ("name", "hyper", "dtype"),
    [
        *variants_in(["float32"], "bfloat16", lambda kernel: not has_power(kernel)),
        *((name, hyper, "bfloat16") for name, hyper in EACH_KIND if name in RULES),
    ],
)
def test_loops_are_vectorised_and_nothing_is_contracted(name: str, hyper: dict[str, Any], dtype: str) -> None:
    made = kernel(name, hyper)
    for pass_ in made.passes:
        written = loop_text.loop_of(pass_, DTYPES[dtype], False, writer(made, pass_))
        loop: Any = machine_code.in_machine_code(written, loop_text.SIGNATURE)
        if loop.stats.cache_hits:  # what other tests have compiled has no text
            loop = machine_code.in_machine_code(written, loop_text.SIGNATURE, cache=False)
        (text,) = loop.inspect_llvm().values()
        assert re.search(rf"fmul <\d+ x {'float' if pass_.writes else 'double'}>", text)  # norms alone are of doubles
        assert not re.search(r"= f(mul|sub|div) \w*(fast|contract|reassoc)", text)
        assert len(re.findall(r"= fadd \w*(?:fast|contract)", text)) == 0
        assert "llvm.fma" not in text


def test_the_function_of_a_kernel_is_compiled_once_for_a_precision() -> None:
    (pass_,) = kernel("sgd", {}).passes
    for dtype in ("float32", "bfloat16", "float64"):
        loop = loop_text.loop_of(pass_, DTYPES[dtype], False)
        machine_code.in_machine_code(loop, loop_text.SIGNATURE, cache=False)
    called: Any = loop_text._called(pass_.function)
    assert sorted(str(arguments[0]) for arguments in called.signatures) == ["float32", "float64"]


def test_a_forked_child_has_its_own_threads() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    script = (
        "import os, numpy as np\n"
        "from optimetry.accelerated.optimizer import Accelerated\n"
        "w = np.ones(1 << 20)\n"
        "o = Accelerated('sgd', [w], threads=2)\n"
        "g = [np.ones(1 << 20)]\n"
        "o.step(g, 0.25)\n"
        "child = os.fork()\n"
        "o.step(g, 0.25)\n"
        "assert (w == 0.5).all()\n"
        "os._exit(0) if child == 0 else None\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_optimizers_in_several_threads() -> None:
    results: dict[int, Any] = {}

    def work(i: int) -> None:
        optimizer = Accelerated("adam", [np.ones(300_000, np.float32)], threads=2)
        grads = [np.linspace(-1, 1, 300_000, dtype=np.float32)]
        for _ in range(5):
            optimizer.step(grads)
        results[i] = state_bits(optimizer)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result == results[0] for result in results.values())


def test_an_engine_that_was_asked_for_is_the_one_that_runs() -> None:
    assert Accelerated("sgd", [np.ones(1)], engine="numpy").engine == "numpy"
    assert Accelerated("sgd", [np.ones(1)]).engine == "numba"


@pytest.mark.parametrize("part", ["executable", "selector"])
def test_what_does_not_compile_falls_back_with_all_that_belongs_to_it(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any, **keywords: Any) -> None:
        raise EngineUnavailableError("Numba does not compile here")

    monkeypatch.setattr(NumbaEngine, part, broken)
    worker = Compression([np.zeros(4)], 0.0)
    assert (worker.engine, worker.engine_reason) == ("numpy", "Numba does not compile here")
    (message,) = worker.compress([np.arange(4.0)], 0.5)
    assert message.indices.tolist() == [2, 3]
    with pytest.raises(EngineUnavailableError, match=r"^Numba does not compile here$"):
        Compression([np.zeros(4)], 0.0, engine="numba")
