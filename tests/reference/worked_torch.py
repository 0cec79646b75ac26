"""Steps of the rules of the book torch, worked by hand as in `worked`; a number is a slot of the whole parameter."""

from tests.reference.worked import Worked

ADAM = {"beta1": 0.5, "beta2": 0.5, "weight_decay": 0.5}
ADAM_STATE = {"exp_avg": [2.0], "exp_avg_sq": [12.0], "max_exp_avg_sq": [32.0]}
AFTER_ADAM = {"exp_avg": [2.0], "exp_avg_sq": [8.0], "max_exp_avg_sq": [32.0]}
AVERAGES = {"exp_avg": [2.0], "exp_avg_sq": [4.0]}
RMSPROP = {"alpha": 0.5, "eps": 2.0}
BUFFERS = {"grad_avg": [1.0], "momentum_buffer": [1.0]}
ADAFACTOR = {"beta2_decay": -0.5, "eps1": 2.0**-10, "eps2": 0.125, "d": 1.0, "weight_decay": 0.25}
VECTOR = {"row_var": 0.0, "col_var": 0.0, "variance": [16.0, 16.0]}
SQUARE = [[4.0, 4.0], [4.0, 4.0]]
GRADS = [[2.0, 4.0], [4.0, 8.0]]
FACTORS = {"row_var": [[10.0], [40.0]], "col_var": [[10.0, 40.0]], "variance": 0.0}
MUON = {"weight_decay": 0.25, "momentum": 0.5, "a": 2.0, "b": -4.0, "c": 8.0, "eps": 4.0, "ns_steps": 1}
ONES = [[1.0, 1.0], [1.0, 1.0]]
BUFFER = {"momentum_buffer": [[2.0, 2.0], [2.0, 2.0]]}

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
    Worked(
        "torch.adam",
        {**ADAM, "eps": 4.0},
        1.0,
        1,
        [2.0],
        [1.0],
        ADAM_STATE,
        [1.5],
        AFTER_ADAM,
    ),
    # the largest v so far is 32: w = 2 - 4 / (√64 + 8)
    Worked(
        "torch.adam",
        {**ADAM, "eps": 8.0, "amsgrad": True},
        1.0,
        1,
        [2.0],
        [1.0],
        ADAM_STATE,
        [1.75],
        AFTER_ADAM,
    ),
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
    Worked(
        "torch.radam",
        {"beta1": 0.5, "beta2": 0.5},
        0.25,
        1,
        [3.0],
        [2.0],
        AVERAGES,
        [2.0],
        AVERAGES,
    ),
    # so late that every correction is 1 and ρ = ρ∞ = 7: w = 3 - 2 · 2 / (√4 + 2)
    Worked(
        "torch.radam",
        {"beta1": 0.5, "beta2": 0.75, "eps": 2.0},
        2.0,
        1000,
        [3.0],
        [2.0],
        AVERAGES,
        [2.0],
        AVERAGES,
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
        "torch.adagrad",
        {"lr_decay": 0.5, "eps": 2.0},
        2.0,
        3,
        [2.0],
        [3.0],
        {"sum": [7.0]},
        [1.5],
        {"sum": [16.0]},
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
    # β = 1 - 16^-½ = ¾, α = max(1/8, 4) min(1, 1/4) = 1, w = 4 - ¼ · 4 = 3, V = ¾ · 16 + ¼ · 16 = 16, U = 4/4 = 1
    Worked("torch.adafactor", ADAFACTOR, 1.0, 16, [4.0, 4.0], [4.0, -4.0], VECTOR, [2.0, 4.0], VECTOR),
    # α = 8 · 1/4; V = ¼ · 16 = 4, so U = ±2, clipped by RMS(U) = 2, and negated to maximize
    Worked(
        "torch.adafactor",
        {**ADAFACTOR, "eps2": 8.0, "maximize": True},
        1.0,
        16,
        [4.0, 4.0],
        [4.0, -4.0],
        {**VECTOR, "variance": [0.0, 0.0]},
        [5.0, 1.0],
        {**VECTOR, "variance": [4.0, 4.0]},
    ),
    # R = ¾ (10, 40) + ¼ (4 + 16, 16 + 64)/2 = (10, 40), and C; V = R C / 25 = (4, 16; 16, 64), so every U is 1
    Worked("torch.adafactor", ADAFACTOR, 1.0, 16, SQUARE, GRADS, FACTORS, [[2.0, 2.0], [2.0, 2.0]], FACTORS),
    # the same from R = C = 0: V = (2½, 10) (2½, 10) / 6¼ = (1, 4; 4, 16), so every U is 2, which d = 2 leaves
    Worked(
        "torch.adafactor",
        {**ADAFACTOR, "d": 2.0},
        1.0,
        16,
        SQUARE,
        GRADS,
        {"row_var": [[0.0], [0.0]], "col_var": [[0.0, 0.0]], "variance": 0.0},
        [[1.0, 1.0], [1.0, 1.0]],
        {"row_var": [[2.5], [10.0]], "col_var": [[2.5, 10.0]], "variance": 0.0},
    ),
    # ε₁ = 4 is more than √V = 2: U = 4/4
    Worked(
        "torch.adafactor",
        {**ADAFACTOR, "eps1": 4.0},
        1.0,
        16,
        [4.0],
        [4.0],
        {**VECTOR, "variance": [0.0]},
        [2.0],
        {**VECTOR, "variance": [4.0]},
    ),
    # B = ½ · 2 + 1 = 2, B̃ = 1 + ½ · 2 = 2, X = B̃/(4 + 4) = ¼, A = X Xᵀ = ⅛, -4 A + 8 A² = -¼, X = 2 · ¼ - 2 · ¼ · ¼ = ⅜
    Worked("torch.muon", MUON, 1.0, 1, SQUARE, ONES, BUFFER, [[2.625, 2.625], [2.625, 2.625]], BUFFER),
    # without Nesterov B̃ = B = 2 - 1; X = 1/(2 + 2) = ¼, and so on
    Worked(
        "torch.muon",
        {**MUON, "nesterov": False, "eps": 2.0},
        1.0,
        1,
        SQUARE,
        [[0.0, 0.0], [0.0, 0.0]],
        BUFFER,
        [[2.625, 2.625], [2.625, 2.625]],
        {"momentum_buffer": ONES},
    ),
    # four rows of one: A = ¼, -4 A + 8 A² = -½, X = 2 · ¼ - ½ · ¼ = ⅜, times √(4/1)
    Worked(
        "torch.muon",
        MUON,
        1.0,
        1,
        [[4.0]] * 4,
        [[1.0]] * 4,
        {"momentum_buffer": [[2.0]] * 4},
        [[2.25]] * 4,
        {"momentum_buffer": [[2.0]] * 4},
    ),
    # no iteration: X = 1/(5 + 3), times 0.2 √25 = 1
    Worked(
        "torch.muon",
        {**MUON, "momentum": 0.0, "eps": 3.0, "ns_steps": 0, "match_rms_adamw": True},
        1.0,
        1,
        [[4.0] * 25],
        [[1.0] * 25],
        {"momentum_buffer": [[2.0] * 25]},
        [[2.875] * 25],
        {"momentum_buffer": [[1.0] * 25]},
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
