"""Plays an optimizer of a user by the protocol: ``python -m optimetry.conformance.targets.own_harness SPEC RULE …``."""

from __future__ import annotations

import sys
from typing import Any

from optimetry.conformance.harness.python_harness import Fault, Player, converse
from optimetry.conformance.targets.own_loading import Own, load_own
from optimetry.reference.errors import UsageError


class OwnPlayer(Player):
    """Answers requests for one optimizer of a user."""

    def __init__(self, own: Own) -> None:
        super().__init__(own.spec)
        self.own = own

    def loaded(self) -> Any:
        """Make the target."""
        try:
            return load_own(self.own)
        except UsageError as error:
            raise Fault(str(error).removeprefix(f"target {self.spec}: ")) from error


if __name__ == "__main__":
    converse(OwnPlayer(Own(sys.argv[1], sys.argv[2], tuple(sys.argv[3:]))))
