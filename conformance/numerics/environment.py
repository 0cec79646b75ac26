"""Sets and checks the floating-point environment of this thread: rounding mode, subnormals, NumPy's error handling.

The judge and a target may share a process. A target that switches flush-to-zero on would change how the oracle itself
computes. So the environment is set for every evaluation of the oracle, and a target that changes it is reported. The
code stands in the harness for Python, which is one file and does the same for a target in a process of its own.
"""

from __future__ import annotations

from optimetry.conformance.harness.python_harness import changes, default_environment

__all__ = ["changes", "default_environment"]
