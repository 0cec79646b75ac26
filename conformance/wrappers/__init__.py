"""The documented wrappers under judgement: clips, regularizers and averages, each declared once with its variants.

Importing this package enters all of them into `WRAPPERS`.
"""

from optimetry.conformance.wrappers import averages, clips, decays
from optimetry.conformance.wrappers.wrapper import WRAPPERS, wrapper_named

__all__ = ["WRAPPERS", "averages", "clips", "decays", "wrapper_named"]
