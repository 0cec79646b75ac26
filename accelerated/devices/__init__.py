"""Devices, where parameters, gradients and state lie: NumPy arrays in memory, or CuPy arrays on a CUDA device.

A device says how arrays are made, copied and addressed. Nothing in this folder computes, and CuPy is imported
only when it is asked for.
"""
