"""Honest re-implementations: every rule in the styles of real engines. All of them must conform."""

from optimetry.conformance.selftest.equivalents.styles import STYLES
from optimetry.conformance.selftest.equivalents.target import Equivalents, Style, StyledTarget

__all__ = ["STYLES", "Equivalents", "Style", "StyledTarget"]
