"""Lists the frameworks that come with a target, for sessions, loading, tests, ledgers and publishing.

Standard library alone, and no framework is imported: noxfile.py runs this file where optimetry is not installed.
"""

from __future__ import annotations

from typing import NamedTuple


class Framework(NamedTuple):
    """One framework.

    Attributes:
        name: the target's: the folder beside this file, the extra in ``pyproject.toml``, ``reports/expected/NAME.txt``.
        distribution: what pip calls it.
        version: the one its table was written for, which sessions install and published results name.
        module: what Python calls it.
        dtypes: what is judged for publishing.
    """

    name: str
    distribution: str
    version: str
    module: str
    dtypes: tuple[str, ...] = ("float32", "float64")


ROWS = (
    # Without a pin, pip takes the newest build of torch, with gigabytes of GPU libraries.
    Framework("torch", "torch", "2.13.0", "torch", ("float16", "bfloat16", "float32", "float64")),
    Framework("paddle", "paddlepaddle", "3.3.1", "paddle"),
    Framework("optax", "optax", "0.2.8", "optax"),
    Framework("keras", "keras", "3.15.0", "keras"),
)

FRAMEWORKS = {row.name: row for row in ROWS}
"""The rows by name, in the order in which they are published."""
