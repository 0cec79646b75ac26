"""What the documents say, in NumPy: one readable declaration per optimizer, behind the documented API.

Here are the names that the documents' users know: the optimizers with their aliases, the wrappers, regularizers, clips
and schedulers. They are imported when first used, so that `optimetry.reference.rules`, the update rules alone, needs no
more than NumPy. Where a rule and an optimizer share a name, this package holds the optimizer
(``optimetry.reference.Adam``), and the rule is in its module (``optimetry.reference.rules.adam.Adam``).
"""

from importlib import import_module
from typing import Any

_EXPORTS = {
    "optimetry.reference.classes": (
        "SGDOptimizer",
        "SGD",
        "MomentumOptimizer",
        "Momentum",
        "LarsMomentumOptimizer",
        "LarsMomentum",
        "AdagradOptimizer",
        "Adagrad",
        "DecayedAdagradOptimizer",
        "DecayedAdagrad",
        "AdadeltaOptimizer",
        "Adadelta",
        "AdamOptimizer",
        "Adam",
        "AdamaxOptimizer",
        "Adamax",
        "RMSPropOptimizer",
        "RMSProp",
        "FtrlOptimizer",
        "Ftrl",
        "LambOptimizer",
        "Lamb",
    ),
    "optimetry.reference.asgd": ("ASGD",),
    "optimetry.reference.optimizer": ("Optimizer",),
    "optimetry.reference.averaging.ema": ("ExponentialMovingAverage",),
    "optimetry.reference.averaging.model_average": ("ModelAverage",),
    "optimetry.reference.programs.recompute": ("RecomputeOptimizer",),
    "optimetry.reference.programs.pipeline": ("PipelineOptimizer",),
    "optimetry.reference.regularizers": (
        "L1Decay",
        "L1DecayRegularizer",
        "L2Decay",
        "L2DecayRegularizer",
        "WeightDecayRegularizer",
    ),
    "optimetry.reference.clips": (
        "ClipGradByGlobalNorm",
        "ClipGradByNorm",
        "ClipGradByValue",
        "GradientClipByGlobalNorm",
        "GradientClipByNorm",
        "GradientClipByValue",
    ),
    "optimetry.reference.schedulers": ("MultiStepDecay", "NoamDecay", "PiecewiseDecay", "StepDecay"),
    "optimetry.reference.sparse": ("SparseRows",),
}
"""The public names, by the module that defines them."""

_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - names that are strings, all of them


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    """The public names, whether imported yet or not."""
    return sorted({*globals(), *_MODULE_OF})
