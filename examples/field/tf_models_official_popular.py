"""TensorFlow's Model Garden: LARS whose learning rate is applied behind the momentum, which it calls popular."""

from __future__ import annotations

from functools import partial

from examples.field.helpers import Library
from examples.field.tf_models_official import lars


class Target(Library):
    distribution = "tf-models-official"
    rules = {
        "lars_momentum": partial(lars, classic_momentum=False),
        "papers.lars": partial(lars, classic_momentum=False),
    }
