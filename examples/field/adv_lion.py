"""adv-lion: Lion for PyTorch with more options, which stay at their defaults."""

from __future__ import annotations

from examples.field.helpers import without_init
from examples.field.torch_classes import TorchClasses

# The package that its util is imports a module by a name in capitals, which on Linux is not that of the file.
without_init("adv_lion", "adv_lion.util")

from adv_lion.optim.Lion import Lion  # noqa: E402


class Target(TorchClasses):
    distribution = "adv-lion"
    rules = {"papers.lion": (Lion, {})}
