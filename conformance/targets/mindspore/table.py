"""Maps each documented rule or wrapper to what MindSpore offers for it, with its arguments: a table for each engine.

Documented hyperparameters are passed as they are; where a class computes another rule under the same name, the suite
finds it.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimetry.conformance.targets.mindspore.experimental import EXPERIMENTAL
from optimetry.conformance.targets.mindspore.nn import NN
from optimetry.conformance.targets.offers import Offer

ENGINES: Mapping[str, Mapping[str, Offer]] = {"nn": NN, "experimental": EXPERIMENTAL}
"""The table of each engine."""

OFFERS: Mapping[str, Offer] = {**EXPERIMENTAL, **NN}
"""What some engine offers."""

LAMB = "mindspore.nn.Lamb has no kernel on the CPU"
LARS = "mindspore.nn.LARS has no kernel on the CPU"

ABSENT: Mapping[str, str] = {
    "lars_momentum": LARS,
    "lamb": LAMB,
    "papers.lars": LARS,
    "papers.lamb": LAMB,
    "asgd": "mindspore has no class that averages the last gradients",
    "dgc_compress": "mindspore has no deep gradient compression",
    "l1_decay": "mindspore has no L1 decay",
    "exponential_moving_average": "mindspore has no averages of parameters",
    "model_average": "mindspore has no averages of parameters",
}
