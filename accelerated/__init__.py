"""The documented rules at memory speed: one fused pass per step, compiled with Numba or blocked in NumPy."""
