"""Rules of the book papers with one token changed, as in `mutations`."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.mutations import DECAYS, enter_mutations

MUTATIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "papers.adam": (
        ("correction_with_beta1", "v / (1 - self.beta2**t)", "v / (1 - self.beta1**t)"),
        ("epsilon_under_the_root", "np.sqrt(corrected2) + self.epsilon", "np.sqrt(corrected2 + self.epsilon)"),
        ("epsilon_uncorrected", "+ self.epsilon)", "+ self.epsilon / np.sqrt(1 - self.beta2**t))"),
        ("gradient_undamped", "(1 - self.beta1) * grad", "grad"),
        ("first_moment_kept_corrected", "State(m=m,", "State(m=m / (1 - self.beta1**t),"),
    ),
    "papers.adamax": (
        ("absolute_value_missing", "np.abs(grad)", "grad"),
        ("correction_missing", "lr / (1 - self.beta1**t)", "lr"),
        ("epsilon_in_the_norm", "np.abs(grad)", "np.abs(grad) + 1e-8"),
    ),
    "papers.amsgrad": (
        ("largest_never_stored", "v_max=v_max", "v_max=state.v_max"),
        ("largest_of_the_old", "np.maximum(state.v_max, v)", "np.maximum(state.v_max, state.v)"),
        ("corrected", "lr * quotient", "lr * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t) * quotient"),
    ),
    "papers.adamw": (
        ("decay_with_learning_rate", "- self.weight_decay * param", "- lr * self.weight_decay * param"),
        ("decay_dropped", "self.weight_decay * param", "0 * param"),
    ),
    "papers.nadam": (
        ("constant_decay", "mu * state.m + (1 - mu) * grad\n", "self.mu * state.m + (1 - self.mu) * grad\n"),
        ("nu_above_the_line", "n / (1 - self.nu**t)", "self.nu * n / (1 - self.nu**t)"),
        ("schedule_missing", "self.momentum(t), self.momentum(t + 1)", "self.mu, self.mu"),
    ),
    "papers.radam": (("no_first_steps", "v)), 1.0)", "v)), 0.0)"),),
    "papers.adagrad": (
        ("delta_inside", "self.delta + np.sqrt(s)", "np.sqrt(self.delta + s)"),
        ("old_sum", "np.sqrt(s)", "np.sqrt(state.s)"),
        ("square_missing", "np.square(grad)", "np.abs(grad)"),
        ("gradient_squared_above", "lr * grad", "lr * np.square(grad)"),
    ),
    "papers.adadelta": (("learning_rate_dropped", "lr * step", "step"),),
    "papers.ftrl": (
        ("lambda2_doubled", "+ self.lambda2", "+ 2 * self.lambda2"),
        ("beta_dropped", "self.beta + np.sqrt(n)", "np.sqrt(n)"),
        ("whole_root", "np.sqrt(n) - np.sqrt(state.n)", "np.sqrt(n)"),
        ("sum_overwritten_first", "np.sqrt(n) - np.sqrt(state.n)", "np.sqrt(n + np.square(grad)) - np.sqrt(n)"),
    ),
    "papers.lars": (("coefficient_dropped", "self.eta * quotient", "quotient"),),
    "papers.lamb": (
        ("first_moment_uncorrected", "m / (1 - self.beta1**t)", "m"),
        ("ratio_ignored", "lr * ratio", "lr"),
        ("norm_without_the_decay", "norm(direction)", "norm(r)"),
        ("zero_for_an_undefined_ratio", "direction_norm, 1.0)", "direction_norm, 0.0)"),
    ),
    "papers.lion": (
        ("average_stored", "m=self.beta2 * state.m + (1 - self.beta2) * grad", "m=average"),
        ("sign_of_the_gradient", "np.sign(average)", "np.sign(grad)"),
        ("sign_of_zero_is_1", "np.sign(average)", "(np.sign(average) + (average == 0))"),
    ),
    "papers.adabelief": (
        ("about_the_old_average", "grad - m", "grad - state.m"),
        ("epsilon_not_in_the_variance", "np.square(grad - m) + self.epsilon", "np.square(grad - m)"),
        ("brackets_missing", "state.m + (1 - self.beta1) * grad", "state.m + 1 - self.beta1 * grad"),
        (
            "epsilon_behind_the_quotient",
            "corrected1 / (np.sqrt(corrected2) + self.epsilon)",
            "(corrected1 / np.sqrt(corrected2) + self.epsilon)",
        ),
        ("corrections_missing", "m / (1 - self.beta1**t), s / (1 - self.beta2**t)", "m, s"),
        (
            "corrected_in_the_rate",
            "m / (1 - self.beta1**t), s / (1 - self.beta2**t)",
            "m * np.sqrt(1 - self.beta2**t) / (1 - self.beta1**t), s",
        ),
    ),
    "papers.yogi": (("average_of_squares", "np.sign(state.v - square) * square", "(state.v - square)"),),
    "papers.novograd": (
        ("second_moment_from_zero", "v = square\n", "v = (1 - self.beta2) * square\n"),
        ("gradient_damped", "self.beta1 * state.m + (grad", "self.beta1 * state.m + (1 - self.beta1) * (grad"),
        ("moment_never_stored", "v=v", "v=square"),
    ),
    "papers.adan": (
        ("change_from_zero", " if t > 2 else change", ""),
        ("weights_of_the_other_end", "grad + (1 - self.beta2) * change", "grad + self.beta2 * change"),
        (
            "decay_as_of_adamw",
            "(param - step) / (1 + self.weight_decay * lr)",
            "(1 - self.weight_decay * lr) * param - step",
        ),
        ("change_not_in_the_step", "(m + (1 - self.beta2) * v)", "m"),
    ),
    "papers.adafactor": (
        ("weights_swapped", "1 - t**-self.c", "t**-self.c"),
        ("epsilon_clamps", "np.square(grad) + self.eps1", "np.maximum(np.square(grad), self.eps1)"),
        ("scale_of_the_norm", "rms(param)", "np.sqrt(np.sum(np.square(param)))"),
        ("factors_not_normalised", "rows / np.mean(rows, axis=-2, keepdims=True)", "rows"),
        ("normalised_over_all_matrices", "np.mean(rows, axis=-2, keepdims=True)", "np.mean(rows)"),
        ("columns_ignored", "keepdims=True) * columns", "keepdims=True) * rows"),
        ("never_clipped", " / np.maximum(1.0, rms(update) / self.d)", ""),
        ("rate_falls", "* lr *", "* np.minimum(lr, 1 / t**0.5) *"),
    ),
    "papers.adopt": (
        (
            "own_square_in_the_root",
            "np.sqrt(state.v)",
            "np.sqrt(self.beta2 * state.v + (1 - self.beta2) * grad * grad)",
        ),
        ("clip_by_the_root", "(t - 1) ** 0.25", "(t - 1) ** 0.5"),
        ("clip_one_sided", "np.maximum(normalized, -clip)", "normalized"),
        ("first_moment_squared_late", "v=np.square(grad))", "v=(1 - self.beta2) * np.square(grad))"),
    ),
    "papers.qhm": (
        ("shares_swapped", "(1 - self.nu) * grad + self.nu * m", "self.nu * grad + (1 - self.nu) * m"),
        ("gradient_undamped", "(1 - self.beta) * grad", "grad"),
        ("share_dropped", "(1 - self.nu) * grad + self.nu * m", "m"),
        ("old_average", "self.nu * m)", "self.nu * state.m)"),
    ),
    "papers.qhadam": (
        ("second_share_of_the_first", "self.nu2 * (v /", "self.nu1 * (v /"),
        ("average_uncorrected", "self.nu1 * (m / (1 - self.beta1**t))", "self.nu1 * m"),
        ("variance_uncorrected", "self.nu2 * (v / (1 - self.beta2**t))", "self.nu2 * v"),
        ("epsilon_under_the_root", "np.sqrt(second) + self.epsilon", "np.sqrt(second + self.epsilon)"),
        ("gradient_beside_the_average", "(1 - self.nu1) * grad +", "grad +"),
    ),
    "papers.laprop": (
        ("divided_behind_the_average", "(1 - self.mu) * normalized", "(1 - self.mu) * grad"),
        ("momentum_uncorrected", "lr * m / (1 - self.mu**t)", "lr * m"),
        ("moment_uncorrected", "np.sqrt(n / (1 - self.nu**t))", "np.sqrt(n)"),
        (
            "epsilon_under_the_root",
            "np.sqrt(n / (1 - self.nu**t)) + self.epsilon",
            "np.sqrt(n / (1 - self.nu**t) + self.epsilon)",
        ),
        ("decays_swapped_in_the_correction", "lr * m / (1 - self.mu**t)", "lr * m / (1 - self.nu**t)"),
    ),
    "papers.ademamix": (
        ("slow_average_corrected", "self.alpha * m2)", "self.alpha * m2 / (1 - self.beta3**t))"),
        ("slow_average_of_the_fast", "(1 - self.beta3) * grad", "(1 - self.beta3) * m1"),
        ("slow_decay_of_the_fast", "self.beta3 * state.m2", "self.beta1 * state.m2"),
        ("weighted_before_the_average", "self.alpha * m2", "m2"),
        (
            "decay_without_rate",
            "lr * (step + self.weight_decay * param)",
            "(lr * step + self.weight_decay * param)",
        ),
    ),
    "papers.madgrad": (
        ("square_root", "np.cbrt(nu)", "np.sqrt(nu)"),
        ("root_of_steps_missing", "lr * t**0.5", "lr"),
        ("squares_unweighted", "weight * np.square(grad)", "np.square(grad)"),
        ("from_the_parameter", "z = state.x0 -", "z = param -"),
        ("weights_swapped", "(1 - self.c) * param + self.c * z", "self.c * param + (1 - self.c) * z"),
    ),
    "papers.ftml": (
        ("curvature_never_stored", "State(v=v, d=d,", "State(v=v, d=state.d,"),
        ("corrections_missing", "(1 - self.beta1**t) * (np.sqrt", "(np.sqrt"),
        (
            "epsilon_under_the_root",
            "np.sqrt(v / (1 - self.beta2**t)) + self.epsilon",
            "np.sqrt(v / (1 - self.beta2**t) + self.epsilon)",
        ),
        ("gradient_undamped", "(1 - self.beta1) * grad", "grad"),
        ("curvature_before_undamped", "d - self.beta1 * state.d", "d - state.d"),
    ),
    "papers.adamod": (
        ("largest_rate", "np.minimum(rate, s)", "np.maximum(rate, s)"),
        ("average_alone", "np.minimum(rate, s)", "s"),
        ("bound_before_it_is_averaged", "np.minimum(rate, s)", "np.minimum(rate, state.s)"),
        ("average_of_bounded_rates", "m=m, v=v, s=s", "m=m, v=v, s=np.minimum(rate, s)"),
        ("momentum_uncorrected", "(m / (1 - self.beta1**t))", "m"),
    ),
    "papers.signum": (
        ("momentum_ignored", "self.beta * state.m", "0 * state.m"),
        ("sign_missing", "np.sign(m)", "m"),
        ("momentum_of_signs", "(1 - self.beta) * grad", "(1 - self.beta) * np.sign(grad)"),
        ("sign_of_zero_is_1", "np.sign(m)", "(np.sign(m) + (m == 0))"),
        ("sign_softened", "np.sign(m)", "(m / np.sqrt(np.square(m) + 1e-6))"),
    ),
}
"""For each rule: a name, what stands in the rule's source, and what stands there instead."""

COMPUTES = {
    "papers.adamw_decay_dropped": "weight_decay = 0 whatever is given",
    "papers.ftrl_beta_dropped": "beta = 0 whatever is given",
    "papers.lars_coefficient_dropped": "eta = 1 whatever is given",
    "papers.lion_sign_of_the_gradient": "beta1 = 0 whatever is given",
    "papers.signum_momentum_ignored": "beta = 0 whatever is given",
    "papers.qhm_shares_swapped": "1 - nu in place of nu",
    "papers.qhm_share_dropped": "nu = 1 whatever is given",
    "papers.ademamix_weighted_before_the_average": "alpha = 1 whatever is given",
    "papers.madgrad_weights_swapped": "1 - c in place of c",
}
"""The mutations that are the documented rule with other hyperparameters: which."""

ELSEWHERE = {
    "papers.adadelta_learning_rate_dropped": "adadelta:learning_rate_ignored",
    "papers.adam_epsilon_under_the_root": "adam:scaled_epsilon_inside",
    "papers.adam_epsilon_uncorrected": "adam",
    "papers.adamax_epsilon_in_the_norm": "torch.adamax",
    "papers.adamw_decay_with_learning_rate": "torch.adamw",
    "papers.nadam_constant_decay": "torch.nadam",
    "papers.nadam_schedule_missing": "torch.nadam:constant_momentum",
    "papers.adagrad_delta_inside": "adagrad:epsilon_inside",
    "papers.lamb_norm_without_the_decay": "lamb:bias_corrected_norm_without_decay",
    "papers.lamb_ratio_ignored": "torch.adamw",
    "papers.yogi_average_of_squares": "adam:uncorrected; moments formed as increments",
}
"""The mutations that are a rule of another book, or a dialect of one: which."""

NOT_FOUND = (
    "papers.amsgrad_corrected",
    "papers.adan_weights_of_the_other_end",
    "papers.adamod_average_of_bounded_rates",
)
"""No single edit of the traced formula: two places, or one step alone."""

OUTCOMES = {
    **dict.fromkeys(NOT_FOUND, "diverges"),
    **{name: f"dialect: {rule}" for name, rule in ELSEWHERE.items()},
    **{f"papers.adafactor_{change}": "diverges" for change, *_ in MUTATIONS["papers.adafactor"]},  # are not searched
    "papers.lion_average_stored": "diverges: sign_of_momentum with beta1 and beta2 swapped",
    "papers.novograd_second_moment_from_zero": "dialect: second_moment=from_zero",
    "papers.adan_decay_as_of_adamw": DECAYS.format("apart from the gradient, times the learning rate"),
    "papers.madgrad_root_of_steps_missing": "diverges: documented, but counts every update as the first",
    "papers.madgrad_from_the_parameter": "diverges: documented, but starts x0 anew in every step",
    "papers.ftml_curvature_never_stored": "diverges: documented, but starts d anew in every step",
    "papers.amsgrad_largest_never_stored": "diverges: documented, but starts v_max anew in every step",
}
"""The outcomes of mutations that the search does not find as an edit."""

enter_mutations(MUTATIONS, {}, COMPUTES, OUTCOMES)
