"""Step counts: of the wrong start, the wrong scope, or never advanced."""

from __future__ import annotations

from optimetry.conformance.naming.alterations import with_gradients
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import FOUND
from optimetry.conformance.selftest.faults.hooks import Grads, hooked
from optimetry.conformance.selftest.faults.state import OneCount, RunWithMemory
from optimetry.conformance.selftest.museum.exhibit import bug, edited, enter

IN_TURN = "diverges: documented, but counts the updates of all parameters in turn"


class _CountOfTheLast(RunWithMemory):
    """Advances the count of the last parameter that has a gradient, and takes it for all."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Count for all what the last one has counted."""
        own = list(self.training.updates)
        moved = with_gradients(grads)
        if moved:
            self.training.updates = [own[moved[-1]]] * len(grads)
        after = super().step(grads, learning_rate)
        self.training.updates = [count + (i in moved[-1:]) for i, count in enumerate(own)]
        return after


enter(
    "step count",
    (
        bug("diffsharp-292", "adam", "one count is advanced by every tensor in turn", OneCount, IN_TURN),
        bug(
            "burn-888",
            "adam",
            "time starts at 0, where the corrections divide by 1 - b**0: training gives NaN",
            hooked(count=lambda count: count - 1),
            "dialect: count_behind",
        ),
        bug(
            "a3c-12",
            "adam",
            "workers share the moments, and each counts its own steps: shown as two workers that take turns",
            hooked(count=lambda count: (count + 1) // 2),
            "diverges: documented, but counts every 2 updates as one",
        ),
        bug(
            "deepspeed-1823",
            "papers.adamw",
            "one count of a group is advanced by every part of it",
            OneCount,
            IN_TURN,
        ),
        bug(
            "deepspeed-8471",
            "torch.adamw",
            "the count of the last tensor that has a gradient is advanced alone, and taken for all",
            _CountOfTheLast,
            "diverges: documented, but counts for all what the last parameter with a gradient has counted",
        ),
        edited(
            "flux-789",
            "papers.nadam",
            "the powers of the decays are never read back: every step is corrected as the first",
            ("mu_product = state.mu_product * mu", "mu_product = mu"),
            ("self.nu**t", "self.nu"),
            outcome=FOUND,
        ),
    ),
)
