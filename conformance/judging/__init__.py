"""Judging: from runs of a target to verdicts and counterexamples."""
