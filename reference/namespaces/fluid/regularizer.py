"""``fluid.regularizer``: weight decay."""

from optimetry.reference.regularizers import L1Decay, L1DecayRegularizer, L2Decay, L2DecayRegularizer

__all__ = ["L1Decay", "L1DecayRegularizer", "L2Decay", "L2DecayRegularizer"]
