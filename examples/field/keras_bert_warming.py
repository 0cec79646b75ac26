"""keras-bert: Adam whose rate rises for four steps, and falls so that it would be 0 behind forty."""

from __future__ import annotations

from functools import partial

from examples.field.helpers import Library
from examples.field.keras_bert import adam
from examples.field.keras_legacy import no_epsilon_of_zero


class Target(Library):
    distribution = "keras-bert"
    rules = {"adam": partial(adam, decay_steps=40, warmup_steps=4)}

    def refusal(self, subject, hyper):
        return no_epsilon_of_zero(hyper)
