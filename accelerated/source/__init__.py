"""The source text around the formula of a pass, for the CPU and for CUDA, and its compilation with Numba."""
