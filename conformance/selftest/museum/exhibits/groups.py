"""Groups of parameters: what one of them has that belongs to another."""

from __future__ import annotations

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.groups import OneRate, groups_fault
from optimetry.conformance.selftest.faults.mutations import mutated
from optimetry.conformance.selftest.museum.exhibit import enter
from optimetry.conformance.targets.numpy.groups import Grouped
from optimetry.conformance.targets.protocol import Hyper


class _RectifiedAsTheFirst(Grouped):
    """Keeps the rectification of each step, which the first group to come there has computed."""

    def add(self, hyper: Hyper, parameters: list[Array]) -> None:
        """Add a group that uses the first one's."""
        super().add(hyper, parameters)
        rules = [run.training.rule for run in self.runs]  # type: ignore[attr-defined]
        object.__setattr__(rules[-1], "rectified", rules[0])


enter(
    "groups of parameters",
    (
        groups_fault(
            "radam-buffer",
            "papers.radam",
            "the rectification is kept for a step number, and used for a group with other betas",
            _RectifiedAsTheFirst,
            start=mutated(
                "papers.radam",
                ("1 - self.beta2**t\n", "1 - (beta2 := getattr(self, 'rectified', self).beta2) ** t\n"),
                ("2 / (1 - self.beta2) - 1", "2 / (1 - beta2) - 1"),
                ("2 * t * self.beta2**t", "2 * t * beta2**t"),
            ),
        ),
        groups_fault(
            "deepspeed-7713",
            "torch.muon",
            "a scheduler writes one learning rate into the groups of Muon and of Adam; shown in two of Muon",
            OneRate,
        ),
    ),
)
