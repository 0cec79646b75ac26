"""lion-tf: Lion over the optimizers that Keras has had since 2.11."""

from __future__ import annotations

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

from lion_tf import Lion

from examples.field.helpers import Library
from examples.field.tf_keras_optimizers import Run, betas


def lion(hyper, parameters):
    decay = {"weight_decay": hyper["weight_decay"] or None}
    return Run(parameters, Lion(**betas(hyper), **decay, jit_compile=False))


class Target(Library):
    distribution = "lion-tf"
    rules = {"papers.lion": lion}
