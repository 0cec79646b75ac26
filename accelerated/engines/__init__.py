"""What runs a kernel, and how to find one that works here.

An engine compiles kernels and selectors, and raises `EngineUnavailableError` where it cannot. Engines know nothing of
each other, and state is the arena's: it crosses from one to another as it is.
"""
