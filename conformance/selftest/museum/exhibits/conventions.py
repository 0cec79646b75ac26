"""What must be accepted under its name: conventions, and forms that their authors meant."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.hooks import of_dialect
from optimetry.conformance.selftest.museum.exhibit import bug, edited, enter
from optimetry.conformance.subjects.wrappers.clips import ClipByGlobalNorm

CONFORMS = "conforms"


enter(
    "convention",
    (
        edited(
            "torch-152833",
            "torch.sgd",
            "the first gradient is not dampened, and the document now says so",
            ("np.where(t > 1, later, grad)", "later if t > 1 else grad"),
            outcome=CONFORMS,
        ),
        edited(
            "tfa-2282",
            "papers.adamw",
            "the decay is not tied to the learning rate, as in the paper",
            ("param = param - self.weight_decay * param", "param = param * (1 - self.weight_decay)"),
            outcome=CONFORMS,
        ),
        edited(
            "torch-38853",
            "papers.adamw",
            "the decay is tied to the learning rate, which the paper does not say",
            ("- self.weight_decay * param", "- lr * self.weight_decay * param"),
            outcome="dialect: torch.adamw",
        ),
        edited(
            "tf-9047",
            "papers.adam",
            "epsilon is the paper's epsilon hat",
            (
                "lr * corrected1 / (np.sqrt(corrected2) + self.epsilon)",
                "lr * np.sqrt(1 - self.beta2**t) * corrected1 / (np.sqrt(v) + self.epsilon)",
            ),
            outcome="dialect: adam",
        ),
        edited(
            "mlx-1640",
            "adam",
            "no bias correction by default, which the document says",
            ("lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)", "lr"),
            outcome="dialect: uncorrected",
        ),
        bug(
            "optax-1389",
            "adam",
            "AMSGrad's maximum is of corrected moments",
            of_dialect("scaled_epsilon_amsgrad_corrected"),
            "dialect: scaled_epsilon_amsgrad_corrected",
        ),
        edited(
            "adabelief-57",
            "papers.adabelief",
            "epsilon stays in the variance that is kept, as its authors meant",
            (
                "s = self.beta2 * state.s + (1 - self.beta2) * np.square(grad - m) + self.epsilon",
                "s = state.s * self.beta2; s = s + (grad - m) ** 2 * (1 - self.beta2); s = s + self.epsilon",
            ),
            outcome=CONFORMS,
        ),
        edited(
            "keras-11532",
            "torch.adadelta",
            "the average is of steps before the learning rate",
            ("param - lr * delta", "param + delta * -lr"),
            outcome=CONFORMS,
        ),
        bug(
            "keras-13575",
            ClipByGlobalNorm.name,
            "the norm is of each tensor",
            of_dialect("norm_of_each"),
            "dialect: norm_of_each",
        ),
    ),
    honest=True,
)
