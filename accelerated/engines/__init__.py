"""What runs a kernel, and how to find one that works here.

An engine is a class with ``name``, built with a kernel and a format and raising `EngineUnavailableError` where it
cannot work, whose ``ready(work, lr)`` returns what does one step. Engines know nothing of each other, and state is the
arena's: it crosses from one to another as it is.
"""
