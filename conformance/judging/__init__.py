"""From runs of a target to verdicts."""
