"""deep_training: training of language models in PyTorch, and optimizers for it."""

from __future__ import annotations

from examples.field.helpers import without_init
from examples.field.torch_classes import TorchClasses

# The packages import models of transformers.
without_init("deep_training", "deep_training.nlp", "deep_training.nlp.optimizer", "deep_training.nlp.optimizer.lion")

from deep_training.nlp.optimizer.lamb import Lamb  # noqa: E402
from deep_training.nlp.optimizer.lion.lion import Lion  # noqa: E402


class Target(TorchClasses):
    distribution = "deep_training"
    rules = {"lamb": (Lamb, {}), "papers.lion": (Lion, {})}
