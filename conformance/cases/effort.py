"""How many cases a verdict rests on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from optimetry.conformance.cases.large import FEW_SCALES, MORE_SCALES, SCALES, Scale


@dataclass(frozen=True)
class Effort:
    """The size of one judgement.

    Attributes:
        name: as on the command line.
        cases: cases compared with the oracle, for each optimizer and dtype.
        law_cases: cases each law is tried on.
        scales: the large cases, which are tried after the others.
        pairs: whether all pairs of a parameter and a gradient are compared as well, where that can be done.
    """

    name: str
    cases: int
    law_cases: int
    scales: tuple[Scale, ...] = ()
    pairs: bool = False


EFFORTS = {
    effort.name: effort
    for effort in (
        Effort("quick", 80, 3, FEW_SCALES),
        Effort("standard", 400, 12, SCALES),
        Effort("thorough", 2000, 40, MORE_SCALES),
    )
}

EXHAUSTIVE = dataclasses.replace(EFFORTS["thorough"], name="exhaustive", pairs=True)
"""The effort of a check that certifies, too."""
