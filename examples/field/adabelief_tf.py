"""adabelief-tf: AdaBelief of its authors for TensorFlow, without the rectified rate."""

from __future__ import annotations

import examples.field.keras_legacy as keras_legacy  # isort: skip
from adabelief_tf import AdaBeliefOptimizer

from examples.field.helpers import Library
from examples.field.keras_legacy import betas, epsilon


def adabelief(hyper, parameters):
    given = {"rectify": False, "print_change_log": False}
    return keras_legacy.Run(parameters, AdaBeliefOptimizer(**betas(hyper), **epsilon(hyper), **given))


class Target(Library):
    distribution = "adabelief-tf"
    rules = {"papers.adabelief": adabelief}

    def refusal(self, subject, hyper):
        return keras_legacy.no_epsilon_of_zero(hyper)
