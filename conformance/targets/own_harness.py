"""Plays a target by the protocol, under an interpreter that has optimetry.

``python -m optimetry.conformance.targets.own_harness SPEC`` plays one that `load_target` loads, and ``SPEC RULE
ARGUMENT=VALUE…`` one optimizer of a user.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from optimetry.conformance.harness.python_harness import Fault, Player, converse
from optimetry.conformance.targets.own_loading import Own, load
from optimetry.reference.errors import TargetError, UsageError


class OwnPlayer(Player):
    """Answers requests for a target, or for one optimizer of a user."""

    def __init__(self, spec: str, own: Own | None) -> None:
        super().__init__(spec)
        self.own = own

    def hello(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Load the target, and say what it is."""
        return {**super().hello(request), "recorded": hasattr(self.target, "recorded")}

    def loaded(self) -> Any:
        """Make the target."""
        try:
            return load(self.spec, self.own)
        except (TargetError, UsageError) as error:
            raise Fault(str(error).removeprefix(f"target {self.spec}: ")) from error


if __name__ == "__main__":
    spec, *words = sys.argv[1:]
    converse(OwnPlayer(spec, Own(spec, words[0], tuple(words[1:])) if words else None))
