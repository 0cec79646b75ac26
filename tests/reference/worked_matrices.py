"""Steps of Adafactor and Muon, worked by hand as in `worked`; a number is a slot that is not used."""

from tests.reference.worked import Worked

ADAFACTOR = {"beta2_decay": -0.5, "eps1": 2.0**-10, "eps2": 0.125, "d": 1.0, "weight_decay": 0.25}
VECTOR = {"row_var": 0.0, "col_var": 0.0, "variance": [16.0, 16.0]}
SQUARE = [[4.0, 4.0], [4.0, 4.0]]
GRADS = [[2.0, 4.0], [4.0, 8.0]]
FACTORS = {"row_var": [[10.0], [40.0]], "col_var": [[10.0, 40.0]], "variance": 0.0}
MUON = {"weight_decay": 0.25, "momentum": 0.5, "a": 2.0, "b": -4.0, "c": 8.0, "eps": 4.0, "ns_steps": 1}
ONES = [[1.0, 1.0], [1.0, 1.0]]
BUFFER = {"momentum_buffer": [[2.0, 2.0], [2.0, 2.0]]}

PUBLISHED = {"c": 0.5, "eps1": 12.0, "eps2": 0.125, "d": 1.0}
EVERYWHERE = {"rows": 0.0, "columns": 0.0, "v": [16.0, 16.0]}
BY_ROWS = {"rows": [[10.0], [40.0]], "columns": [[10.0, 40.0]], "v": 0.0}

STEPS = [
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
    # β = 1 - 16^-½ = ¾, α = max(1/8, 4) ½ = 2, V = ¾ · 16 + ¼ (4 + 12) = 16, U = 2/4
    Worked("papers.adafactor", PUBLISHED, 0.5, 16, [4.0, 4.0], [2.0, -2.0], EVERYWHERE, [3.0, 5.0], EVERYWHERE),
    # α = 8 · ½; V = ¼ (36 + 28) = 16, so U = ±1½, which RMS(U) makes ±1
    Worked(
        "papers.adafactor",
        {**PUBLISHED, "eps1": 28.0, "eps2": 8.0},
        0.5,
        16,
        [4.0, 4.0],
        [6.0, -6.0],
        {**EVERYWHERE, "v": [0.0, 0.0]},
        [0.0, 8.0],
        EVERYWHERE,
    ),
    # R = ¾ (8, 48) + ¼ (4 + 12) = (10, 40), and C; V = R C / 25 = (4, 16; 16, 64), U = (1, ½; ½, ¼)
    Worked(
        "papers.adafactor",
        PUBLISHED,
        0.5,
        16,
        SQUARE,
        [[2.0, 2.0], [2.0, 2.0]],
        {"rows": [[8.0], [48.0]], "columns": [[8.0, 48.0]], "v": 0.0},
        [[2.0, 3.0], [3.0, 3.5]],
        BY_ROWS,
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
]
