"""Devices, where parameters, gradients and state lie: NumPy arrays in memory, or CuPy arrays on a CUDA device.

A device is what differs between the two: how arrays are made, copied and found in memory. Nothing of this folder
computes, and CuPy is imported only when it is asked for.
"""
