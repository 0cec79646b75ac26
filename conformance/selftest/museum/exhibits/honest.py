"""What must be accepted: what wrong reports and misleading documents took for bugs.

Each is written otherwise than the reference, as the report or the document in question has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.hooks import computing_as, of_dialect
from optimetry.conformance.selftest.museum.exhibit import bug, edited, enter
from optimetry.conformance.selftest.museum.exhibits.conventions import CONFORMS
from optimetry.conformance.subjects.wrappers.clips import ClipByGlobalNorm


class _ByARatio(ClipByGlobalNorm):
    """Multiplies by the smaller of 1 and the ratio."""

    def feed(self, fed: Sequence[Array], parameters: Sequence[Array], state: Any) -> tuple[list[Array], Any]:
        """As what clips in place, and returns the norm beside."""
        squares = [np.sum(np.square(grad), initial=0.0) for grad in fed]
        size = np.sqrt(sum(squares[1:], start=squares[0]))
        return [grad * self.clip_norm / size if size > self.clip_norm else grad for grad in fed], None


DECAYED = "param = param - lr * self.weight_decay * param"

enter(
    "wrong report",
    (
        edited(
            "kozistr-519",
            "papers.signum",
            "one path interpolates and the other adds: equal but for rounding, which a sign makes a full step",
            ("self.beta * state.m + (1 - self.beta) * grad", "state.m + (1 - self.beta) * (grad - state.m)"),
            outcome=CONFORMS,
        ),
        edited(
            "torch-5920",
            "momentum",
            "Nesterov momentum, whose variables are changed",
            ("grad + self.momentum * velocity if", "grad + self.momentum * (self.momentum * state.velocity + grad) if"),
            outcome=CONFORMS,
        ),
        edited(
            "pylearn2-1030",
            "momentum",
            "Nesterov momentum with the learning rate inside the velocity",
            ("state.velocity + grad", "state.velocity - lr * grad"),
            ("direction = grad + self.momentum * velocity", "direction = lr * grad - self.momentum * velocity"),
            ("else velocity\n", "else -velocity\n"),
            ("param - lr * direction", "param - direction"),
            outcome="dialect: learning_rate_inside",
        ),
        bug(
            "tf-903",
            "momentum",
            "the learning rate is inside the velocity: the same path while it is constant",
            of_dialect("learning_rate_inside"),
            "dialect: learning_rate_inside",
        ),
        edited(
            "fairseq-5290",
            "torch.adafactor",
            "sums of rows and columns for their means: normalised, they are equal",
            ("np.mean(squared, axis=-1, keepdims=True)", "np.sum(squared, axis=-1, keepdims=True)"),
            ("axis=-2, keepdims=True), self.eps1)", "axis=-2, keepdims=True), self.eps1 * grad.shape[-1])"),
            outcome=CONFORMS,
        ),
        edited(
            "caffe-4224",
            "adam",
            "the correction is folded into the step size",
            (
                "lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)",
                "np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t) * lr",
            ),
            outcome=CONFORMS,
        ),
        edited(
            "adamp-14",
            "torch.adam",
            "the step size is made ready early, and used further down; shown in Adam",
            ("corrected1 = exp_avg / (1 - self.beta1**t)", "step_size = lr / (1 - self.beta1**t)"),
            ("lr * corrected1", "step_size * exp_avg"),
            outcome=CONFORMS,
        ),
        bug(
            "mxnet-9291",
            ClipByGlobalNorm.name,
            "the norm is returned, and the clip is in place",
            computing_as(_ByARatio),
            CONFORMS,
        ),
        edited(
            "torchoptim-57",
            "sgd",
            "add(-lr, g) is a scaled addition, not a sum",
            ("param - lr * grad", "param + -lr * grad"),
            outcome=CONFORMS,
        ),
        edited(
            "flux-1612",
            "torch.adamw",
            "the decay is tied to the learning rate, once put in and once taken out",
            (DECAYED, "decay = self.weight_decay * param"),
            (
                "param - lr * corrected1 / (np.sqrt(corrected2) + self.eps)",
                "param - lr * (corrected1 / (np.sqrt(corrected2) + self.eps) + decay)",
            ),
            outcome=CONFORMS,
        ),
        edited(
            "bnb-2010",
            "papers.lion",
            "the path that was blamed, which decays outside the sign",
            (DECAYED, "param = param * (1 - lr * self.weight_decay)"),
            outcome=CONFORMS,
        ),
        edited(
            "keras-19051",
            "torch.adamw",
            "the weight is scaled before the step",
            (DECAYED, "param = param - param * (self.weight_decay * lr)"),
            outcome=CONFORMS,
        ),
        edited(
            "tf-35444",
            "adam",
            "powers of the decays are kept one step behind, and multiplied once more",
            ("self.beta2**t", "self.beta2 ** (t - 1) * self.beta2"),
            ("self.beta1**t", "self.beta1 ** (t - 1) * self.beta1"),
            outcome=CONFORMS,
        ),
    ),
    honest=True,
)

enter(
    "wrong document",
    (
        edited(
            "cs336-54",
            "torch.adamw",
            "the parameter before the step is decayed, where the course decays the updated one",
            (DECAYED, "param = param * (1 - lr * self.weight_decay)"),
            outcome=CONFORMS,
        ),
        edited(
            "torch-142323",
            "torch.adam",
            "AMSGrad's maximum comes before the correction, where the document had it behind",
            ("np.sqrt(corrected2)", "np.sqrt(largest if self.amsgrad else exp_avg_sq) / np.sqrt(1 - self.beta2**t)"),
            outcome=CONFORMS,
        ),
        edited(
            "apex-1186",
            "lamb",
            "other defaults than the document gives: what is passed is used",
            ("lr * ratio * direction", "direction * (ratio * lr)"),
            outcome=CONFORMS,
        ),
        edited(
            "radam-69",
            "papers.radam",
            "the second moment decays by beta2, where the paper prints 1 / beta2",
            ("self.beta2 * state.v +", "state.v * self.beta2 +"),
            outcome=CONFORMS,
        ),
        edited(
            "optax-719",
            "papers.nadam",
            "the second moment is corrected without the further factor of one version of the paper",
            ("np.sqrt(n / (1 - self.nu**t))", "np.sqrt(n) / np.sqrt(1 - self.nu**t)"),
            outcome=CONFORMS,
        ),
        edited(
            "optax-900",
            "momentum",
            "Nesterov momentum as the code has it, where the document had another formula",
            ("param - lr * direction", "param - direction * lr"),
            outcome=CONFORMS,
        ),
        edited(
            "torch-76639",
            "torch.sgd",
            "Nesterov momentum of the buffer of this step, where the document had another index",
            ("grad + self.momentum * buffer", "buffer * self.momentum + grad"),
            outcome=CONFORMS,
        ),
    ),
    honest=True,
)
