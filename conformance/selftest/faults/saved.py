"""Saved states that lack something, or that are read for another parameter than they were saved for.

Each shows where some option is on, where some parameter has had no gradient, or where there are more than ten.
"""

from __future__ import annotations

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, enter
from optimetry.conformance.selftest.faults.state import LosesSlot, RunWithMemory

Saved = dict[str, list[Array]]


class _SavesTheUpdated(RunWithMemory):
    """Saves the state of parameters that have been updated, and loads it by position."""

    def state(self) -> Saved:
        """Return what parameters have that were updated, one behind the other."""
        updated = np.flatnonzero(self.training.updates)
        return {slot: [arrays[i] for i in updated] for slot, arrays in super().state().items()}

    def load(self, state: Saved) -> None:
        """Load into the first parameters, where the shapes allow."""
        filled = super().state()
        for slot, arrays in state.items():
            for i, array in enumerate(arrays):
                if array.shape == filled[slot][i].shape:
                    filled[slot][i] = array
        super().load(filled)


class _OrdersByName(RunWithMemory):
    """Loads arrays in the order of their sorted names, in which ``param_10`` stands before ``param_2``."""

    def load(self, state: Saved) -> None:
        """Load what is saved of another parameter where the shapes allow."""
        count = len(self.training.parameters)
        by_name = sorted(range(count), key="param_{}".format)
        moved = {
            slot: [arrays[j] if arrays[j].shape == arrays[i].shape else arrays[i] for i, j in enumerate(by_name)]
            for slot, arrays in state.items()
        }
        super().load(moved)


enter(
    Fault(
        name="saved_without_the_largest_moment",
        optimizer="torch.adam",
        defect="the largest second moment of AMSGrad is not saved",
        start=LosesSlot,
        rejected_by="resuming",
    ),
    Fault(
        name="saved_without_parameters_at_rest",
        optimizer="momentum",
        defect="parameters without any step are not saved, and states are loaded by position",
        start=_SavesTheUpdated,
        rejected_by="resuming",
    ),
    Fault(
        name="saved_in_the_order_of_names",
        optimizer="adam",
        defect="a saved state is sorted by name, param_10 before param_2",
        start=_OrdersByName,
        rejected_by="resuming",
    ),
)
