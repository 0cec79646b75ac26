"""Tests of the suite itself: faults that it must reject, honest implementations that it must accept."""
