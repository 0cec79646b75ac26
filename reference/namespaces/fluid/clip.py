"""``fluid.clip``: gradient clips."""

from optimetry.reference.clips import GradientClipByGlobalNorm, GradientClipByNorm, GradientClipByValue

__all__ = ["GradientClipByGlobalNorm", "GradientClipByNorm", "GradientClipByValue"]
