"""Runs the harness for Python: ``python -m optimetry.conformance.harness module:object``."""

from __future__ import annotations

from optimetry.conformance.harness.python_harness import main

main()
