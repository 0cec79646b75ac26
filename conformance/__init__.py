"""Judges any optimizer against its document, with tolerances derived from rounding errors.

CONTRIBUTING.md says what each room of this package holds, and leads one gradient from the command to its table row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

# pytest imports this package wherever optimetry is installed: nothing heavy belongs here.
if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from optimetry.conformance.targets.protocol import Target

__all__ = ["parametrize_with_checks"]


def parametrize_with_checks(
    target: Target | str,
    *,
    optimizers: Iterable[str] | None = None,
    dtypes: Iterable[str] = ("float32", "float64"),
    effort: str = "quick",
    seed: int = 0,
    expect: str | Path | None = None,
    book: str = "fluid",
) -> pytest.MarkDecorator:
    """Decorate a test function with one check for each optimizer, dtype and engine of a target.

    .. code-block:: python

        @parametrize_with_checks(MyTarget(), optimizers=["adam", "sgd"])
        def test_documented(check):
            check()

    Args:
        target: a target, or what ``optimetry check`` takes: a built-in name, or ``module:object``.
        optimizers: rule names, all of the book by default.
        dtypes: dtype names.
        effort: ``quick``, ``standard`` or ``thorough``.
        seed: the seed of the cases.
        expect: the path of a ledger, as for ``optimetry check --expect``: what it lists is expected to fail, and a
            line of it that is stale fails.
        book: whose document is the judge: ``fluid``, ``papers`` or ``torch``.

    Raises:
        UsageError: a name is unknown, a list is empty, or the seed is no whole number.
        TargetError: the target cannot be loaded, or is no target.
        LedgerError: the ledger cannot be read.
    """
    import pytest

    from optimetry.conformance.plugin.checks import Judging, parameters

    judging = Judging.of(target, optimizers, dtypes, effort, seed, expect, book)
    return pytest.mark.parametrize("check", parameters(judging))
