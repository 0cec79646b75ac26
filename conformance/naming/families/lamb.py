"""Rules that are called LAMB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of, step_count
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.lamb import Lamb


@dataclass(frozen=True, kw_only=True)
class LambFamily(Lamb):
    """LAMB, with a choice at every place where implementations differ; |x| is a norm over the tensor."""

    bias_correction: str = axis("none", {"none": "m and v", "both": "m/(1-b1^t) and v/(1-b2^t)"})
    decay_placement: str = axis(
        "inside_ratio",
        {
            "inside_ratio": "q = r + lam*w",
            "before_ratio": "w -= lr*lam*w comes first, and q = r",
            "after_step": "q = r, and w -= lr*lam*w comes last",
            "behind_norm": "q = r, and the step is of r + lam*w",
        },
        rare=("after_step", "behind_norm"),
    )
    param_norm: str = axis("as_is", {"as_is": "|w|", "clamped": "min(|w|, 10)"})
    zero_norm: str = axis(
        "ratio_one",
        {
            "ratio_one": "the ratio is 1",
            "unguarded": "the division is carried out",
            "small_direction": "the ratio is 1 where |q| <= eps, and 0 where |w| = 0",
        },
        rare=("small_direction",),
    )
    zero_decay: str = axis("ratio", {"ratio": "no exception", "ratio_one": "lam = 0: the ratio is 1"})

    ratio: str = axis(
        "as_is",
        {
            "as_is": "|w|/|q|",
            "at_most_one": "min(|w|/|q|, 1)",
            "with_epsilon": "|w|/(|q| + eps)",
            "at_most_ten": "min(|w|/|q|, 10)",
        },
        rare=("at_most_one", "with_epsilon", "at_most_ten"),
    )

    step_count: str = step_count()
    # No documented hyperparameters: the limits of pytorch-lamb and of timm and fastai.
    largest_norm: ClassVar[float] = 10.0
    largest_ratios: ClassVar[Mapping[str, float]] = {"at_most_one": 1.0, "at_most_ten": 10.0}

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        moment1 = self.beta1 * state.moment1 + (1 - self.beta1) * grad
        moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
        if self.bias_correction == "none":
            direction = moment1 / (np.sqrt(moment2) + self.epsilon)
        else:
            corrected1, corrected2 = moment1 / (1 - self.beta1**t), moment2 / (1 - self.beta2**t)
            direction = corrected1 / (np.sqrt(corrected2) + self.epsilon)
        if self.decay_placement == "inside_ratio":
            direction = direction + self.lamb_weight_decay * param
        elif self.decay_placement == "before_ratio":
            param = param - lr * self.lamb_weight_decay * param

        param_norm, direction_norm = norm(param), norm(direction)
        if self.param_norm == "clamped":
            param_norm = np.minimum(param_norm, self.largest_norm)
        ratio = param_norm / (direction_norm + self.epsilon if self.ratio == "with_epsilon" else direction_norm)
        if self.ratio in self.largest_ratios:
            ratio = np.minimum(ratio, self.largest_ratios[self.ratio])
        if self.zero_norm == "ratio_one":
            ratio = np.where((param_norm > 0) & (direction_norm > 0), ratio, 1.0)
        elif self.zero_norm == "small_direction":
            ratio = np.where(direction_norm > self.epsilon, ratio, 1.0)
        if self.zero_decay == "ratio_one":
            ratio = np.where(self.lamb_weight_decay > 0, ratio, 1.0)
        if self.decay_placement == "behind_norm":
            direction = direction + self.lamb_weight_decay * param
        moved = param - lr * ratio * direction
        if self.decay_placement == "after_step":
            moved = moved - lr * self.lamb_weight_decay * moved
        return moved, State(moment1=moment1, moment2=moment2)


dialect = dialects_of(LambFamily)

declare(
    dialect(
        name="bias_corrected",
        point={"bias_correction": "both"},
        origin="LAMB as published, optax.lamb",
        reference="You et al. (2020), algorithm 2; optax/_src/alias.py, lamb",
        difference="r = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps)",
    ),
    dialect(
        name="bias_corrected_zero_decay_ratio_one",
        point={"bias_correction": "both", "zero_decay": "ratio_one"},
        origin="PaddlePaddle 3.3 with always_adapt=False, its default",
        reference="Paddle 3.3, paddle/phi/kernels/impl/lamb_kernel_impl.h",
        difference="r = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps); ratio = 1 if lam == 0",
    ),
    dialect(
        name="zero_decay_ratio_one",
        point={"zero_decay": "ratio_one"},
        origin="PaddlePaddle 3.3, which also corrects the bias",
        reference="Paddle 3.3, paddle/phi/kernels/impl/lamb_kernel_impl.h",
        difference="ratio = 1 if lam == 0",
    ),
    dialect(
        name="bias_corrected_decay_before_ratio",
        point={"bias_correction": "both", "decay_placement": "before_ratio"},
        origin="keras.optimizers.Lamb(weight_decay=...)",
        reference="keras/src/optimizers/lamb.py and base_optimizer.py",
        difference="w -= lr*lam*w; r = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps); w -= lr*|w|/|r|*r",
    ),
    dialect(
        name="decay_before_ratio",
        point={"decay_placement": "before_ratio"},
        origin="keras.optimizers.Lamb, which also corrects the bias",
        reference="keras/src/optimizers/base_optimizer.py",
        difference="w -= lr*lam*w; w -= lr*|w|/|r|*r",
    ),
    dialect(
        name="norm_without_decay",
        point={"decay_placement": "behind_norm"},
        origin="oneflow.optim.LAMB(do_bias_correction=False)",
        reference="oneflow/user/kernels/model_update_kernel_util.cpp, LambUpdateKernelUtil",
        difference="w -= lr*|w|/|r|*(r + lam*w)",
    ),
    dialect(
        name="bias_corrected_norm_without_decay",
        point={"bias_correction": "both", "decay_placement": "behind_norm"},
        origin="oneflow.optim.LAMB",
        reference="oneflow/user/kernels/model_update_kernel_util.cpp, LambUpdateKernelUtil",
        difference="r = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps); w -= lr*|w|/|r|*(r + lam*w)",
    ),
    dialect(
        name="small_direction_as_is",
        point={"zero_norm": "small_direction"},
        origin="nnabla.solvers.Lamb with gamma_u above every norm",
        reference="src/nbla/solver/generic/lamb.cpp, Lamb::update_impl",
        difference="ratio = |w|/|q|, 1 where |q| <= eps; it is 0 where |w| = 0",
    ),
    dialect(
        name="norm_clamped",
        point={"param_norm": "clamped"},
        origin="the function phi of the paper, with the limit of pytorch-lamb",
        reference="You et al. (2020), algorithm 2, phi; cybertronai/pytorch-lamb, pytorch_lamb/lamb.py",
        difference="w -= lr*min(|w|, 10)/|q|*q",
    ),
    dialect(
        name="norm_clamped_unguarded",
        point={"param_norm": "clamped", "zero_norm": "unguarded"},
        origin="pytorch-lamb",
        reference="cybertronai/pytorch-lamb, pytorch_lamb/lamb.py, Lamb.step",
        difference="w -= lr*min(|w|, 10)/|q|*q, also where a norm is 0",
    ),
    dialect(
        name="unguarded",
        point={"zero_norm": "unguarded"},
        origin="the equation as printed: a zero tensor never moves",
        reference="fluid.optimizer.LambOptimizer, page 000",
        difference="ratio = |w|/|q|, also where a norm is 0",
    ),
    dialect(
        name="decay_after_step",
        point={"decay_placement": "after_step"},
        origin="decoupled decay as a step of its own; no release known",
        reference="Loshchilov & Hutter (2019), section 2, for decay apart from the step",
        difference="w -= lr*|w|/|r|*r; w -= lr*lam*w",
    ),
    dialect(
        name="ratio_at_most_one",
        point={"ratio": "at_most_one"},
        origin="timm.optim.Lamb(trust_clip=True), which also corrects the bias",
        reference="timm/optim/lamb.py, trust_clip",
        difference="w -= lr*min(|w|/|q|, 1)*q",
    ),
    dialect(
        name="bias_corrected_ratio_at_most_one",
        point={"bias_correction": "both", "ratio": "at_most_one"},
        origin="timm.optim.Lamb(trust_clip=True, always_adapt=True, max_grad_norm=None)",
        reference="timm/optim/lamb.py",
        difference="r = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps); w -= lr*min(|w|/|q|, 1)*q",
    ),
    dialect(
        name="ratio_with_epsilon",
        point={"ratio": "with_epsilon"},
        origin="torch_optimizer.Lamb, which also clamps the norm",
        reference="torch_optimizer, lamb.py",
        difference="w -= lr*|w|/(|q| + eps)*q",
    ),
    dialect(
        name="norm_clamped_ratio_with_epsilon",
        point={"param_norm": "clamped", "ratio": "with_epsilon"},
        origin="torch_optimizer.Lamb",
        reference="torch_optimizer, lamb.py",
        difference="w -= lr*min(|w|, 10)/(|q| + eps)*q",
    ),
    dialect(
        name="norm_clamped_ratio_with_epsilon_decay_before_ratio",
        point={"decay_placement": "before_ratio", "param_norm": "clamped", "ratio": "with_epsilon"},
        origin="pytorch_optimizer.Lamb",
        reference="kozistr/pytorch_optimizer, optimizer/lamb.py",
        difference="w -= lr*lam*w; w -= lr*min(|w|, 10)/(|r| + eps)*r",
    ),
    dialect(
        name="bias_corrected_decay_before_ratio_at_most_ten",
        point={"bias_correction": "both", "decay_placement": "before_ratio", "ratio": "at_most_ten"},
        origin="fastai.optimizer.Lamb",
        reference="fastai/optimizer.py, weight_decay and lamb_step",
        difference="w -= lr*lam*w; r = (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps); w -= lr*min(|w|/|r|, 10)*r",
    ),
    settings=(
        # Directions longer than 10, so that the clamped norm shows even where the ratio is at most 1; and a decay below
        # 0.1, so that a ratio of more than 10 shows even where the decay is part of the direction.
        Setting({"beta1": 0.3, "beta2": 0.99, "epsilon": 0.1, "lamb_weight_decay": 0.02}, sizes=(-1, 3), pool=60),
        Setting({"beta1": 0.7, "beta2": 0.9, "epsilon": 0.1, "lamb_weight_decay": 0.0}, sizes=(-1, 3), pool=60),
    ),
)
