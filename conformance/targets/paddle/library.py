"""Imports ``paddle`` for the CPU, without its warnings."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a missing ccache, of no concern here
    import paddle

paddle.set_device("cpu")

__all__ = ["paddle"]
