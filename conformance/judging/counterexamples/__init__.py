"""Counterexamples: small cases, worked through step by step, and scripts that show the difference."""
