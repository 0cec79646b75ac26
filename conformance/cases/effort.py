"""How many cases a verdict rests on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """The size of one judgement.

    Attributes:
        name: as on the command line.
        cases: cases compared with the oracle, for each optimizer and dtype.
        law_cases: cases each law is tried on.
    """

    name: str
    cases: int
    law_cases: int


EFFORTS = {
    effort.name: effort
    for effort in (Effort("quick", 80, 3), Effort("standard", 400, 12), Effort("thorough", 2000, 40))
}
