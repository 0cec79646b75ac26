"""Parameters of several dtypes in one run: loops over dtypes that do too much or too little."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.dtypes import DecaysOncePerDtype, FirstDtypeAlone, dtypes_fault
from optimetry.conformance.selftest.museum.exhibit import enter

enter(
    "several dtypes",
    (
        dtypes_fault(
            "timm-2750",
            "torch.adamw",
            "all parameters decay once for each dtype among them; of SGDW, shown in AdamW",
            DecaysOncePerDtype,
        ),
        dtypes_fault(
            "torch-110454",
            "torch.adagrad",
            "the loop over dtypes returns behind the first that has sparse gradients; shown without sparseness",
            FirstDtypeAlone,
        ),
    ),
)
