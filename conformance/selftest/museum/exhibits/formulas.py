"""Formulas of the step: another operator, bracket, array or sign."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.fault import FOUND
from optimetry.conformance.selftest.museum.exhibit import edited, enter

enter(
    "formula",
    (
        edited(
            "tribuo-401",
            "adam",
            "the step is multiplied by the root of the second moment in place of divided",
            ("lr_t * moment1 / (", "lr_t * moment1 * ("),
            outcome=FOUND,
        ),
        edited(
            "asi-2349",
            "decayed_adagrad",
            "the step of RMSProp contains the gradient already, and its caller multiplies by it again",
            ("lr * grad /", "lr * grad * grad /"),
            outcome=FOUND,
        ),
        edited(
            "optax-1130",
            "papers.adabelief",
            "the variance is of the difference from the first moment before this step",
            ("np.square(grad - m)", "np.square(grad - state.m)"),
            outcome=FOUND,
        ),
        edited(
            "optax-288",
            "papers.yogi",
            "the signed square is squared once more and averaged: a fourth power",
            (
                "state.v - (1 - self.beta2) * np.sign(state.v - square) * square",
                "self.beta2 * state.v + (1 - self.beta2) * np.square(np.sign(state.v - square) * square)",
            ),
        ),
        edited(
            "kozistr-qhadam",
            "papers.adam",
            "b * v + 1 - b * g**2: brackets are missing; in QHAdam, which forms its second moment as Adam",
            ("(1 - self.beta2) * np.square(grad)", "1 - self.beta2 * np.square(grad)"),
            outcome=FOUND,
        ),
        edited(
            "nd4j-1239",
            "papers.adadelta",
            "(rho * a + (1 - rho)) * g**2: a bracket too far",
            (
                "self.rho * state.mean_square_grad + (1 - self.rho) * np.square(grad)",
                "(self.rho * state.mean_square_grad + (1 - self.rho)) * np.square(grad)",
            ),
            outcome=FOUND,
        ),
        edited(
            "tf-9058",
            "papers.adadelta",
            "the step uses the average of steps that it has just entered",
            ("after = State", "new = np.sqrt(mean_square_step + self.epsilon); after = State"),
            ("param - lr * step", "param - lr * new / np.sqrt(mean_square_grad + self.epsilon) * grad"),
            outcome=FOUND,
        ),
        edited("paddle-4184", "adagrad", "the step is added: it ascends", ("param - lr", "param + lr"), outcome=FOUND),
        edited(
            "dl4j-953",
            "adagrad",
            "the sum starts at 1, and every step adds epsilon to it",
            ("+ self.initial_accumulator_value", "+ 1.0"),
            ("np.square(grad)", "np.square(grad) + self.epsilon"),
            outcome=FOUND,
        ),
        edited(
            "aidotnet-955",
            "lars_momentum",
            "the local rate is outside the velocity, and the decay in its denominator alone",
            ("local_lr * (grad + self.lars_weight_decay * param)", "grad"),
            ("param - velocity", "param - local_lr * velocity"),
            outcome=FOUND,
        ),
        edited(
            "simclr-27",
            "lars_momentum",
            "norms are tested for >= 0: a tensor that starts at zero has the rate 0 and never moves",
            ("(param_norm > 0) & (grad_norm > 0)", "(param_norm >= 0) & (grad_norm >= 0)"),
            outcome="dialect: unguarded",
        ),
        edited(
            "bnb-1998",
            "lamb",
            "the largest ratio is 1 whatever is passed, also where none is",
            ("lr * ratio *", "lr * np.minimum(ratio, 1.0) *"),
            outcome="dialect: ratio_at_most_one",
        ),
        edited(
            "dropout-4",
            "momentum",
            "the step is the velocity before this gradient, and has one factor 1 - mu too many",
            ("state.velocity + grad", "state.velocity + (1 - self.momentum) * grad"),
            ("else velocity\n", "else (1 - self.momentum) * state.velocity\n"),
        ),
        edited(
            "simd-neuralnet-17",
            "momentum",
            "the look-ahead is taken, and then the whole velocity again",
            ("else velocity\n", "else velocity + self.momentum * state.velocity\n"),
            outcome="diverges: new velocity -> momentum*velocity + new velocity in the parameter alone where "
            "use_nesterov is false; documented where use_nesterov is true",
        ),
        edited(
            "kozistr-385",
            "torch.muon",
            "what is made orthogonal is the gradient, and the momentum is not used; in SCION, shown in Muon",
            (
                "np.matrix_transpose(ahead) if rows > columns else ahead",
                "np.matrix_transpose(grad) if rows > columns else grad",
            ),
            outcome="diverges: documented with momentum = 0 whatever is given",
        ),
        edited(
            "timm-2790",
            "torch.adafactor",
            "min for max: a clip that never shrinks, and blows small updates up",
            ("np.maximum(1.0, rms(update) / self.d)", "np.minimum(1.0, rms(update) * self.d)"),
        ),
        edited(
            "optax-408",
            "torch.adafactor",
            "the clip is of the raw gradient in place of the scaled update",
            (" / np.maximum(1.0, rms(update) / self.d)", ""),
            ("squared = np", "grad = grad / np.maximum(1.0, rms(grad) / self.d); squared = np"),
        ),
        edited(
            "mlx-3652",
            "torch.adafactor",
            "the factor of the columns is spread over the wrong axis where there are three: that of the first for all",
            ("row_var * col_var", "row_var * col_var[:1]"),
        ),
    ),
)
