"""Steps of the rules of the book papers, worked by hand as in `worked`; a number is a slot of the whole parameter."""

from tests.reference.worked import Worked

MOMENTS = {"m": [2.0], "v": [12.0]}
AFTER = {"m": [2.0], "v": [8.0]}
RESTING = {"m": [0.0], "v": [0.0], "v_max": [0.0]}
HALVES = {"beta1": 0.5, "beta2": 0.5}

STEPS = [
    # m = 2, v = 6 + 2 = 8, both over 1/2: θ = 2 - 4 / (√16 + 4)
    Worked("papers.adam", {**HALVES, "epsilon": 4.0}, 1.0, 1, [2.0], [2.0], MOMENTS, [1.5], AFTER),
    # m = 2, u = max(1/2 · 8, 2) = 4, θ = 3 - 1 / (1/2) · 2/4; where there was no gradient nothing moves
    Worked("papers.adamax", HALVES, 1.0, 1, [3.0], [2.0], {"m": [2.0], "u": [8.0]}, [2.0], {"m": [2.0], "u": [4.0]}),
    Worked("papers.adamax", HALVES, 1.0, 1, [5.0], [0.0], {"m": [0.0], "u": [0.0]}, [5.0], {"m": [0.0], "u": [0.0]}),
    # m = 2, v = 8, the largest is 16: x = 3 - 2 · 2 / √16
    Worked(
        "papers.amsgrad",
        HALVES,
        2.0,
        1,
        [3.0],
        [2.0],
        {"m": [2.0], "v": [12.0], "v_max": [16.0]},
        [2.0],
        {"m": [2.0], "v": [8.0], "v_max": [16.0]},
    ),
    # where there was no gradient nothing moves
    Worked("papers.amsgrad", HALVES, 2.0, 1, [5.0], [0.0], RESTING, [5.0], RESTING),
    # as Adam, θ = 2 - (1/2 · 4 / (√16 + 4) + 1/2 · 2)
    Worked(
        "papers.adamw", {**HALVES, "epsilon": 4.0, "weight_decay": 0.5}, 0.5, 1, [2.0], [2.0], MOMENTS, [0.75], AFTER
    ),
    # μ = 1/4 in every step, m = 1/4 · 51 + 3/4 · 3 = 15, n = 8, 1/4 · 15 / (15/16) + 3/4 · 3 / (3/4) = 7,
    # θ = 2 - 1/2 · 7 / (√16 + 3)
    Worked(
        "papers.nadam",
        {"mu": 0.5, "nu": 0.5, "momentum_decay": 0.0, "epsilon": 3.0},
        0.5,
        1,
        [2.0],
        [3.0],
        {"m": [51.0], "n": [7.0], "mu_product": 1.0},
        [1.5],
        {"m": [15.0], "n": [8.0], "mu_product": 0.25},
    ),
    # ρ∞ = 3, ρ = 1: θ = 3 - 1/4 · 2 / (1/2)
    Worked("papers.radam", HALVES, 0.25, 1, [3.0], [2.0], {"m": [2.0], "v": [4.0]}, [2.0], {"m": [2.0], "v": [4.0]}),
    # so late that every correction is 1 and ρ = ρ∞ = 7: θ = 3 - 2 · 2 / √4
    Worked(
        "papers.radam",
        {"beta1": 0.5, "beta2": 0.75},
        2.0,
        1000,
        [3.0, 5.0],
        [2.0, 0.0],
        {"m": [2.0, 0.0], "v": [4.0, 0.0]},
        [1.0, 5.0],
        {"m": [2.0, 0.0], "v": [4.0, 0.0]},
    ),
    # s = 16, x = 2 - 2 · 3 / (2 + 4)
    Worked("papers.adagrad", {"delta": 2.0}, 2.0, 1, [2.0], [3.0], {"s": [7.0]}, [1.0], {"s": [16.0]}),
    # v = 13 + 2 = 15, Δ = √(3 + 1) / √(15 + 1) · 2 = 1, u = 3/2 + 1/2, x = 3 - 1/2
    Worked(
        "papers.adadelta",
        {"rho": 0.5, "epsilon": 1.0},
        0.5,
        1,
        [3.0],
        [2.0],
        {"mean_square_grad": [26.0], "mean_square_step": [3.0]},
        [2.5],
        {"mean_square_grad": [15.0], "mean_square_step": [2.0]},
    ),
    # n = 25, σ = (5 - 3) / (1/2) = 4, z = 10 + 4 - 4 and 1 + 4 - 4, w = -(10 - 2) / ((1 + 5) / (1/2) + 4) and 0
    Worked(
        "papers.ftrl",
        {"beta": 1.0, "lambda1": 2.0, "lambda2": 4.0},
        0.5,
        1,
        [1.0, 1.0],
        [4.0, 4.0],
        {"z": [10.0, 1.0], "n": [9.0, 9.0]},
        [-0.5, 0.0],
        {"z": [10.0, 1.0], "n": [25.0, 25.0]},
    ),
    # ‖w‖ = 10, ‖g‖ = 5, λ = 1/4 · 10 / (5 + 1/2 · 10) = 1/4, v = 1/2 (2, -4) + 1/2 · 1/4 ((3, 4) + 1/2 (6, 8))
    Worked(
        "papers.lars",
        {"momentum": 0.5, "weight_decay": 0.5, "eta": 0.25},
        0.5,
        1,
        [6.0, 8.0],
        [3.0, 4.0],
        {"v": [2.0, -4.0]},
        [4.25, 9.0],
        {"v": [1.75, -1.0]},
    ),
    # a tensor of zeros has a rate of 0: only the buffer moves it
    Worked(
        "papers.lars",
        {"momentum": 0.5, "weight_decay": 0.5, "eta": 0.25},
        0.5,
        1,
        [0.0, 0.0],
        [3.0, 4.0],
        {"v": [2.0, -4.0]},
        [-1.0, 2.0],
        {"v": [1.0, -2.0]},
    ),
    # m and v over 1/2: r = (6, 8) / (√1 + 1) = (3, 4), r + 1/4 x = (6, 8), x = (12, 16) - 1/2 · 20/10 (6, 8)
    Worked(
        "papers.lamb",
        {**HALVES, "epsilon": 1.0, "weight_decay": 0.25},
        0.5,
        1,
        [12.0, 16.0],
        [0.0, 0.0],
        {"m": [6.0, 8.0], "v": [1.0, 1.0]},
        [6.0, 8.0],
        {"m": [3.0, 4.0], "v": [0.5, 0.5]},
    ),
    # c = -1 and 0: θ = 4 - 1/2 (-1 + 1/2 · 4) and 4 - 1/2 (0 + 1/2 · 4); m = 1/4 · 2 - 3/4 · 4 and 1/4 · 2 - 3/4 · 2
    Worked(
        "papers.lion",
        {"beta1": 0.5, "beta2": 0.25, "weight_decay": 0.5},
        0.5,
        1,
        [4.0, 4.0],
        [-4.0, -2.0],
        {"m": [2.0, 2.0]},
        [3.5, 3.0],
        {"m": [-2.5, -1.0]},
    ),
    # m = 4, s = 2 + 1/2 (6 - 4)² + 4 = 8, both over 1/2: θ = 3 - 8 / (√16 + 4)
    Worked(
        "papers.adabelief",
        {**HALVES, "epsilon": 4.0},
        1.0,
        1,
        [3.0],
        [6.0],
        {"m": [2.0], "s": [4.0]},
        [2.0],
        {"m": [4.0], "s": [8.0]},
    ),
    # m = 2; v = 6 - 1/2 · 4, 2 + 1/2 · 4, and 4 where it is the square: x = 3 - 2 · 2 / (√4 + 2)
    Worked(
        "papers.yogi",
        {**HALVES, "epsilon": 2.0},
        2.0,
        1,
        [3.0, 3.0, 3.0],
        [2.0, 2.0, 2.0],
        {"m": [2.0, 2.0, 2.0], "v": [6.0, 2.0, 4.0]},
        [2.0, 2.0, 2.0],
        {"m": [2.0, 2.0, 2.0], "v": [4.0, 4.0, 4.0]},
    ),
    # ‖g‖² = 16, m = 2/4 + 1/2 w, w = w - 1/2 m
    Worked(
        "papers.novograd",
        {**HALVES, "epsilon": 4.0, "weight_decay": 0.5},
        0.5,
        1,
        [1.0, 1.0, 1.0, 3.0],
        [2.0, 2.0, 2.0, 2.0],
        {"m": [0.0, 0.0, 0.0, 0.0], "v": 0.0},
        [0.5, 0.5, 0.5, 2.0],
        {"m": [1.0, 1.0, 1.0, 2.0], "v": 16.0},
    ),
    # v = 8 + 8, m = 1/2 m + 2 / (4 + 4) + 1/2 w
    Worked(
        "papers.novograd",
        {**HALVES, "epsilon": 4.0, "weight_decay": 0.5},
        0.5,
        2,
        [1.0, 1.0, 1.0, 3.0],
        [2.0, 2.0, 2.0, 2.0],
        {"m": [1.0, 1.0, 1.0, 2.0], "v": 16.0},
        [0.375, 0.375, 0.375, 1.625],
        {"m": [1.25, 1.25, 1.25, 2.75], "v": 16.0},
    ),
    # the first step: m = 4, n = 16, θ = (3 - 2 / (4 + 4) · 4) / (1 + 1/2 · 2)
    Worked(
        "papers.adan",
        {**HALVES, "beta3": 0.5, "epsilon": 4.0, "weight_decay": 0.5},
        2.0,
        1,
        [3.0],
        [4.0],
        {"m": [0.0], "v": [0.0], "n": [0.0], "previous": [0.0]},
        [1.0],
        {"m": [4.0], "v": [0.0], "n": [16.0], "previous": [4.0]},
    ),
    # the second: m = 4, v = 4 - 2, n = 1/2 · 7 + 1/2 (4 + 1/2 · 2)² = 16, θ = (3.25 - 2/8 (4 + 1/2 · 2)) / 2
    Worked(
        "papers.adan",
        {**HALVES, "beta3": 0.5, "epsilon": 4.0, "weight_decay": 0.5},
        2.0,
        2,
        [3.25],
        [4.0],
        {"m": [4.0], "v": [0.0], "n": [7.0], "previous": [2.0]},
        [1.0],
        {"m": [4.0], "v": [2.0], "n": [16.0], "previous": [4.0]},
    ),
    # a later one: v = 1/2 · 6 + 1/2 · 2 = 4, θ = (3.5 - 2/8 (4 + 1/2 · 4)) / 2
    Worked(
        "papers.adan",
        {**HALVES, "beta3": 0.5, "epsilon": 4.0, "weight_decay": 0.5},
        2.0,
        3,
        [3.5],
        [4.0],
        {"m": [4.0], "v": [6.0], "n": [7.0], "previous": [2.0]},
        [1.0],
        {"m": [4.0], "v": [4.0], "n": [16.0], "previous": [4.0]},
    ),
    # m = -1 and 0: x = 3 + 1/2 and 3
    Worked(
        "papers.signum",
        {"beta": 0.5},
        0.5,
        1,
        [3.0, 3.0],
        [-4.0, -2.0],
        {"m": [2.0, 2.0]},
        [3.5, 3.0],
        {"m": [-1.0, 0.0]},
    ),
]
