"""keras-bert: Adam whose rate rises for four steps, and falls so that it would be 0 behind forty."""

from __future__ import annotations

from functools import partial

from examples.field.keras_bert import adam
from examples.field.keras_legacy import EpsilonAboveZero


class Target(EpsilonAboveZero):
    distribution = "keras-bert"
    rules = {"adam": partial(adam, decay_steps=40, warmup_steps=4)}
