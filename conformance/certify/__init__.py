"""Certifies rules element by element: every pair of a parameter and a gradient that a narrow dtype has."""
