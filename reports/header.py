"""The header of results: their target, and the machine that they were made on."""

from __future__ import annotations

import platform
from importlib import metadata

from optimetry.reports.results import Header


def header_of(target: str, version: str, *, dtypes: list[str], optimizers: list[str], seed: int, effort: str) -> Header:
    """Return the header of results that are made here."""
    return Header(
        optimetry=metadata.version("optimetry"),
        target=target,
        target_version=version,
        platform=platform_here(),
        dtypes=dtypes,
        optimizers=optimizers,
        seed=seed,
        effort=effort,
    )


def platform_here() -> str:
    """Describe this platform: system, machine, Python and NumPy."""
    return (
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {metadata.version('numpy')}"
    )
