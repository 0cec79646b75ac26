"""Imports ``paddle`` for the CPU, without its warnings."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a missing ccache, of no concern here
    import paddle

paddle.set_device("cpu")

VERSION = str(paddle.__version__).split("+")[0]

__all__ = ["VERSION", "paddle"]
