"""RangerAdaBelief with its defaults: AdaBelief, rectified, of centred gradients, which looks ahead."""

from __future__ import annotations

from examples.field.ranger_adabelief import Ranger, run_of


class Target(Ranger):
    distribution = "ranger-adabelief"
    rules = {"torch.radam": run_of, "papers.adabelief": run_of}
