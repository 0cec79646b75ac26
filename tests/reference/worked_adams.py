"""Steps of Adam as published, and of its kind, worked by hand as in `worked`; a number is a slot of the parameter."""

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
    # the first gradient is only squared: v = 9
    Worked(
        "papers.adopt",
        {**HALVES, "epsilon": 4.0},
        0.5,
        1,
        [3.0],
        [-3.0],
        {"m": [0.0], "v": [0.0]},
        [3.0],
        {"m": [0.0], "v": [9.0]},
    ),
    # the clip is ⁴√16 = 2: 24 / √16 = 6 becomes 2, 2 / max(√4, 4) = 1/2 stays; m = 1/2 · 4 + 1/2 · 2 and 1/2 · 1/2
    Worked(
        "papers.adopt",
        {**HALVES, "epsilon": 4.0},
        0.5,
        17,
        [3.0, 3.0],
        [24.0, 2.0],
        {"m": [4.0, 0.0], "v": [16.0, 4.0]},
        [1.5, 2.875],
        {"m": [3.0, 0.25], "v": [296.0, 4.0]},
    ),
    # m = 2 over 1/2; below is the gradient alone: θ = 2 - 2 (3/4 · 2 + 1/4 · 4) / (√4 + 3)
    Worked(
        "papers.qhadam",
        {**HALVES, "nu1": 0.25, "nu2": 0.0, "epsilon": 3.0},
        2.0,
        1,
        [2.0],
        [2.0],
        MOMENTS,
        [1.0],
        AFTER,
    ),
    # with the moment alone below: θ = 2 - 2 · 4 / (√16 + 4)
    Worked(
        "papers.qhadam",
        {**HALVES, "nu1": 1.0, "nu2": 1.0, "epsilon": 4.0},
        2.0,
        1,
        [2.0],
        [2.0],
        MOMENTS,
        [1.0],
        AFTER,
    ),
    # n = 8, m = 1/2 · 6 + 1/2 · 2 / (√16 + 4) = 3.125, θ = 9 - 3.125 / (1/2)
    Worked(
        "papers.laprop",
        {"mu": 0.5, "nu": 0.5, "epsilon": 4.0},
        1.0,
        1,
        [9.0],
        [2.0],
        {"n": [12.0], "m": [6.0]},
        [2.75],
        {"n": [8.0], "m": [3.125]},
    ),
    # m₁ = 2, m₂ = 3/4 · 8 + 1/4 · 2 = 6.5, ν = 8: θ = 2 - 1/2 ((4 + 2 · 6.5) / (√16 + 4) + 1/2 · 2)
    Worked(
        "papers.ademamix",
        {**HALVES, "beta3": 0.75, "alpha": 2.0, "epsilon": 4.0, "weight_decay": 0.5},
        0.5,
        1,
        [2.0],
        [2.0],
        {"m1": [2.0], "m2": [8.0], "nu": [12.0]},
        [0.4375],
        {"m1": [2.0], "m2": [6.5], "nu": [8.0]},
    ),
    # η = 4 / (√16 + 4) = 1/2: the average 3/4 · 1 + 1/4 · 1/2 is more, 3/4 · 0 + 1/4 · 1/2 is less; θ = 3 - min · 4
    Worked(
        "papers.adamod",
        {**HALVES, "beta3": 0.75, "epsilon": 4.0},
        4.0,
        1,
        [3.0, 3.0],
        [2.0, 2.0],
        {"m": [2.0, 2.0], "v": [12.0, 12.0], "s": [1.0, 0.0]},
        [1.0, 2.5],
        {"m": [2.0, 2.0], "v": [8.0, 8.0], "s": [0.875, 0.125]},
    ),
]
