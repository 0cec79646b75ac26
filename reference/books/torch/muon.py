"""Muon of torch.optim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import count, flag, hyper
from optimetry.reference.norms import norm
from optimetry.reference.precision import in_bfloat16
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Muon(Rule):
    r"""Momentum, orthogonalised by a Newton-Schulz iteration (Jordan et al., 2024); for matrices alone.

    Symbols: :math:`B` momentum_buffer, :math:`\mu` momentum, :math:`a, b, c` ns_coefficients, :math:`k` ns_steps,
    :math:`\epsilon` eps, :math:`\lambda` weight_decay, :math:`\gamma` learning rate, :math:`n, m` numbers of rows and
    columns.

    .. math::
        B \leftarrow \mu B + g \qquad \tilde B = g + \mu B \text{ with nesterov, else } B

        X = \tilde B / (\|\tilde B\| + \epsilon) \qquad k \text{ times } A = X X^\top, \;
        X \leftarrow a X + (b A + c A^2) X \qquad \text{(transposed where } n > m)

        w \leftarrow w - \gamma \lambda w \qquad w \leftarrow w - \gamma \sqrt{\max(1, n / m)} X
        \text{, or with match\_rms\_adamw } w - 0.2 \gamma \sqrt{\max(n, m)} X

    Documented: torch.optim.Muon (docstring).
    Decision: eps is the "term added to the denominator", as in the post that the docstring refers to for the iteration
    itself. That iterates in bfloat16, and so an implementation may. Of adjust_lr_fn, a word, match_rms_adamw is a flag.
    """

    weight_decay: float = hyper(0.1, "[0, inf)", "decay, times the learning rate", corners=(0.1, 0.0, 0.5))
    momentum: float = hyper(0.95, "[0, 1)", "share of the buffer that is kept", corners=(0.95, 0.0, 0.5))
    nesterov: bool = flag(True, "look ahead by one more product with the momentum")
    a: float = hyper(3.4445, "(-inf, inf)", "coefficient of the first power", corners=(3.4445, 1.5))
    b: float = hyper(-4.775, "(-inf, inf)", "coefficient of the third power", corners=(-4.775, -0.5))
    c: float = hyper(2.0315, "(-inf, inf)", "coefficient of the fifth power", corners=(2.0315, 0.0, 0.125))
    eps: float = hyper(1e-7, "[0, inf)", "added to the norm", corners=(1e-7, 0.1, 1.0))
    ns_steps: int = count(5, "[0, 100)", "iterations", corners=(0, 1, 5))
    match_rms_adamw: bool = flag(False, "scale a step as one of AdamW")

    book = "torch"
    name = "torch.muon"
    slots = ("momentum_buffer",)
    learning_rate = 0.001
    elementwise = False
    counts_zeros = True
    shaped = True
    at_rest = {"weight_decay": 0.0}
    scaling = Scaling({"grad": 1, "eps": 1})

    @classmethod
    def takes(cls, shape: tuple[int, ...]) -> bool:
        return len(shape) == 2 and 0 not in shape

    @classmethod
    def epsilon_shows_at(cls, epsilon: float, hyper: Mapping[str, Any]) -> float:
        # Iterations multiply what is small by a each, then forget how large it was; norm and momentum sum many terms.
        gain: float = max(1.0, abs(hyper["a"])) ** hyper["ns_steps"]
        return epsilon / (100 * gain)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        rows, columns = param.shape
        buffer = self.momentum * state.momentum_buffer + grad
        ahead = grad + self.momentum * buffer if self.nesterov else buffer
        wide = np.matrix_transpose(ahead) if rows > columns else ahead
        orthogonal = in_bfloat16(wide, self.orthogonalized)
        step = np.matrix_transpose(orthogonal) if rows > columns else orthogonal
        scale = 0.2 * math.sqrt(max(rows, columns)) if self.match_rms_adamw else math.sqrt(max(1, rows / columns))
        param = param - lr * self.weight_decay * param
        return param - lr * scale * step, State(momentum_buffer=buffer)

    def orthogonalized(self, x: Array) -> Array:
        """Return about the nearest matrix with orthogonal rows of length 1."""
        x = x / (norm(x) + self.eps)
        for _ in range(self.ns_steps):
            gram = x @ np.matrix_transpose(x)
            x = self.a * x + (self.b * gram + self.c * (gram @ gram)) @ x
        return x
