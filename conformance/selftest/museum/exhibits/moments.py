"""Epsilon and bias correction."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.fault import FOUND
from optimetry.conformance.selftest.museum.exhibit import edited, enter

enter(
    "epsilon",
    (
        edited(
            "torch-22628",
            "papers.adam",
            "epsilon is divided by the root of the second correction, and so is large in early steps",
            ("(np.sqrt(corrected2) + self.epsilon)", "((np.sqrt(v) + self.epsilon) / np.sqrt(1 - self.beta2**t))"),
            outcome="dialect: adam",
        ),
        edited(
            "transformers-14539b",
            "torch.adamw",
            "epsilon is added before the bias is corrected",
            ("+ self.eps)", "+ self.eps / np.sqrt(1 - self.beta2**t))"),
            outcome="dialect: uncorrected_epsilon",
        ),
        edited(
            "nanochat-304",
            "torch.adam",
            "the correction of the second moment is in the step size, and epsilon beside the root without it",
            ("np.sqrt(corrected2) + self.eps", "np.sqrt(corrected2 * (1 - self.beta2**t)) + self.eps"),
            ("lr * corrected1", "lr * np.sqrt(1 - self.beta2**t) * corrected1"),
            outcome="dialect: uncorrected_epsilon",
        ),
        edited(
            "chainer-adam-gpu-2",
            "adam",
            "epsilon is under the root on the GPU, where 1e-8 acts as 1e-4",
            ("(np.sqrt(moment2) + self.epsilon)", "np.sqrt(moment2 + self.epsilon)"),
            outcome="dialect: epsilon_inside",
        ),
        edited(
            "keras-nonfused-eps",
            "adam",
            "epsilon is subtracted from the root",
            ("+ self.epsilon", "- self.epsilon"),
            outcome=FOUND,
        ),
        edited(
            "mxnet-5043",
            "torch.rmsprop",
            "epsilon stands outside the quotient, so that every step subtracts it as a constant",
            ("np.sqrt(variance) + self.eps", "np.sqrt(variance)"),
            ("+ grad / root", "+ grad / root + self.eps"),
            ("lr * grad / root", "lr * (grad / root + self.eps)"),
        ),
    ),
)

enter(
    "bias correction",
    (
        edited(
            "chainer-adam-gpu-1",
            "papers.adam",
            "the root is of the second moment before its correction: a first step 31 times too long",
            ("np.sqrt(corrected2)", "np.sqrt(v)"),
            outcome="dialect: adam:moment2_uncorrected",
        ),
        edited(
            "convnetjs-70",
            "papers.adam",
            "both moments are multiplied by their corrections in place of divided",
            ("m / (1 -", "m * (1 -"),
            ("v / (1 -", "v * (1 -"),
            outcome=FOUND,
        ),
        edited(
            "adabound-tf-3",
            "adam",
            "1 - (1 - beta2**t) for 1 - beta2**t, in AdaBound; shown in Adam, which has the same factor",
            ("np.sqrt(1 - self.beta2**t)", "np.sqrt(self.beta2**t)"),
            outcome=FOUND,
        ),
        edited(
            "gsplat-604",
            "papers.adam",
            "neither moment is corrected",
            ("m / (1 - self.beta1**t)", "m"),
            ("v / (1 - self.beta2**t)", "v"),
            outcome="dialect: adam:uncorrected",
        ),
        edited(
            "kozistr-sfradam",
            "papers.radam",
            "the correction is b2 * (1 - b2**(t-1)) / (1 - b2**t), made for another place; in schedule-free RAdam",
            ("quotient(correction, v)", "quotient(self.beta2 * (1 - self.beta2 ** (t - 1)) / correction, v)"),
        ),
        edited(
            "flux-1962",
            "papers.adabelief",
            "neither moment is corrected, and no epsilon is added to the variance",
            (" + self.epsilon\n", "\n"),
            ("m / (1 - self.beta1**t), s / (1 - self.beta2**t)", "m, s"),
            outcome=FOUND,
        ),
        edited(
            "kozistr-77",
            "papers.adan",
            "the average of differences keeps its bias towards zero: its first value is not set apart",
            (" if t > 2 else change", ""),
        ),
        edited(
            "torchoptimizer-443",
            "papers.lamb",
            "the bias is corrected in the step size alone, and the ratio is of what is not corrected",
            (
                "m / (1 - self.beta1**t) / (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon)",
                "m / (np.sqrt(v) + self.epsilon)",
            ),
            ("lr * ratio", "lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t) * ratio"),
            outcome=FOUND,
        ),
    ),
)
