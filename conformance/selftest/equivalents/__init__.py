"""Honest re-implementations: every rule and wrapper in the styles of real engines, all of which must conform."""

from optimetry.conformance.selftest.equivalents.applicable import rules_of, styled_targets
from optimetry.conformance.selftest.equivalents.engines import Style, StyledTarget
from optimetry.conformance.selftest.equivalents.styles import STYLES

__all__ = ["STYLES", "Style", "StyledTarget", "rules_of", "styled_targets"]
