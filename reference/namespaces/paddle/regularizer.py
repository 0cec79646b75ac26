"""``paddle.regularizer``: weight decay."""

from optimetry.reference.regularizers import L1Decay, L2Decay

__all__ = ["L1Decay", "L2Decay"]
