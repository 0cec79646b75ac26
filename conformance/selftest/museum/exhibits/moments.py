"""Epsilon, bias correction, and moments formed otherwise: one token of the formula in most."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.fault import FOUND
from optimetry.conformance.selftest.faults.mutations import mutated
from optimetry.conformance.selftest.museum.exhibit import bug, enter

enter(
    "epsilon",
    (
        bug(
            "torch-22628",
            "papers.adam",
            "epsilon is divided by the root of the second correction, and so is large in early steps",
            mutated(
                "papers.adam",
                ("(np.sqrt(corrected2) + self.epsilon)", "((np.sqrt(v) + self.epsilon) / np.sqrt(1 - self.beta2**t))"),
            ),
            "dialect: adam",
        ),
        bug(
            "transformers-14539b",
            "torch.adamw",
            "epsilon is added before the bias is corrected",
            mutated("torch.adamw", ("+ self.eps)", "+ self.eps / np.sqrt(1 - self.beta2**t))")),
            FOUND,
        ),
        bug(
            "nanochat-304",
            "torch.adam",
            "the correction of the second moment is in the step size, and epsilon beside the root without it",
            mutated(
                "torch.adam",
                ("lr * corrected1 / (np.sqrt(corrected2) + self.eps)",
                 "lr * np.sqrt(1 - self.beta2**t) * corrected1 / (np.sqrt(corrected2 * (1 - self.beta2**t)) + self.eps)"),
            ),
            FOUND,
        ),
        bug(
            "chainer-adam-gpu-2",
            "adam",
            "epsilon is under the root on the GPU, where 1e-8 acts as 1e-4",
            mutated("adam", ("(np.sqrt(moment2) + self.epsilon)", "np.sqrt(moment2 + self.epsilon)")),
            "dialect: epsilon_inside",
        ),
        bug(
            "keras-nonfused-eps",
            "adam",
            "epsilon is subtracted from the root",
            mutated("adam", ("+ self.epsilon", "- self.epsilon")),
            FOUND,
        ),
        bug(
            "mxnet-5043",
            "torch.rmsprop",
            "epsilon stands outside the quotient, so that every step subtracts it as a constant",
            mutated(
                "torch.rmsprop",
                ("np.sqrt(variance) + self.eps", "np.sqrt(variance)"),
                ("+ grad / root", "+ grad / root + self.eps"),
                ("lr * grad / root", "lr * (grad / root + self.eps)"),
            ),
        ),
    ),
)

enter(
    "bias correction",
    (
        bug(
            "chainer-adam-gpu-1",
            "papers.adam",
            "the root is of the second moment before its correction: a first step 31 times too long",
            mutated("papers.adam", ("np.sqrt(corrected2)", "np.sqrt(v)")),
            FOUND,
        ),
        bug(
            "convnetjs-70",
            "papers.adam",
            "both moments are multiplied by their corrections in place of divided",
            mutated("papers.adam", ("m / (1 -", "m * (1 -"), ("v / (1 -", "v * (1 -")),
        ),
        bug(
            "adabound-tf-3",
            "adam",
            "1 - (1 - beta2**t) for 1 - beta2**t, in AdaBound; shown in Adam, which has the same factor",
            mutated("adam", ("np.sqrt(1 - self.beta2**t)", "np.sqrt(self.beta2**t)")),
            FOUND,
        ),
        bug(
            "gsplat-604",
            "papers.adam",
            "neither moment is corrected",
            mutated("papers.adam", ("m / (1 - self.beta1**t)", "m"), ("v / (1 - self.beta2**t)", "v")),
        ),
        bug(
            "kozistr-sfradam",
            "papers.radam",
            "the correction is b2 * (1 - b2**(t-1)) / (1 - b2**t), made for another place; in schedule-free RAdam",
            mutated(
                "papers.radam",
                ("quotient(correction, v)",
                 "quotient(self.beta2 * (1 - self.beta2 ** (t - 1)) / correction, v)"),
            ),
        ),
        bug(
            "flux-1962",
            "papers.adabelief",
            "neither moment is corrected, and no epsilon is added to the variance",
            mutated(
                "papers.adabelief",
                (" + self.epsilon\n", "\n"),
                ("m / (1 - self.beta1**t), s / (1 - self.beta2**t)", "m, s"),
            ),
        ),
        bug(
            "kozistr-77",
            "papers.adan",
            "the average of differences keeps its bias towards zero: its first value is not set apart",
            mutated("papers.adan", (" if t > 2 else change", "")),
        ),
        bug(
            "torchoptimizer-443",
            "papers.lamb",
            "the bias is corrected in the step size alone, and the ratio is of what is not corrected",
            mutated(
                "papers.lamb",
                ("m / (1 - self.beta1**t) / (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon)",
                 "m / (np.sqrt(v) + self.epsilon)"),
                ("lr * ratio", "lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t) * ratio"),
            ),
        ),
    ),
)

enter(
    "formula",
    (
        bug(
            "tribuo-401",
            "adam",
            "the step is multiplied by the root of the second moment in place of divided",
            mutated("adam", ("lr_t * moment1 / (", "lr_t * moment1 * (")),
            FOUND,
        ),
        bug(
            "asi-2349",
            "decayed_adagrad",
            "the step of RMSProp contains the gradient already, and its caller multiplies by it again",
            mutated("decayed_adagrad", ("lr * grad /", "lr * grad * grad /")),
            FOUND,
        ),
        bug(
            "optax-1130",
            "papers.adabelief",
            "the variance is of the difference from the first moment before this step",
            mutated("papers.adabelief", ("np.square(grad - m)", "np.square(grad - state.m)")),
            FOUND,
        ),
        bug(
            "optax-288",
            "papers.yogi",
            "the signed square is squared once more and averaged: a fourth power",
            mutated(
                "papers.yogi",
                ("state.v - (1 - self.beta2) * np.sign(state.v - square) * square",
                 "self.beta2 * state.v + (1 - self.beta2) * np.square(np.sign(state.v - square) * square)"),
            ),
        ),
        bug(
            "kozistr-qhadam",
            "papers.adam",
            "b * v + 1 - b * g**2: brackets are missing; in QHAdam, which forms its second moment as Adam",
            mutated("papers.adam", ("(1 - self.beta2) * np.square(grad)", "1 - self.beta2 * np.square(grad)")),
            FOUND,
        ),
        bug(
            "nd4j-1239",
            "papers.adadelta",
            "(rho * a + (1 - rho)) * g**2: a bracket too far",
            mutated(
                "papers.adadelta",
                ("self.rho * state.mean_square_grad + (1 - self.rho) * np.square(grad)",
                 "(self.rho * state.mean_square_grad + (1 - self.rho)) * np.square(grad)"),
            ),
            FOUND,
        ),
        bug(
            "tf-9058",
            "papers.adadelta",
            "the step uses the average of steps that it has just entered",
            mutated(
                "papers.adadelta",
                ("param - lr * step",
                 "param - lr * np.sqrt(mean_square_step + self.epsilon)"
                 " / np.sqrt(mean_square_grad + self.epsilon) * grad"),
            ),
        ),
        bug(
            "paddle-4184",
            "adagrad",
            "the step is added: it ascends",
            mutated("adagrad", ("param - lr", "param + lr")),
            FOUND,
        ),
        bug(
            "dl4j-953",
            "adagrad",
            "the sum starts at 1, and every step adds epsilon to it",
            mutated("adagrad", ("+ self.initial_accumulator_value", "+ 1.0"), ("np.square(grad)", "np.square(grad) + self.epsilon")),
        ),
        bug(
            "aidotnet-955",
            "lars_momentum",
            "the local rate is outside the velocity, and the decay in its denominator alone",
            mutated(
                "lars_momentum",
                ("local_lr * (grad + self.lars_weight_decay * param)", "grad"),
                ("param - velocity", "param - local_lr * velocity"),
            ),
        ),
        bug(
            "simclr-27",
            "lars_momentum",
            "norms are tested for >= 0: a tensor that starts at zero has the rate 0 and never moves",
            mutated(
                "lars_momentum",
                ("(param_norm > 0) & (grad_norm > 0)", "(param_norm >= 0) & (grad_norm >= 0)"),
            ),
            "dialect: unguarded",
        ),
        bug(
            "bnb-1998",
            "lamb",
            "the largest ratio is 1 whatever is passed, also where none is",
            mutated("lamb", ("lr * ratio *", "lr * np.minimum(ratio, 1.0) *")),
            "dialect: ratio_at_most_one",
        ),
        bug(
            "dropout-4",
            "momentum",
            "the step is the velocity before this gradient, and has one factor 1 - mu too many",
            mutated(
                "momentum",
                ("state.velocity + grad", "state.velocity + (1 - self.momentum) * grad"),
                ("else velocity\n", "else (1 - self.momentum) * state.velocity\n"),
            ),
        ),
        bug(
            "simd-neuralnet-17",
            "momentum",
            "the look-ahead is taken, and then the whole velocity again",
            mutated("momentum", ("else velocity\n", "else velocity + self.momentum * state.velocity\n")),
            FOUND,
        ),
        bug(
            "kozistr-385",
            "torch.muon",
            "what is made orthogonal is the gradient, and the momentum is computed for nothing; in SCION, shown in Muon",
            mutated("torch.muon", ("np.matrix_transpose(ahead) if rows > columns else ahead", "np.matrix_transpose(grad) if rows > columns else grad")),
            "diverges: documented with momentum = 0 whatever is given",
        ),
        bug(
            "timm-2790",
            "torch.adafactor",
            "min for max: a clip that never shrinks, and blows small updates up",
            mutated("torch.adafactor", ("np.maximum(1.0, rms(update) / self.d)", "np.minimum(1.0, rms(update) * self.d)")),
        ),
        bug(
            "optax-408",
            "torch.adafactor",
            "the clip is of the raw gradient in place of the scaled update",
            mutated(
                "torch.adafactor",
                (" / np.maximum(1.0, rms(update) / self.d)", ""),
                ("squared = np", "grad = grad / np.maximum(1.0, rms(grad) / self.d); squared = np"),
            ),
        ),
        bug(
            "mlx-3652",
            "torch.adafactor",
            "the factor of the columns is spread over the wrong axis where there are three: that of the first for all",
            mutated("torch.adafactor", ("row_var * col_var", "row_var * col_var[:1]")),
        ),
    ),
)
