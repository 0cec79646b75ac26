"""Lists the frameworks that come with a target, for sessions, loading, tests, ledgers and publishing.

Standard library alone, and no framework is imported: noxfile.py runs this file where optimetry is not installed.
"""

from __future__ import annotations

from typing import NamedTuple


class Framework(NamedTuple):
    """One framework.

    Attributes:
        name: the target's: the folder beside this file, the extra in ``pyproject.toml``, ``reports/expected/NAME.txt``.
        distribution: what pip calls it, or its registry.
        version: the one its table was written for, which sessions install and published results name.
        module: what Python calls it; where others have a package of that name, a module that only this one has. Empty
            for one that is no package of Python.
        dtypes: what is judged for publishing.
        apart: whether it is installed in an environment of its own, where optimetry need not be: its adapter needs that
            framework and NumPy alone, and `--python` names the interpreter. Sessions of our tests do without it.
        python: the one Python that it can be installed for, where that is not ours: there is no extra then.
        beside: what pip must be given beside it there.
        registry: what installs it: pip, or npm.
        program: for one whose adapter is a program, what runs it and the file in its folder. ``python`` is our
            interpreter, or that of `--python`. Sessions of our tests do without it.
    """

    name: str
    distribution: str
    version: str
    module: str
    dtypes: tuple[str, ...] = ("float32", "float64")
    apart: bool = False
    python: str = ""
    beside: tuple[str, ...] = ()
    registry: str = "pip"
    program: tuple[str, ...] = ()

    @property
    def extra(self) -> bool:
        """Whether ``pyproject.toml`` has an extra of its name: pip can install it for our Python."""
        return self.registry == "pip" and not self.python

    @property
    def together(self) -> bool:
        """Whether it is installed beside optimetry, in the one environment of all such."""
        return not self.apart and not self.program


TORCH = "2.13.0"
"""Python's frontend and that in C++ are in one wheel."""

ROWS = (
    # Without a pin, pip takes the newest build of torch, with gigabytes of GPU libraries.
    Framework("torch", "torch", TORCH, "torch", ("float16", "bfloat16", "float32", "float64")),
    Framework("paddle", "paddlepaddle", "3.3.1", "paddle"),
    Framework("optax", "optax", "0.2.8", "optax"),
    Framework("keras", "keras", "3.15.0", "keras"),
    Framework("tensorflow", "tensorflow-cpu", "2.21.0", "tensorflow", apart=True),
    Framework("mlx", "mlx", "0.32.4", "mlx", apart=True),
    Framework("tinygrad", "tinygrad", "0.14.0", "tinygrad", ("float32",), apart=True),
    Framework("mindspore", "mindspore", "2.10.0", "mindspore", ("float32",), apart=True),
    Framework("paddle2", "paddlepaddle", "2.6.2", "paddle", apart=True, python="3.10", beside=("numpy<2",)),
    Framework("torchcpp", "torch", TORCH, "", program=("python", "frontend.py")),
    Framework("tfjs", "@tensorflow/tfjs", "4.22.0", "", ("float32",), registry="npm", program=("node", "harness.js")),
    # Its protocol buffers are of a version that newer packages refuse to read.
    Framework("fluid", "paddlepaddle", "1.8.5", "paddle.fluid", apart=True, python="3.7", beside=("protobuf<3.21",)),
)

FRAMEWORKS = {row.name: row for row in ROWS}
"""The rows by name, in the order in which they are published."""

TOGETHER = tuple(row.name for row in ROWS if row.together)
"""Those that are installed beside optimetry, one environment for all."""
