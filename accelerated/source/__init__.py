"""Writes the source text around the formula of a pass, for the CPU and for CUDA, and compiles it with Numba."""
