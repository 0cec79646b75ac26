"""Steps of the rules of the book torch, worked by hand as in `worked`; a number is a slot of the whole parameter."""

from tests.reference.worked import Worked

ADAM = {"beta1": 0.5, "beta2": 0.5, "weight_decay": 0.5}
ADAM_STATE = {"exp_avg": [2.0], "exp_avg_sq": [12.0], "max_exp_avg_sq": [32.0]}
AFTER_ADAM = {"exp_avg": [2.0], "exp_avg_sq": [8.0], "max_exp_avg_sq": [32.0]}
AVERAGES = {"exp_avg": [2.0], "exp_avg_sq": [4.0]}
RMSPROP = {"alpha": 0.5, "eps": 2.0}
BUFFERS = {"grad_avg": [1.0], "momentum_buffer": [1.0]}

STEPS = [
    # g = 1 + 1/4 · 4 = 2, b = 1/2 · 2 + 1/2 · 2 = 2, w = 4 - 1/2 · 2
    Worked(
        "torch.sgd",
        {"momentum": 0.5, "dampening": 0.5, "weight_decay": 0.25},
        0.5,
        2,
        [4.0],
        [1.0],
        {"momentum_buffer": [2.0]},
        [3.0],
        {"momentum_buffer": [2.0]},
    ),
    # with Nesterov w = 4 - 1/2 (1 + 1/2 · 2)
    Worked(
        "torch.sgd",
        {"momentum": 0.5, "nesterov": True},
        0.5,
        2,
        [4.0],
        [1.0],
        {"momentum_buffer": [2.0]},
        [3.0],
        {"momentum_buffer": [2.0]},
    ),
    # the first gradient is not dampened; g is negated to maximize: b = -1, w = 4 + 1/2
    Worked(
        "torch.sgd",
        {"momentum": 0.5, "dampening": 0.5, "maximize": True},
        0.5,
        1,
        [4.0],
        [1.0],
        {"momentum_buffer": [0.0]},
        [4.5],
        {"momentum_buffer": [-1.0]},
    ),
    # without momentum nothing is dampened: w = 4 - 1/2 · 1
    Worked(
        "torch.sgd",
        {"momentum": 0.0, "dampening": 0.5},
        0.5,
        2,
        [4.0],
        [1.0],
        {"momentum_buffer": [2.0]},
        [3.5],
        {"momentum_buffer": [0.5]},
    ),
    # g = 1 + 1/2 · 2 = 2, m = 2, v = 6 + 2 = 8, w = 2 - (2 / (1/2)) / (√(8 / (1/2)) + 4)
    Worked("torch.adam", {**ADAM, "eps": 4.0}, 1.0, 1, [2.0], [1.0], ADAM_STATE, [1.5], AFTER_ADAM),
    # the largest v so far is 32: w = 2 - 4 / (√64 + 8)
    Worked("torch.adam", {**ADAM, "eps": 8.0, "amsgrad": True}, 1.0, 1, [2.0], [1.0], ADAM_STATE, [1.75], AFTER_ADAM),
    # decoupled: w = 2 - 1/2 · 2 = 1, and then 1 - 4 / (4 + 4)
    Worked(
        "torch.adam",
        {**ADAM, "eps": 4.0, "decoupled_weight_decay": True},
        1.0,
        1,
        [2.0],
        [2.0],
        ADAM_STATE,
        [0.5],
        AFTER_ADAM,
    ),
    Worked("torch.adamw", {**ADAM, "eps": 4.0}, 1.0, 1, [2.0], [2.0], ADAM_STATE, [0.5], AFTER_ADAM),
    # μ = 1/4 in every step, m = 15, v = 8, 1/4 · 15 / (15/16) + 3/4 · 3 / (3/4) = 7, w = 2 - 1/2 · 7 / (√16 + 3)
    Worked(
        "torch.nadam",
        {"beta1": 0.5, "beta2": 0.5, "momentum_decay": 0.0, "eps": 3.0},
        0.5,
        1,
        [2.0],
        [3.0],
        {"exp_avg": [27.0], "exp_avg_sq": [7.0], "mu_product": 1.0},
        [1.5],
        {"exp_avg": [15.0], "exp_avg_sq": [8.0], "mu_product": 0.25},
    ),
    # ρ∞ = 3, ρ = 1: w = 3 - 1/4 · 2 / (1/2)
    Worked("torch.radam", {"beta1": 0.5, "beta2": 0.5}, 0.25, 1, [3.0], [2.0], AVERAGES, [2.0], AVERAGES),
    # so late that every correction is 1 and ρ = ρ∞ = 7: w = 3 - 2 · 2 / (√4 + 2)
    Worked(
        "torch.radam", {"beta1": 0.5, "beta2": 0.75, "eps": 2.0}, 2.0, 1000, [3.0], [2.0], AVERAGES, [2.0], AVERAGES
    ),
    # m = 2, u = max(1/2 · 4, 2 + 2) = 4, w = 3 - 2 / (1/2 · 4)
    Worked(
        "torch.adamax",
        {"beta1": 0.5, "beta2": 0.5, "eps": 2.0},
        1.0,
        1,
        [3.0],
        [2.0],
        {"exp_avg": [2.0], "exp_inf": [4.0]},
        [2.0],
        {"exp_avg": [2.0], "exp_inf": [4.0]},
    ),
    # v = 13 + 2 = 15, Δ = √(3 + 1) / √(15 + 1) · 2 = 1, u = 3/2 + 1/2, w = 3 - 1/2
    Worked(
        "torch.adadelta",
        {"rho": 0.5, "eps": 1.0},
        0.5,
        1,
        [3.0],
        [2.0],
        {"square_avg": [26.0], "acc_delta": [3.0]},
        [2.5],
        {"square_avg": [15.0], "acc_delta": [2.0]},
    ),
    # the rate of step 3 is 2 / (1 + 2 · 1/2) = 1, s = 16, w = 2 - 3 / (4 + 2)
    Worked(
        "torch.adagrad", {"lr_decay": 0.5, "eps": 2.0}, 2.0, 3, [2.0], [3.0], {"sum": [7.0]}, [1.5], {"sum": [16.0]}
    ),
    # v = 16, b = 1/2 + 3 / (4 + 2) = 1, w = 3 - 2 · 1; without momentum w = 3 - 2 · 3 / 6
    Worked(
        "torch.rmsprop",
        {**RMSPROP, "momentum": 0.5},
        2.0,
        1,
        [3.0],
        [3.0],
        {**BUFFERS, "square_avg": [23.0]},
        [1.0],
        {**BUFFERS, "square_avg": [16.0]},
    ),
    Worked(
        "torch.rmsprop",
        RMSPROP,
        2.0,
        1,
        [3.0],
        [3.0],
        {**BUFFERS, "square_avg": [23.0]},
        [2.0],
        {"grad_avg": [1.0], "momentum_buffer": [0.5], "square_avg": [16.0]},
    ),
    # centered: a = 2, v = 20, w = 3 - 2 (1/2 + 3 / (√(20 - 4) + 2))
    Worked(
        "torch.rmsprop",
        {**RMSPROP, "momentum": 0.5, "centered": True},
        2.0,
        1,
        [3.0],
        [3.0],
        {**BUFFERS, "square_avg": [31.0]},
        [1.0],
        {"grad_avg": [2.0], "momentum_buffer": [1.0], "square_avg": [20.0]},
    ),
    # the sign stays, changes, and comes: η doubles, halves, and stays
    Worked(
        "torch.rprop",
        {"etaminus": 0.5, "etaplus": 2.0, "step_size_min": 0.25, "step_size_max": 2.0},
        8.0,
        2,
        [1.0, 1.0, 1.0],
        [2.0, -2.0, 3.0],
        {"prev": [1.0, 1.0, 0.0], "step_size": [0.5, 0.5, 0.5]},
        [0.0, 1.0, 0.5],
        {"prev": [2.0, 0.0, 3.0], "step_size": [1.0, 0.25, 0.5]},
    ),
    # w = (1 - 1/2) 4 - 1, ax = 3 + 1/2 (1 - 3), η = 2 / (1 + 1/2 · 2 · 3), μ = 1 / (3 - 1)
    Worked(
        "torch.asgd",
        {"lambd": 0.5, "alpha": 1.0, "t0": 1.0},
        2.0,
        3,
        [4.0],
        [1.0],
        {"eta": 1.0, "mu": 0.5, "ax": [3.0]},
        [1.0],
        {"eta": 0.5, "mu": 0.5, "ax": [2.0]},
    ),
    # m = ½ · 2 + ½ · 2 = 2, v = 6 + 2 = 8, w = 2 - (2 / ½) / (√(8 / ½) + 4); where g = 0 nothing moves
    Worked(
        "torch.sparse_adam",
        {"beta1": 0.5, "beta2": 0.5, "eps": 4.0},
        1.0,
        1,
        [2.0, 2.0],
        [2.0, 0.0],
        {"exp_avg": [2.0, 2.0], "exp_avg_sq": [12.0, 12.0]},
        [1.5, 2.0],
        {"exp_avg": [2.0, 2.0], "exp_avg_sq": [8.0, 12.0]},
    ),
]
