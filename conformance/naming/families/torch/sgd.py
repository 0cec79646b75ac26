"""Rules that are called SGD, and have momentum, dampening and a decay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.books.torch.gradient import directed, with_decay
from optimetry.reference.books.torch.sgd import SGD
from optimetry.reference.rule import Array, State


@dataclass(frozen=True, kw_only=True)
class SGDFamily(SGD):
    """SGD of torch.optim, with a choice at every place where implementations differ."""

    first_step: str = axis(
        "undampened", {"undampened": "b = g in the first step", "dampened": "b = (1-tau)*g in the first step"}
    )
    learning_rate_placement: str = axis(
        "outside", {"outside": "b = mu*b + (1-tau)*g; w -= lr*b", "inside": "b = mu*b + lr*(1-tau)*g; w -= b"}
    )
    step_count: str = step_count()
    decay: str = axis("coupled", {"coupled": "g + wd*w takes the place of g", "decoupled": "w loses lr*wd*w"})
    without_momentum: str = axis(
        "plain", {"plain": "w -= lr*g where mu = 0", "dampened": "w -= lr*b where mu = 0, too: it is dampened"}
    )

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        grad = directed(grad, self.maximize)
        decayed = param - lr * self.weight_decay * param
        plain = decayed - lr * grad  # without momentum a decay is the same in either place
        if self.decay == "coupled":
            grad = with_decay(grad, param, self.weight_decay)
        else:
            param = decayed
        inside = self.learning_rate_placement == "inside"
        push = lr * grad if inside else grad
        dampened = (1 - self.dampening) * push
        buffer = self.momentum * state.momentum_buffer + dampened
        if self.first_step == "undampened":
            buffer = np.where(t > 1, buffer, push)
        direction = push + self.momentum * buffer if self.nesterov else buffer
        moved = param - (direction if inside else lr * direction)
        if self.without_momentum == "plain":
            moved = np.where(self.momentum != 0, moved, plain)
        return moved, State(momentum_buffer=buffer)


dialect = dialects_of(SGDFamily)

declare(
    dialect(
        name="first_step_dampened",
        point={"first_step": "dampened"},
        origin="oneflow.optim.SGD and singa.opt.SGD, whose buffer begins at zeros",
        reference="torch.optim.SGD (docstring), where the first step sets it",
        difference="b = (1-tau)*g in the first step",
    ),
    dialect(
        name="dampened_without_momentum",
        point={"without_momentum": "dampened"},
        origin="burn-optim's Sgd and candle-optimisers' SGD, each with a momentum of 0",
        reference="burn-optim, momentum.rs; candle-optimisers, esgd.rs",
        difference="w -= lr*b also where mu = 0, so that all steps but the first are dampened",
    ),
    dialect(
        name="learning_rate_inside",
        point={"learning_rate_placement": "inside"},
        origin="keras.optimizers.SGD, Caffe",
        reference="keras/src/optimizers/sgd.py; torch.optim.SGD (docstring), the note on other frameworks",
        difference="b = mu*b + lr*g; w -= b",
    ),
    dialect(
        name="decoupled_decay",
        point={"decay": "decoupled"},
        origin="timm's SGDW; keras.optimizers.SGD(weight_decay=...) without momentum",
        reference="Loshchilov & Hutter (2019), algorithm 1; timm/optim/sgdw.py",
        difference="w -= lr*wd*w, and the gradient stays",
    ),
    dialect(
        name="learning_rate_inside_decoupled_decay",
        point={"learning_rate_placement": "inside", "decay": "decoupled"},
        origin="keras.optimizers.SGD(weight_decay=...) with momentum",
        reference="keras/src/optimizers/sgd.py and base_optimizer.py",
        difference="b = mu*b + lr*g; w -= b + lr*wd*w",
    ),
    settings=tuple(
        Setting({"momentum": momentum, "dampening": 0.3, "weight_decay": 0.5, "nesterov": on, "maximize": on})
        for momentum, on in ((0.7, False), (0.7, True), (0.0, False))
    ),
)
