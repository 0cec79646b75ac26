"""Weight decay: left out, of the wrong strength, on the wrong array, or on the wrong side of the moments."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.decays import OfTheLastParameter, OfThePosition, OfThePreviousGradient
from optimetry.conformance.selftest.faults.fault import FOUND
from optimetry.conformance.selftest.faults.mutations import DECAYS
from optimetry.conformance.selftest.faults.runs import run_as
from optimetry.conformance.selftest.museum.exhibit import bug, edited, enter

STEP = "param = param - lr * corrected1 / (np.sqrt(corrected2) + self.eps)"
DECAY = "param = param - lr * self.weight_decay * param"
COUPLED = "grad = with_decay(grad, param, self.weight_decay)"
IGNORED = "diverges: documented with weight_decay = 0 whatever is given"


enter(
    "weight decay",
    (
        edited(
            "mxnet-16053",
            "torch.sgd",
            "Nesterov momentum whose direct term is the gradient without its decay",
            (COUPLED, f"undecayed = grad; {COUPLED}"),
            ("direction = grad + self", "direction = undecayed + self"),
            outcome=FOUND,
        ),
        edited(
            "mlx-473",
            "torch.sgd",
            "without momentum the decay is left out, and the first gradient is dampened",
            ("param - lr * self.weight_decay * param - lr * grad", "param - lr * grad"),
            ("np.where(t > 1, later, grad)", "later"),
            outcome="diverges: first_step_dampened with weight_decay = 0 where momentum is 0; "
            "first_step_dampened where momentum is not 0",
        ),
        edited(
            "torchoptimizer-454",
            "torch.adamw",
            "SGDW takes off lr * wd, a constant, in place of lr * wd * w; shown in AdamW, which has the same term",
            ("lr * self.weight_decay * param", "lr * self.weight_decay"),
            outcome=FOUND,
        ),
        edited(
            "kozistr-517",
            "papers.lion",
            "SignSGD checks and stores a weight decay that no line uses; shown in Lion, another rule of signs",
            (DECAY, "pass"),
            outcome=IGNORED,
        ),
        edited(
            "torchani-261a",
            "torch.adamw",
            "the decay comes behind the step, of the parameter that has been updated",
            (DECAY, "pass"),
            (STEP, f"{STEP}; {DECAY}"),
            outcome="dialect: decay_after_step",
        ),
        edited(
            "coptim-3",
            "papers.adamw",
            "the decay is that of the updated parameter; shown without the mask of Cautious AdamW",
            ("param = param - self.weight_decay * param", "kept = 1 - self.weight_decay"),
            ("return param -", "return kept * param - kept *"),
            outcome=FOUND,
        ),
        edited(
            "tensorli-1",
            "torch.adamw",
            "the decay is not multiplied by the learning rate: a hundredth of the weights is lost in every step",
            ("lr * self.weight_decay * param", "self.weight_decay * param"),
            outcome="dialect: decay_without_lr",
        ),
        edited(
            "timm-laprop",
            "torch.nadam",
            "a decoupled decay without the learning rate; in LaProp, shown in NAdam, which has the same term",
            ("lr * self.weight_decay * param", "self.weight_decay * param"),
            outcome=FOUND,
        ),
        edited(
            "chainer-adamw-cpu",
            "torch.adam",
            "the factor eta, by default 1, is missing before the decay on the CPU; here the learning rate is eta",
            ("lr * self.weight_decay * param", "self.weight_decay * param"),
            outcome=FOUND,
        ),
        bug(
            "burn-656",
            "torch.sgd",
            "the decay is of the gradient before, in place of the weight",
            run_as(OfThePreviousGradient),
            DECAYS.format("the gradient before in place of the parameter"),
        ),
        bug(
            "mlverse-821",
            "torch.adam",
            "the decay is of the parameter's position in its group, 1, 2, 3, in place of the weight",
            run_as(OfThePosition),
            DECAYS.format("the parameter's position in the list, from 1, in its place"),
        ),
        edited(
            "flaggems-4988",
            "torch.adam",
            "the decay is AdamW's, outside the moments",
            ("if self.decoupled_weight_decay", "if True"),
            outcome="dialect: torch.adamw",
        ),
        edited(
            "nntrainer-3565",
            "torch.adamw",
            "the decay is folded into the gradient, as in Adam",
            (DECAY, "grad = grad + self.weight_decay * param"),
            outcome="dialect: coupled_decay",
        ),
        edited(
            "adabelief-33",
            "torch.adam",
            "the decay is added to the gradient once the moments are formed, and reaches nothing; shown in Adam",
            (COUPLED, COUPLED.replace("grad =", "decayed =")),
            outcome=f"{IGNORED.removesuffix(' whatever is given')} where decoupled_weight_decay is false; "
            "documented where decoupled_weight_decay is true",
        ),
        edited(
            "mxnet-9363",
            "torch.adagrad",
            "the decay stands outside, where the accumulator does not see it",
            ("with_decay(directed(grad, self.maximize), param, self.weight_decay)", "directed(grad, self.maximize)"),
            (
                "param - rate * grad / (np.sqrt(summed) + self.eps)",
                "param - rate * grad / (np.sqrt(summed) + self.eps) - lr * self.weight_decay * param",
            ),
            outcome=DECAYS.format("apart from the gradient, times the learning rate"),
        ),
        edited(
            "mxnet-5099",
            "torch.rmsprop",
            "the moments are formed from the gradient without its decay, which the step adds",
            ("with_decay(directed(grad, self.maximize), param, self.weight_decay)", "directed(grad, self.maximize)"),
            ("return param - step", "return param - step - lr * self.weight_decay * param"),
            outcome=DECAYS.format("apart from the gradient, times the learning rate"),
        ),
        edited(
            "timm-lars",
            "papers.lars",
            "the decay is in the ratio alone: an addition that is not in place, and its result is dropped",
            ("(grad + self.weight_decay * param)", "grad"),
            outcome=FOUND,
        ),
        edited(
            "lamb-3",
            "papers.lamb",
            "the decay is added to the gradient, as in Adam, and is missing in the ratio",
            ("m = self", "grad = grad + self.weight_decay * param; m = self"),
            ("r + self.weight_decay * param", "r"),
            outcome=DECAYS.format("as part of the gradient"),
        ),
        edited(
            "tinygrad-17708",
            "torch.muon",
            "the decayed weight is assigned to a name that nothing reads",
            (DECAY, "decayed = param - lr * self.weight_decay * param"),
            outcome=IGNORED,
        ),
        edited(
            "bnb-1992",
            "papers.lion",
            "the decay is added to the gradient, before the sign is taken",
            ("average =", "grad = grad + self.weight_decay * param; average ="),
            (DECAY, "pass"),
            outcome="dialect: coupled_decay",
        ),
        bug(
            "ranger21-54",
            "torch.adamw",
            "the decay stands behind the loop, and acts on one parameter that is left over; shown in AdamW",
            run_as(OfTheLastParameter),
            DECAYS.format("the last of several parameters alone"),
        ),
    ),
)
