"""The documented wrappers under judgement, each declared once with its variants.

They are clips, regularizers, averages, and the compression of gradients.

Importing this package enters all of them into `WRAPPERS`.
"""

from optimetry.conformance.subjects.wrappers import averages, clips, compression, decays
from optimetry.conformance.subjects.wrappers.wrapper import WRAPPERS, wrapper_named

__all__ = ["WRAPPERS", "averages", "clips", "compression", "decays", "wrapper_named"]
