"""Steps of every rule, worked by hand in numbers that every precision holds exactly, so that bits can be compared."""

from typing import Any, NamedTuple


class Worked(NamedTuple):
    """A step: what goes in, and what must come out.

    Attributes:
        rule: its name.
        hyper: its hyperparameters.
        lr: the learning rate.
        t: the number of the step.
        param: the parameter before.
        grad: its gradient.
        state: the slots before.
        new: the parameter after.
        after: the slots after.
    """

    rule: str
    hyper: dict[str, Any]
    lr: float
    t: int
    param: list[Any]
    grad: list[Any]
    state: dict[str, Any]
    new: list[Any]
    after: dict[str, Any]


MOMENTUM = {"velocity": [2.0]}
ADAM = {"moment1": [2.0], "moment2": [16.0]}
LARS = {"momentum": 0.5, "lars_coeff": 0.25, "lars_weight_decay": 0.5}
RMSPROP = {"mean_square": [23.0], "mean_grad": [1.0], "velocity": [2.0]}
FTRL = {"squared_accum": [16.0], "linear_accum": [1.0]}
LAMB = {"lamb_weight_decay": 0.5, "beta1": 0.5, "beta2": 0.5, "epsilon": 1.0}
LAMB_STATE = {"moment1": [-6.0, 1.0], "moment2": [2.0, 1.0]}
LAMB_AFTER = {"moment1": [-3.0, 1.0], "moment2": [1.0, 1.0]}
ASGD = {"d": [2.0], "history": [[1.0], [5.0]]}

STEPS = [
    # w = 3 - 1/4 · 1/2
    Worked("sgd", {}, 0.25, 1, [3.0], [0.5], {}, [2.875], {}),
    # v = 1/2 · 2 + 2 = 3, w = 3 - 1/4 · 3; with Nesterov w = 3 - 1/4 (2 + 1/2 · 3)
    Worked("momentum", {"momentum": 0.5}, 0.25, 1, [3.0], [2.0], MOMENTUM, [2.25], {"velocity": [3.0]}),
    Worked(
        "momentum",
        {"momentum": 0.5, "use_nesterov": True},
        0.25,
        1,
        [3.0],
        [2.0],
        MOMENTUM,
        [2.125],
        {"velocity": [3.0]},
    ),
    # ‖w‖ = 10, ‖g‖ = 5, local rate 1/2 · 1/4 · 10 / (5 + 1/2 · 10) = 1/8, v = 1/2 (2, -4) + 1/8 ((3, 4) + 1/2 (6, 8))
    Worked(
        "lars_momentum",
        LARS,
        0.5,
        1,
        [6.0, 8.0],
        [3.0, 4.0],
        {"velocity": [2.0, -4.0]},
        [4.25, 9.0],
        {"velocity": [1.75, -1.0]},
    ),
    # ‖g‖ = 0: the plain rate, v = 1/2 · 1/2 (6, 8); and ‖w‖ = 0: v = 1/2 (3, 4)
    Worked(
        "lars_momentum",
        LARS,
        0.5,
        1,
        [6.0, 8.0],
        [0.0, 0.0],
        {"velocity": [0.0, 0.0]},
        [4.5, 6.0],
        {"velocity": [1.5, 2.0]},
    ),
    Worked(
        "lars_momentum",
        LARS,
        0.5,
        1,
        [0.0, 0.0],
        [3.0, 4.0],
        {"velocity": [0.0, 0.0]},
        [-1.5, -2.0],
        {"velocity": [1.5, 2.0]},
    ),
    # m = 7 + 9 = 16, w = 3 - 1/2 · 3 / (4 + 2)
    Worked("adagrad", {"epsilon": 2.0}, 0.5, 1, [3.0], [3.0], {"moment": [7.0]}, [2.75], {"moment": [16.0]}),
    # m = 1/2 · 23 + 1/2 · 9 = 16
    Worked(
        "decayed_adagrad",
        {"decay": 0.5, "epsilon": 2.0},
        0.5,
        1,
        [3.0],
        [3.0],
        {"moment": [23.0]},
        [2.75],
        {"moment": [16.0]},
    ),
    # a = 1/2 · 8 + 1/2 · 16 = 12, d = √((5 + 4) / (12 + 4)) · 4 = 3, u = 1/2 · 5 + 1/2 · 9 = 7, w = 3 - 1/2 · 3
    Worked(
        "adadelta",
        {"epsilon": 4.0, "rho": 0.5},
        0.5,
        1,
        [3.0],
        [4.0],
        {"avg_squared_grad": [8.0], "avg_squared_update": [5.0]},
        [1.5],
        {"avg_squared_grad": [12.0], "avg_squared_update": [7.0]},
    ),
    # m = 1/2 · 2 + 1/2 · 4 = 3, v = 3/4 · 16 + 1/4 · 16 = 16, rate 1/2 · √(1/4) / (1/2), w = 3 - 1/2 · 3 / (4 + 2)
    Worked(
        "adam",
        {"beta1": 0.5, "beta2": 0.75, "epsilon": 2.0},
        0.5,
        1,
        [3.0],
        [4.0],
        ADAM,
        [2.75],
        {"moment1": [3.0], "moment2": [16.0]},
    ),
    # t = 2: v = 16, rate 3/4 · 1 / (1 - 1/4) = 1, w = 3 - 3 / (4 + 2)
    Worked(
        "adam",
        {"beta1": 0.5, "beta2": 0.0, "epsilon": 2.0},
        0.75,
        2,
        [3.0],
        [4.0],
        ADAM,
        [2.5],
        {"moment1": [3.0], "moment2": [16.0]},
    ),
    # m = 1/2 · 2 - 1/2 · 4 = -1, u = max(1/2 · 14 + 1, 4) = 8 or max(1/2 · 2 + 1, 4) = 4, w = 3 + (1/2) / (1/2) · 1/u
    Worked(
        "adamax",
        {"beta1": 0.5, "beta2": 0.5, "epsilon": 1.0},
        0.5,
        1,
        [3.0, 3.0],
        [-4.0, -4.0],
        {"moment": [2.0, 2.0], "inf_norm": [14.0, 2.0]},
        [3.125, 3.25],
        {"moment": [-1.0, -1.0], "inf_norm": [8.0, 4.0]},
    ),
    # r = 1/2 · 23 + 1/2 · 9 = 16, v = 1/2 · 2 + 5/2 · 3 / √(16 + 9) = 5/2
    Worked(
        "rmsprop",
        {"rho": 0.5, "epsilon": 9.0, "momentum": 0.5},
        2.5,
        1,
        [3.0],
        [3.0],
        RMSPROP,
        [0.5],
        {"mean_square": [16.0], "mean_grad": [1.0], "velocity": [2.5]},
    ),
    # centered: a = 1/2 · 1 + 1/2 · 3 = 2, v = 1/2 · 2 + 2 · 3 / √(16 - 4 + 4) = 5/2
    Worked(
        "rmsprop",
        {"rho": 0.5, "epsilon": 4.0, "momentum": 0.5, "centered": True},
        2.0,
        1,
        [3.0],
        [3.0],
        RMSPROP,
        [0.5],
        {"mean_square": [16.0], "mean_grad": [2.0], "velocity": [2.5]},
    ),
    # n = 25, l = 1 + 3 - (5 - 4) / (1/2) · 3 = -2, x = -1 + 2, y = 5 / (1/2) + 2 · 3 = 16, w = 1/16
    Worked(
        "ftrl",
        {"l1": 1.0, "l2": 3.0},
        0.5,
        1,
        [3.0],
        [3.0],
        FTRL,
        [0.0625],
        {"squared_accum": [25.0], "linear_accum": [-2.0]},
    ),
    # |l| = l1: w = 0
    Worked(
        "ftrl",
        {"l1": 2.0, "l2": 3.0},
        0.5,
        1,
        [3.0],
        [3.0],
        FTRL,
        [0.0],
        {"squared_accum": [25.0], "linear_accum": [-2.0]},
    ),
    # power -1: l = 4 - (25 - 16) / (1/2) · 3 = -50, x = -2 + 50, y = 25 / (1/2) + 2 · 7 = 64
    Worked(
        "ftrl",
        {"l1": 2.0, "l2": 7.0, "lr_power": -1.0},
        0.5,
        1,
        [3.0],
        [3.0],
        FTRL,
        [0.75],
        {"squared_accum": [25.0], "linear_accum": [-50.0]},
    ),
    # r = (-3, 1) / (1 + 1), q = r + 1/2 (3, 4) = (0, 5/2), ‖w‖ / ‖q‖ = 2, w = (3, 4) - 1/4 · 2 q
    Worked("lamb", LAMB, 0.25, 1, [3.0, 4.0], [0.0, 1.0], LAMB_STATE, [3.0, 2.75], LAMB_AFTER),
    # ‖w‖ = 0: ratio 1, w = -1/4 r
    Worked("lamb", LAMB, 0.25, 1, [0.0, 0.0], [0.0, 1.0], LAMB_STATE, [0.375, -0.125], LAMB_AFTER),
    # i = 2 mod 2, d = 2 + (3 - 1) = 4, w = 3 - 1/2 (4/2 + 1/2 · 3); at t = 1 d is divided by 1
    Worked(
        "asgd",
        {"batch_num": 2, "weight_decay": 0.5},
        0.5,
        3,
        [3.0],
        [3.0],
        ASGD,
        [1.25],
        {"d": [4.0], "history": [[3.0], [5.0]]},
    ),
    Worked(
        "asgd",
        {"batch_num": 2, "weight_decay": 0.5},
        0.5,
        1,
        [3.0],
        [3.0],
        ASGD,
        [0.25],
        {"d": [4.0], "history": [[3.0], [5.0]]},
    ),
    # t = 2: the other gradient is replaced, d = 2 + (3 - 5) = 0
    Worked(
        "asgd",
        {"batch_num": 2, "weight_decay": 0.5},
        0.5,
        2,
        [3.0],
        [3.0],
        ASGD,
        [2.25],
        {"d": [0.0], "history": [[1.0], [3.0]]},
    ),
]
