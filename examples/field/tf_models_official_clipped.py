"""TensorFlow's Model Garden: AdamWeightDecay with the clip that it has unless it is told."""

from __future__ import annotations

from functools import partial

from examples.field.keras_legacy import EpsilonAboveZero
from examples.field.tf_models_official import adam


class Target(EpsilonAboveZero):
    distribution = "tf-models-official"
    rules = {"adam": partial(adam, gradient_clip_norm=1.0)}
