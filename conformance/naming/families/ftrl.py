"""Rules that are called FTRL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from optimetry.conformance.naming.families.family import Setting, axis, declare, dialects_of
from optimetry.reference.rule import Array, State
from optimetry.reference.rules.ftrl import Ftrl


@dataclass(frozen=True, kw_only=True)
class FtrlFamily(Ftrl):
    """FTRL-Proximal, with a choice at every place where implementations differ; s and n as in the documented rule."""

    fraction: str = axis(
        "times_parameter",
        {"times_parameter": "(n^-p - s^-p)/lr * w", "over_parameter": "(n^-p - s^-p)/(lr*w), 0/0 or x/0 where w = 0"},
    )
    l2_term: str = axis("doubled", {"doubled": "y adds 2*l2", "single": "y adds l2", "l1": "y adds 2*l1"})
    added_to_strengths: str = axis("nothing", {"nothing": "l1 and l2 as given", "1e-10": "1e-10 added to l1 and l2"})
    initial_value: str = axis("0", {"0": "s_0 = 0", "0.1": "s_0 = 0.1"})
    small_linear: str = axis(
        "zero", {"zero": "w = 0 where |l| <= l1", "divided": "w = (clip(l, -l1, l1) - l)/y, so 0/0 where l = y = 0"}
    )

    strength_addend: ClassVar[float] = 1e-10
    framework_initial_value: ClassVar[float] = 0.1

    def initial_state(self, param: Array) -> State:
        zeros = np.zeros_like(param)
        squared = zeros if self.initial_value == "0" else zeros + self.framework_initial_value
        return State(squared_accum=squared, linear_accum=zeros)

    def update(self, param: Array, grad: Array, state: State, lr: Any, t: int) -> tuple[Array, State]:
        l1, l2 = self.l1, self.l1 if self.l2_term == "l1" else self.l2
        if self.added_to_strengths == "1e-10":
            l1, l2 = l1 + self.strength_addend, l2 + self.strength_addend

        squared = state.squared_accum + np.square(grad)
        new_rate, old_rate = squared**-self.lr_power, state.squared_accum**-self.lr_power
        if self.fraction == "times_parameter":
            linear = state.linear_accum + grad - (new_rate - old_rate) / lr * param
        else:
            linear = state.linear_accum + grad - (new_rate - old_rate) / (lr * param)
        y = new_rate / lr + (l2 if self.l2_term == "single" else 2 * l2)
        if self.small_linear == "zero":
            new_param = np.where(np.abs(linear) > l1, (l1 * np.sign(linear) - linear) / y, 0.0)
        else:
            new_param = (np.minimum(np.maximum(linear, -l1), l1) - linear) / y
        return new_param, State(squared_accum=squared, linear_accum=linear)


dialect = dialects_of(FtrlFamily)

declare(
    dialect(
        name="printed_fraction",
        point={"fraction": "over_parameter"},
        origin="the equation of fluid.optimizer.FtrlOptimizer as printed",
        reference="fluid.optimizer.FtrlOptimizer, page 000",
        difference="l += g - (n^-p - s^-p)/(lr*w)",
    ),
    dialect(
        name="l1_for_l2",
        point={"l2_term": "l1"},
        origin="PaddlePaddle 1.8.5, whose operator is given l1 twice",
        reference="Paddle 1.8, python/paddle/fluid/optimizer.py, FtrlOptimizer",
        difference="y = n^-p/lr + 2*l1",
    ),
    dialect(
        name="strengths_enlarged",
        point={"added_to_strengths": "1e-10"},
        origin="PaddlePaddle 3.3",
        reference="Paddle 3.3, paddle/phi/kernels/impl/ftrl_kernel_impl.h",
        difference="l1 += 1e-10; l2 += 1e-10",
    ),
    dialect(
        name="l2_not_doubled",
        point={"l2_term": "single"},
        origin="FTRL-Proximal as published",
        reference="McMahan et al. (2013), algorithm 1",
        difference="y = n^-p/lr + l2",
    ),
    dialect(
        name="initial_value",
        point={"initial_value": "0.1"},
        origin="keras.optimizers.Ftrl and TensorFlow by default",
        reference="keras/src/optimizers/ftrl.py, initial_accumulator_value",
        difference="s_0 = 0.1",
    ),
    dialect(
        name="divided_everywhere",
        point={"small_linear": "divided"},
        origin="keras.optimizers.Ftrl(initial_accumulator_value=0)",
        reference="keras/src/optimizers/ftrl.py",
        difference="w = (clip(l, -l1, l1) - l)/y, 0/0 for an element without gradients when l2 = 0",
    ),
    settings=(
        Setting({"l1": 0.1, "l2": 0.3, "lr_power": -0.5}),
        Setting({"l1": 0.0, "l2": 0.0, "lr_power": -0.5}, sizes=(-2, 2), grads=(-11, 0)),
        Setting({"l1": 0.0, "l2": 0.0, "lr_power": -0.5}, rates=(3e8, 3e8, 7e7, 7e7), grads=(-11, 0)),
    ),
)
