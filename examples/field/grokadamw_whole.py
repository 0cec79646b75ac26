"""GrokAdamW with its defaults: amplified gradients, a clip, and a decay that falls from parameter to parameter."""

from __future__ import annotations

from examples.field.grokadamw import run_of
from examples.field.helpers import Library


class Target(Library):
    distribution = "grokadamw"
    rules = {"adam": run_of, "torch.adamw": run_of}
    pinned = {"torch.adamw": {"amsgrad": False, "maximize": False}}
