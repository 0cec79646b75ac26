"""Rules that are called Muon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.books.torch.muon import Muon
from optimetry.reference.norms import norm
from optimetry.reference.precision import in_bfloat16
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class MuonFamily(Muon):
    """Muon, with a choice at every place where implementations differ."""

    buffer: str = axis("sum", {"sum": "B = mu*B + g", "average": "B = mu*B + (1-mu)*g, as does what looks ahead"})
    divisor: str = axis("sum", {"sum": "X = B / (|B| + eps)", "larger": "X = B / max(|B|, eps)"})
    scale: str = axis(
        "taller",
        {
            "taller": "sqrt(max(1, n/m)), unless with match_rms_adamw",
            "wider": "sqrt(max(1, m/n)), unless with match_rms_adamw",
            "none": "1, unless with match_rms_adamw",
        },
    )
    keeps: str = axis("buffer", {"buffer": "B", "normalised": "without nesterov B = X, before it is iterated"})

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        rows, columns = param.shape
        share = 1 - self.momentum if self.buffer == "average" else 1.0
        buffer = self.momentum * state.momentum_buffer + share * grad
        ahead = share * grad + self.momentum * buffer if self.nesterov else buffer
        wide = np.matrix_transpose(ahead) if rows > columns else ahead
        orthogonal = in_bfloat16(wide, self.orthogonalized)
        step = np.matrix_transpose(orthogonal) if rows > columns else orthogonal
        param = param - lr * self.weight_decay * param
        kept = self.normalised(buffer) if self.keeps == "normalised" and not self.nesterov else buffer
        return param - lr * self.factor(rows, columns) * step, State(momentum_buffer=kept)

    def normalised(self, x: Array) -> Array:
        """Return a matrix of length 1, but for epsilon."""
        return x / (np.maximum(norm(x), self.eps) if self.divisor == "larger" else norm(x) + self.eps)

    def orthogonalized(self, x: Array) -> Array:
        """Return about the nearest matrix with orthogonal rows of length 1."""
        x = self.normalised(x)
        for _ in range(self.ns_steps):
            gram = x @ np.matrix_transpose(x)
            x = self.a * x + (self.b * gram + self.c * (gram @ gram)) @ x
        return x

    def factor(self, rows: int, columns: int) -> float:
        """Return by what the step of a matrix is scaled."""
        if self.match_rms_adamw:
            return 0.2 * math.sqrt(max(rows, columns))
        ratios = {"taller": rows / columns, "wider": columns / rows, "none": 1.0}
        return math.sqrt(max(1, ratios[self.scale]))


dialect = dialects_of(MuonFamily)

declare(
    dialect(
        name="averaged_buffer",
        point={"buffer": "average"},
        origin="muon-optimizer, of the author of the iteration",
        reference="muon.py of muon-optimizer 0.1.0, muon_update: momentum.lerp_(grad, 1 - beta)",
        difference="B = mu*B + (1-mu)*g",
    ),
    dialect(
        name="averaged_buffer_larger_divisor",
        point={"buffer": "average", "divisor": "larger"},
        origin="torch.optim.Muon",
        reference="torch/optim/_muon.py: buf.lerp_(grad, 1 - momentum), and norm().clamp(min=eps)",
        difference="B = mu*B + (1-mu)*g; X = B / max(|B|, eps)",
    ),
    dialect(
        name="averaged_buffer_normalised",
        point={"buffer": "average", "divisor": "larger", "keeps": "normalised"},
        origin="torch.optim.Muon, bfloat16",
        reference="torch/optim/_muon.py: div_ of grad.bfloat16(), which is no copy of a bfloat16 buffer",
        difference="without nesterov B = X, before it is iterated: the buffer is normalised in place",
    ),
    dialect(
        name="unscaled",
        point={"scale": "none"},
        origin="tinygrad.nn.optim.Muon",
        reference="tinygrad/nn/optim.py, LARS._step",
        difference="w -= lr*X, whatever the shape",
    ),
    dialect(
        name="scaled_if_wider",
        point={"scale": "wider"},
        origin="matrices that are stored transposed, as Flax keeps kernels; no release known that differs in it alone",
        reference="optax/contrib/_muon.py, which scales so, and corrects the bias of an averaged buffer",
        difference="w -= lr*sqrt(max(1, m/n))*X",
    ),
    settings=(
        Setting(
            {"momentum": 0.5, "weight_decay": 0.0, "nesterov": True, "eps": 1.0, "ns_steps": 0},
            sizes=(-1.0, 0.0),
            grads=(-1.0, 1.0),
            shapes=((3, 1), (1, 3)),
        ),
        Setting(
            {"momentum": 0.9, "weight_decay": 0.0, "nesterov": False, "eps": 1.0, "ns_steps": 0},
            rates=(0.3, 0.3, 0.3, 0.1),
            sizes=(-2.0, -1.0),
            grads=(0.0, 2.0),
            shapes=((3, 1), (1, 3)),
        ),
    ),
)
