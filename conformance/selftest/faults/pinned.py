"""Targets without an argument for some hyperparameters, whose constants hide what their formula has otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optimetry.conformance.naming.known.points import at
from optimetry.conformance.selftest.faults.fault import Fault, FaultyTarget, enter
from optimetry.conformance.selftest.faults.hooks import running
from optimetry.reference.books.torch.muon import Muon


class _OfMuon(FaultyTarget):
    """Offers Muon with the iteration and the epsilon of its defaults, as muon-optimizer."""

    pinned: Mapping[str, Mapping[str, Any]] = {
        Muon.name: {x.name: x.default for x in Muon.hyperparameters() if x.name in ("a", "b", "c", "eps", "ns_steps")}
    }


enter(
    Fault(
        name="averaged_buffer_beside_constants",
        optimizer=Muon.name,
        defect="an average of gradients for their sum, with five iterations, which forget how large it was: as in "
        "muon-optimizer, where gradients alone that are far below epsilon show it",
        start=running(lambda rule: at(Muon.name, {"buffer": "average"}, rule.hyper())),
        rejected_by="oracle",
        outcome="dialect: averaged_buffer",
        kind=_OfMuon,
    ),
)
