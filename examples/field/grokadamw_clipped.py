"""GrokAdamW with its clip of every gradient, which is a default, and nothing else that it adds to AdamW."""

from __future__ import annotations

from examples.field.grokadamw import PLAIN, run_of
from examples.field.helpers import Library


def adam(hyper, parameters):
    return run_of(hyper, parameters, **{**PLAIN, "gradient_clipping": 1.0})


class Target(Library):
    distribution = "grokadamw"
    rules = {"adam": adam, "papers.adam": adam}
