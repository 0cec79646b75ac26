"""``paddle.nn``: layers and clips."""

from __future__ import annotations

from typing import Any

from optimetry.reference.clips import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from optimetry.reference.errors import ArgumentError
from optimetry.reference.programs import eager_layers
from optimetry.reference.programs.building import Attr

__all__ = ["ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue", "Embedding", "Linear"]


class Linear(eager_layers.Linear):
    """``x @ weight + bias``; see `optimetry.reference.programs.eager_layers.Linear`."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Attr = None,
        bias_attr: Attr | bool = None,
        name: str | None = None,
    ) -> None:
        super().__init__(in_features, out_features, name, weight_attr=weight_attr, bias_attr=bias_attr)


class Embedding(eager_layers.Embedding):
    """Rows of a table; see `optimetry.reference.programs.eager_layers.Embedding`. No row is padding."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: None = None,
        sparse: bool = False,
        weight_attr: Attr = None,
        name: str | None = None,
    ) -> None:
        if padding_idx is not None:
            raise ArgumentError(f"Embedding: padding_idx = {padding_idx!r}, must be None")
        options: dict[str, Any] = {"is_sparse": sparse, "weight_attr": weight_attr}
        super().__init__(num_embeddings, embedding_dim, name, **options)
