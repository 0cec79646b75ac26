"""How many cases Hypothesis draws in a property test: the profiles ``dev``, ``ci`` and ``thorough``."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_COMMON = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True)

PROFILES: dict[str, settings] = {
    "dev": settings(_COMMON, max_examples=10, derandomize=True),
    "ci": settings(_COMMON, max_examples=40, derandomize=True),
    "thorough": settings(_COMMON, max_examples=1000),
}
"""Settings by profile name; those of ``dev`` and ``ci`` draw the same cases each time."""

OF_EFFORT = {"quick": "dev", "standard": "ci", "thorough": "thorough"}
"""The profile that goes with each effort of a seeded judgement."""
