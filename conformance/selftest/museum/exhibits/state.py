"""State: not stored, started anew, overwritten by what was made of it, mixed up between parameters, lost on resume."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.fault import FOUND
from optimetry.conformance.selftest.faults.mutations import ANEW
from optimetry.conformance.selftest.faults.state import FirstStateForAll, Forgetful, LoadsNothing, LosesSlot
from optimetry.conformance.selftest.museum.exhibit import bug, edited, enter

enter(
    "state",
    (
        edited(
            "kozistr-516",
            "papers.signum",
            "the buffer is zero before every step, so that the sign is of the gradient",
            ("self.beta * state.m", "self.beta * 0 * state.m"),
            outcome="diverges: documented with beta = 0 whatever is given",
        ),
        bug(
            "pennylane-1928",
            "adagrad",
            "an index is never raised: every argument uses the state of the first",
            FirstStateForAll,
            "diverges: documented, but has one state for all parameters of one shape",
        ),
        bug(
            "rustautograd-16",
            "adam",
            "new moments are computed and not stored: every step starts from zero",
            Forgetful,
            ANEW.format("moment1 and moment2"),
        ),
        edited(
            "holocron-1",
            "papers.radam",
            "the first moment is corrected in place, and corrected again at every step",
            ("State(m=m, v=v)", "State(m=m / (1 - self.beta1**t), v=v)"),
            outcome=FOUND,
        ),
        edited(
            "torch-4314",
            "torch.adam",
            "AMSGrad's maximum is a local variable and never stored; of SparseAdam, shown in Adam",
            ("max_exp_avg_sq=largest", "max_exp_avg_sq=state.max_exp_avg_sq"),
            outcome="diverges: documented with amsgrad = false whatever is given",
        ),
    ),
)

enter(
    "save and load",
    (
        bug(
            "tfa-2102",
            "momentum",
            "the slots of the optimizer inside Lookahead are not saved; shown without Lookahead",
            LosesSlot,
            rejected_by="resuming",
        ),
        bug(
            "tinker-127",
            "adam",
            "loading a state does nothing: the next step is a first one",
            LoadsNothing,
            rejected_by="resuming",
        ),
    ),
)
