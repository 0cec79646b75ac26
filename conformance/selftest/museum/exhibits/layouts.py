"""Parameters that are not contiguous: operations in place that do not reach them."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.layouts import LostInACopy, layout_fault
from optimetry.conformance.selftest.museum.exhibit import enter

enter(
    "memory",
    (
        layout_fault(
            "torch-118115",
            "torch.rprop",
            "an operation in place on a tensor that is not contiguous has no effect, on MPS; shown on the CPU",
            LostInACopy,
        ),
    ),
)
