"""The names that the documents' users know; `optimetry.reference` has them too, imported when first used."""

from optimetry.reference.asgd import ASGD
from optimetry.reference.averaging.ema import ExponentialMovingAverage
from optimetry.reference.averaging.model_average import ModelAverage
from optimetry.reference.classes import (
    SGD,
    Adadelta,
    AdadeltaOptimizer,
    Adagrad,
    AdagradOptimizer,
    Adam,
    Adamax,
    AdamaxOptimizer,
    AdamOptimizer,
    DecayedAdagrad,
    DecayedAdagradOptimizer,
    Ftrl,
    FtrlOptimizer,
    Lamb,
    LambOptimizer,
    LarsMomentum,
    LarsMomentumOptimizer,
    Momentum,
    MomentumOptimizer,
    RMSProp,
    RMSPropOptimizer,
    SGDOptimizer,
)
from optimetry.reference.clips import (
    ClipGradByGlobalNorm,
    ClipGradByNorm,
    ClipGradByValue,
    GradientClipByGlobalNorm,
    GradientClipByNorm,
    GradientClipByValue,
)
from optimetry.reference.distributed.dgc_optimizer import DGCMomentumOptimizer
from optimetry.reference.optimizer import Optimizer
from optimetry.reference.programs.pipeline import PipelineOptimizer
from optimetry.reference.programs.recompute import RecomputeOptimizer
from optimetry.reference.regularizers import (
    L1Decay,
    L1DecayRegularizer,
    L2Decay,
    L2DecayRegularizer,
    WeightDecayRegularizer,
)
from optimetry.reference.schedulers import MultiStepDecay, NoamDecay, PiecewiseDecay, StepDecay
from optimetry.reference.sparse import SparseRows

__all__ = [
    "ASGD",
    "SGD",
    "Adadelta",
    "AdadeltaOptimizer",
    "Adagrad",
    "AdagradOptimizer",
    "Adam",
    "AdamOptimizer",
    "Adamax",
    "AdamaxOptimizer",
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "DGCMomentumOptimizer",
    "DecayedAdagrad",
    "DecayedAdagradOptimizer",
    "ExponentialMovingAverage",
    "Ftrl",
    "FtrlOptimizer",
    "GradientClipByGlobalNorm",
    "GradientClipByNorm",
    "GradientClipByValue",
    "L1Decay",
    "L1DecayRegularizer",
    "L2Decay",
    "L2DecayRegularizer",
    "Lamb",
    "LambOptimizer",
    "LarsMomentum",
    "LarsMomentumOptimizer",
    "ModelAverage",
    "Momentum",
    "MomentumOptimizer",
    "MultiStepDecay",
    "NoamDecay",
    "Optimizer",
    "PiecewiseDecay",
    "PipelineOptimizer",
    "RMSProp",
    "RMSPropOptimizer",
    "RecomputeOptimizer",
    "SGDOptimizer",
    "SparseRows",
    "StepDecay",
    "WeightDecayRegularizer",
]
