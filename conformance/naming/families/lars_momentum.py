"""Rules that are called LARS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.conformance.numerics.arithmetic import computed_in_float32, in_float32
from optimetry.reference.norms import norm
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.lars_momentum import LarsMomentum


@dataclass(frozen=True, kw_only=True)
class LarsMomentumFamily(LarsMomentum):
    """LARS momentum, with a choice at every place where implementations differ; |x| is a norm over the tensor."""

    denominator: str = axis(
        "sum_of_norms",
        {
            "sum_of_norms": "|g| + wd*|w|",
            "norm_of_sum": "|g + wd*w|, which is also what the guard looks at",
            "norm_of_sum_guarded_by_gradient": "|g + wd*w|, where the guard looks at |g|",
            "norm_of_sum_plus_decay": "|g + wd*w| + wd*|w|",
        },
        rare=("norm_of_sum_guarded_by_gradient", "norm_of_sum_plus_decay"),
    )
    denominator_epsilon: str = axis(
        "0",
        {"0": "added to no denominator", "1e-8": "denominator + 1e-8", "1e-5": "denominator + 1e-5"},
        rare=("1e-5",),
    )
    zero_norm: str = axis(
        "plain_rate",
        {
            "plain_rate": "the local rate is lr",
            "unguarded": "the division is carried out",
            "plain_rate_undecayed": "the local rate is lr, and w does not decay",
            "plain_rate_or_more": "the local rate is lr, or what the division gives where that is more",
        },
        rare=("plain_rate_or_more",),
    )
    zero_decay: str = axis("scaled_rate", {"scaled_rate": "no exception", "plain_rate": "wd = 0: the local rate is lr"})
    learning_rate_placement: str = axis(
        "inside",
        {
            "inside": "v = mu*v + llr*(g + wd*w); w -= v",
            "outside": "v = mu*v + llr/lr*(g + wd*w); w -= lr*v",
            "outside_with_ratio": "v = mu*v + g + wd*w; w -= llr*v",
        },
        rare=("outside_with_ratio",),
    )
    limit: str = axis(
        "none",
        {
            "none": "llr = lr*coeff*|w|/(...)",
            "one": "llr = lr*min(coeff*|w|/(...), 1)",
            "learning_rate": "llr = min(coeff*|w|/(...), lr)",
        },
        rare=("one",),
    )
    vectors: str = axis(
        "scaled",
        {
            "scaled": "as any tensor",
            "plain": "a w of fewer than two dimensions has the local rate lr and no decay",
            "plain_but_scalars": "a w of one dimension has the local rate lr and no decay",
        },
        rare=("plain", "plain_but_scalars"),
    )

    float32_norm: bool = False

    @property
    def reads_shapes(self) -> bool:
        return self.vectors != "scaled"

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        scale, decayed = self._scaled(param, grad, lr)
        if self.learning_rate_placement == "outside_with_ratio":
            velocity = self.momentum * state.velocity + decayed
            return param - lr * scale * velocity, State(velocity=velocity)
        velocity = self.momentum * state.velocity + scale * decayed
        inside = self.learning_rate_placement == "inside"
        return param - (velocity if inside else lr * velocity), State(velocity=velocity)

    def _scaled(self, param: Array, grad: Array, lr: Any) -> tuple[Any, Array]:
        """Return a gradient with its decay, and the factor before it: the local rate, without lr where that is outside.

        The guard looks at the norm of the sum where the denominator does.
        """
        inside = self.learning_rate_placement == "inside"
        plain = lr if inside else 1.0
        if (self.vectors == "plain" and param.ndim < 2) or (self.vectors == "plain_but_scalars" and param.ndim == 1):
            return plain, grad
        decayed = grad + self.lars_weight_decay * param
        param_norm = self._norm(param)
        denominator = guarded = self._norm(grad if self.denominator == "sum_of_norms" else decayed)
        if self.denominator == "norm_of_sum_guarded_by_gradient":
            guarded = self._norm(grad)
        if self.denominator in ("sum_of_norms", "norm_of_sum_plus_decay"):
            denominator = denominator + self.lars_weight_decay * param_norm
        if self.denominator_epsilon != "0":
            denominator = denominator + float(self.denominator_epsilon)

        if self.limit == "learning_rate":
            scale = self.lars_coeff * param_norm / denominator
            scale = scale if inside else scale / lr
        else:
            scale = (lr * self.lars_coeff if inside else self.lars_coeff) * param_norm / denominator
        if self.limit != "none":
            scale = np.minimum(scale, plain)

        known = (param_norm > 0) & (guarded > 0)
        if self.zero_norm == "plain_rate_or_more":
            scale = np.where(known, scale, np.maximum(scale, plain))
        elif self.zero_norm != "unguarded":
            scale = np.where(known, scale, plain)
        if self.zero_norm == "plain_rate_undecayed":
            decayed = np.where(known, decayed, grad)
        if self.zero_decay == "plain_rate":
            scale = np.where(self.lars_weight_decay > 0, scale, plain)
        return in_float32(scale) if self.float32_norm else scale, decayed

    def _norm(self, x: Array) -> Any:
        return computed_in_float32(norm, x) if self.float32_norm else norm(x)


dialect = dialects_of(LarsMomentumFamily)

declare(
    dialect(
        name="norm_of_sum",
        point={"denominator": "norm_of_sum"},
        origin="optax.lars",
        reference="optax/_src/alias.py, lars; optax/_src/transform.py, scale_by_trust_ratio",
        difference="llr = lr*coeff*|w| / |g + wd*w|",
    ),
    dialect(
        name="denominator_epsilon",
        point={"denominator_epsilon": "1e-8"},
        origin="mxnet.optimizer.LARS of MXNet 2; LarsMomentumOptimizer of later PaddlePaddle with epsilon > 0",
        reference="python/mxnet/optimizer/lars.py",
        difference="llr = lr*coeff*|w| / (|g| + wd*|w| + 1e-8)",
    ),
    dialect(
        name="zero_decay_plain_rate",
        point={"zero_decay": "plain_rate"},
        origin="PaddlePaddle 3.3",
        reference="Paddle 3.3, the CPU kernel behind paddle._C_ops.lars_momentum_",
        difference="llr = lr if wd == 0",
    ),
    dialect(
        name="unguarded",
        point={"zero_norm": "unguarded"},
        origin="the equation as published: a zero tensor never moves",
        reference="You, Gitman & Ginsburg (2017), algorithm 1",
        difference="llr = lr*coeff*|w| / (|g| + wd*|w|), also where a norm is 0",
    ),
    dialect(
        name="norm_of_sum_guarded_by_gradient",
        point={"denominator": "norm_of_sum_guarded_by_gradient"},
        origin="a guard from the sum of norms before the norm of the sum; no release known",
        reference="optax/_src/alias.py, lars, for the denominator",
        difference="llr = lr*coeff*|w| / |g + wd*w|, lr where |g| = 0",
    ),
    dialect(
        name="learning_rate_outside",
        point={"learning_rate_placement": "outside"},
        origin="timm.optim.Lars(always_adapt=True, eps=0)",
        reference="timm/optim/lars.py; apex/parallel/LARC.py, around torch.optim.SGD",
        difference="v = mu*v + coeff*|w|/(|g| + wd*|w|)*(g + wd*w); w -= lr*v",
    ),
    dialect(
        name="norm_of_sum_learning_rate_outside",
        point={"denominator": "norm_of_sum", "learning_rate_placement": "outside"},
        origin="LARS of Barlow Twins without its filters",
        reference="facebookresearch/barlowtwins, main.py",
        difference="v = mu*v + coeff*|w|/|g + wd*w|*(g + wd*w); w -= lr*v",
    ),
    dialect(
        name="learning_rate_outside_with_epsilon",
        point={"denominator_epsilon": "1e-8", "learning_rate_placement": "outside"},
        origin="timm.optim.Lars(always_adapt=True)",
        reference="timm/optim/lars.py",
        difference="v = mu*v + coeff*|w|/(|g| + wd*|w| + 1e-8)*(g + wd*w); w -= lr*v",
    ),
    dialect(
        name="learning_rate_outside_with_epsilon_zero_decay_plain_rate",
        point={
            "denominator_epsilon": "1e-8",
            "learning_rate_placement": "outside",
            "zero_decay": "plain_rate",
        },
        origin="timm.optim.Lars",
        reference="timm/optim/lars.py",
        difference="v = mu*v + coeff*|w|/(|g| + wd*|w| + 1e-8)*(g + wd*w), or + g if wd == 0; w -= lr*v",
    ),
    dialect(
        name="larc",
        point={
            "denominator_epsilon": "1e-8",
            "zero_norm": "plain_rate_undecayed",
            "learning_rate_placement": "outside",
            "limit": "learning_rate",
        },
        origin="LARC of NVIDIA apex around torch.optim.SGD",
        reference="apex/parallel/LARC.py",
        difference="v = mu*v + min(coeff*|w|/(|g| + wd*|w| + 1e-8), lr)/lr*(g + wd*w); w -= lr*v",
    ),
    dialect(
        name="larc_without_limit",
        point={
            "denominator_epsilon": "1e-8",
            "zero_norm": "plain_rate_undecayed",
            "learning_rate_placement": "outside",
        },
        origin="LARC(clip=False) of NVIDIA apex around torch.optim.SGD",
        reference="apex/parallel/LARC.py",
        difference="v = mu*v + coeff*|w|/(|g| + wd*|w| + 1e-8)*(g + wd*w), or + g if |w|*|g| == 0; w -= lr*v",
    ),
    dialect(
        name="ratio_at_most_one",
        point={"limit": "one"},
        origin="a misread limit of LARC; no release known",
        reference="apex/parallel/LARC.py, clip, for the limit it departs from",
        difference="llr = lr*min(coeff*|w|/(|g| + wd*|w|), 1)",
    ),
    dialect(
        name="vectors_plain",
        point={"vectors": "plain"},
        origin="LARS of MAE and MoCo v3, with their own denominator",
        reference="facebookresearch/mae, util/lars.py",
        difference="llr = lr and wd = 0 where w has fewer than two dimensions",
    ),
    dialect(
        name="norm_of_sum_learning_rate_outside_vectors_plain",
        point={"denominator": "norm_of_sum", "learning_rate_placement": "outside", "vectors": "plain"},
        origin="LARS of MAE, MoCo v3 and early pytorch_optimizer",
        reference="facebookresearch/mae, util/lars.py; kozistr/pytorch_optimizer, lars.py",
        difference="v = mu*v + coeff*|w|/|g + wd*w|*(g + wd*w), or + g for vectors; w -= lr*v",
    ),
    dialect(
        name="norm_of_sum_learning_rate_outside_vectors_plain_but_scalars",
        point={"denominator": "norm_of_sum", "learning_rate_placement": "outside", "vectors": "plain_but_scalars"},
        origin="LARS of DINO, and of Barlow Twins and VICReg with their filters",
        reference="facebookresearch/dino, utils.py; facebookresearch/barlowtwins, main.py",
        difference="v = mu*v + coeff*|w|/|g + wd*w|*(g + wd*w), or + g where w has one dimension; w -= lr*v",
    ),
    dialect(
        name="large_epsilon_plain_rate_or_more",
        point={"denominator_epsilon": "1e-5", "zero_norm": "plain_rate_or_more"},
        origin="objax.optimizer.LARS",
        reference="Objax 1.8.0, objax/optimizer/lars.py",
        difference="llr = lr*coeff*|w| / (|g| + wd*|w| + 1e-5), at least lr where a norm is 0",
    ),
    dialect(
        name="rate_and_ratio_outside",
        point={
            "denominator": "norm_of_sum_plus_decay",
            "denominator_epsilon": "1e-8",
            "zero_norm": "unguarded",
            "learning_rate_placement": "outside_with_ratio",
        },
        origin="fastai.optimizer.Larc(clip=False, decouple_wd=False)",
        reference="fastai/optimizer.py, larc_layer_lr and larc_step",
        difference="v = mu*v + g + wd*w; w -= lr*coeff*|w|/(|g + wd*w| + wd*|w| + 1e-8)*v",
    ),
    # The ratio exceeds 1 in the first setting alone; without a gradient it is below 1, and below the rate, in the
    # second alone, which has scalars, too: some treat them as vectors.
    settings=tuple(
        Setting(
            {"momentum": 0.7, "lars_coeff": coeff, "lars_weight_decay": decay},
            sizes=(-8, 1),
            grads=(-9, 1),
            pool=40,
            shapes=shapes,
        )
        for coeff, decay, shapes in ((0.7, 0.3, ()), (0.05, 0.5, ((), (1,), (1, 1))), (0.1, 0.0, ()))
    ),
)
