"""adabelief-tf: AdaBelief of its authors for TensorFlow, without the rectified rate."""

from __future__ import annotations

from examples.field.keras_legacy import EpsilonAboveZero, Run  # isort: skip
from adabelief_tf import AdaBeliefOptimizer

from examples.field.tf_keras_optimizers import betas, epsilon


def adabelief(hyper, parameters):
    given = {"rectify": False, "print_change_log": False}
    return Run(parameters, AdaBeliefOptimizer(**betas(hyper), **epsilon(hyper), **given))


class Target(EpsilonAboveZero):
    distribution = "adabelief-tf"
    rules = {"papers.adabelief": adabelief}
