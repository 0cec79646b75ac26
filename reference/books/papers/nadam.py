"""Nadam, as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.reference.declaration import hyper
from optimetry.reference.rule import Array, Rule, Scaling, State, documented


@documented
@dataclass(frozen=True, kw_only=True)
class Nadam(Rule):
    r"""Adam with Nesterov momentum, whose weight grows over the steps.

    Symbols: :math:`\theta` the parameter, :math:`m, n` first and second moment, :math:`P` mu_product, :math:`\mu, \nu`
    their decays mu and nu, :math:`\psi` momentum_decay, :math:`\epsilon` epsilon, :math:`\alpha` learning rate.

    .. math::
        \mu_t = \mu \left(1 - \tfrac{1}{2} 0.96^{t \psi}\right) \qquad P \leftarrow P \mu_t \qquad
        m \leftarrow \mu_t m + (1 - \mu_t) g \qquad n \leftarrow \nu n + (1 - \nu) g^2

        \hat m = \frac{\mu_{t+1} m}{1 - P \mu_{t+1}} + \frac{(1 - \mu_t) g}{1 - P} \qquad
        \theta \leftarrow \theta - \frac{\alpha \hat m}{\sqrt{n / (1 - \nu^t)} + \epsilon}

    Documented: Dozat (2016), algorithm 2.
    Decision: the sequence of momenta is the schedule that the publication recommends, with :math:`\psi = 1/250`, and
    weighs the first moment, too, for which ``torch.nadam`` has a constant. The second moment is corrected as in Adam,
    without a further :math:`\nu` above the line.
    """

    mu: float = hyper(0.99, "[0, 1)", "limit of the decay of the first moment", corners=(0.99, 0.9, 0.0, 0.5))
    nu: float = hyper(0.999, "[0, 1)", "decay of the second moment", corners=(0.999, 0.9, 0.5))
    epsilon: float = hyper(
        1e-8, "[0, inf)", "added to the root of the corrected second moment", corners=(1e-8, 1e-2, 0.1)
    )
    momentum_decay: float = hyper(0.004, "[0, inf)", "how fast the momentum grows", corners=(0.004, 0.0, 1.0))

    book = "papers"
    name = "papers.nadam"
    slots = ("m", "n", "mu_product")
    learning_rate = 0.002
    scaling = Scaling({"grad": 1, "epsilon": 1})

    def initial_state(self, param: Array) -> State:
        return State(m=np.zeros_like(param), n=np.zeros_like(param), mu_product=1.0)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        mu, next_mu = self.momentum(t), self.momentum(t + 1)
        mu_product = state.mu_product * mu
        m = mu * state.m + (1 - mu) * grad
        n = self.nu * state.n + (1 - self.nu) * np.square(grad)
        ahead = next_mu * m / (1 - mu_product * next_mu) + (1 - mu) * grad / (1 - mu_product)
        step = lr * ahead / (np.sqrt(n / (1 - self.nu**t)) + self.epsilon)
        return param - step, State(m=m, n=n, mu_product=mu_product)

    def momentum(self, t: int) -> Any:
        """Return the momentum of one step."""
        return self.mu * (1 - 0.5 * 0.96 ** (t * self.momentum_decay))
