"""``fluid.dygraph``: what is computed at once."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from optimetry.fluid.dygraph import nn
from optimetry.fluid.dygraph.mode import enabled, guard
from optimetry.fluid.dygraph.nn import Embedding, Linear
from optimetry.reference import schedulers
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs.eager import Tensor
from optimetry.reference.programs.eager_layers import ParameterValues
from optimetry.reference.schedulers import PiecewiseDecay

__all__ = [
    "Embedding",
    "Linear",
    "NoamDecay",
    "PiecewiseDecay",
    "enabled",
    "guard",
    "load_dygraph",
    "nn",
    "save_dygraph",
    "to_variable",
]


class NoamDecay(schedulers.NoamDecay):
    """`optimetry.reference.NoamDecay` as fluid has it: from step 1, and the optimizer advances it."""

    def __init__(
        self, d_model: float, warmup_steps: int, begin: int = 1, learning_rate: float = 1.0, **options: Any
    ) -> None:
        super().__init__(d_model, warmup_steps, learning_rate, begin=begin, **{"automatic": True} | options)


def to_variable(value: Any) -> Tensor:
    """A tensor that holds an array."""
    return Tensor.of(value if isinstance(value, Tensor) else np.asarray(value))


def save_dygraph(state_dict: dict[str, Any], model_path: str) -> None:
    """Save what ``state_dict()`` returned: of a layer to ``model_path.pdparams``, of an optimizer to ``.pdopt``."""
    if not isinstance(state_dict, dict):
        raise ArgumentError(f"save_dygraph: state_dict = {state_dict!r}, must be what state_dict() returned")
    kind = "pdparams" if isinstance(state_dict, ParameterValues) else "pdopt"
    Path(f"{model_path}.{kind}").write_bytes(pickle.dumps(state_dict))


def load_dygraph(model_path: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """What `save_dygraph` has saved there, of a layer and of an optimizer; None where there is no such file.

    The files are pickles: load none that you do not trust.

    Raises:
        ArgumentError: there is neither file.
    """
    files = [Path(f"{model_path}.{kind}") for kind in ("pdparams", "pdopt")]
    if not any(file.is_file() for file in files):
        raise ArgumentError(f"load_dygraph: model_path = {model_path!r}, must be that of a saved .pdparams or .pdopt")
    parameters, state = (pickle.loads(file.read_bytes()) if file.is_file() else None for file in files)
    return parameters, state
