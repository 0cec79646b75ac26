"""Engines, which run kernels, and the search for one that works here.

An engine compiles kernels and selectors, and raises `EngineUnavailableError` where it cannot. Engines do not
depend on each other. State belongs to the arena, so any engine can continue from it.
"""
