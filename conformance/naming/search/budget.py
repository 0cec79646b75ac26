"""Bounds what a search costs, and tells what it is doing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

SEARCH_SECONDS = 60.0
"""How long a search may take, of the processor's time; one that ends by itself is shorter."""

OFTEN = 16
"""How many times a search asks whether there is time left before the clock is read: that costs more than programs."""


@dataclass
class Budget:
    """What a search may cost, and what it did.

    Attributes:
        seconds: of the processor's time.
        beat: called now and then.
        asks: called now and then with what the search is doing; returns whether it is to end.
        programs: how many programs were evaluated.
        edits: in how many places formulas are being edited.
        best: the formula nearest to the target so far, of those that agree with it in most digits; empty without any.
        ended: whether the search was ended, by this or by `asks`.
        interrupted: whether it was ended by `asks`.
        asked: how often it was asked for what is left.
    """

    seconds: float = SEARCH_SECONDS
    beat: Callable[[], None] = lambda: None
    asks: Callable[[str], bool] = lambda doing: False
    programs: int = 0
    edits: int = 1
    best: str = ""
    ended: bool = False
    interrupted: bool = False
    asked: int = 0
    _apart: float = math.inf
    _began: float = field(default_factory=time.process_time)

    def left(self) -> bool:
        """Whether there is time left."""
        self.beat()
        self.asked += 1
        if self.asked % OFTEN == 1 and self.wanted():
            self.ended = self.ended or time.process_time() - self._began > self.seconds
        return not self.ended

    def wanted(self) -> bool:
        """Whether nobody has asked the search to end."""
        self.interrupted = self.interrupted or self.asks(self.doing)
        self.ended = self.ended or self.interrupted
        return not self.interrupted

    def saw(self, apart: float, name: Callable[[], str]) -> None:
        """Note a formula that agrees in most digits, if it is the nearest so far."""
        if apart < self._apart:
            self._apart, self.best = apart, name()

    @property
    def doing(self) -> str:
        """What the search is doing, in one line."""
        near = f"nearest: {self.best}" if self.best else "none is near"
        return f"{self.programs:,} formulas with {self.edits} edit{'s' * (self.edits > 1)}, {near}"

    @property
    def ending(self) -> str:
        """How the search was ended before its end; empty where it was not."""
        how = "interrupted" if self.interrupted else "ended"
        return f"; the search was {how} after {self.programs:,} formulas" if self.ended else ""
