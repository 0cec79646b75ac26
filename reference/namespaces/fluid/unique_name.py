"""``fluid.unique_name``: names that are unique in the process, and a guard that begins to count anew."""

from optimetry.reference.programs.naming import guard
from optimetry.reference.programs.naming import unique as generate

__all__ = ["generate", "guard"]
