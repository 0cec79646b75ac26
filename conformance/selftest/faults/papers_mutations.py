"""Rules of the book papers with one token changed, as in `mutations`."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.mutations import enter_mutations

MUTATIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "papers.adam": (
        ("correction_with_beta1", "v / (1 - self.beta2**t)", "v / (1 - self.beta1**t)"),
        ("epsilon_under_the_root", "np.sqrt(corrected2) + self.epsilon", "np.sqrt(corrected2 + self.epsilon)"),
        ("epsilon_uncorrected", "+ self.epsilon)", "+ self.epsilon / np.sqrt(1 - self.beta2**t))"),
        ("gradient_undamped", "(1 - self.beta1) * grad", "grad"),
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
        ("decay_with_learning_rate", "+ self.weight_decay * param", "+ lr * self.weight_decay * param"),
        ("decay_dropped", "self.weight_decay * param", "0 * param"),
        ("decay_added", "+ self.weight_decay * param", "- self.weight_decay * param"),
    ),
    "papers.nadam": (
        ("constant_decay", "mu * state.m + (1 - mu) * grad\n", "self.mu * state.m + (1 - self.mu) * grad\n"),
        ("nu_above_the_line", "n / (1 - self.nu**t)", "self.nu * n / (1 - self.nu**t)"),
        ("schedule_missing", "self.momentum(t), self.momentum(t + 1)", "self.mu, self.mu"),
    ),
    "papers.radam": (
        ("threshold_of_torch", "length > 4", "length > 5"),
        ("no_first_steps", "v)), 1.0)", "v)), 0.0)"),
        ("rectification_missing", "rectification * np.sqrt(quotient(correction", "np.sqrt(quotient(correction"),
    ),
    "papers.adagrad": (
        ("delta_inside", "self.delta + np.sqrt(s)", "np.sqrt(self.delta + s)"),
        ("old_sum", "np.sqrt(s)", "np.sqrt(state.s)"),
        ("square_missing", "np.square(grad)", "np.abs(grad)"),
    ),
    "papers.adadelta": (
        ("epsilon_missing_above", "state.mean_square_step + self.epsilon", "state.mean_square_step"),
        ("step_not_squared", "np.square(step)", "step"),
        ("learning_rate_dropped", "lr * step", "step"),
    ),
    "papers.ftrl": (
        ("lambda2_doubled", "+ self.lambda2", "+ 2 * self.lambda2"),
        ("beta_dropped", "self.beta + np.sqrt(n)", "np.sqrt(n)"),
        ("sign_dropped", "np.sign(z) * self.lambda1", "0 * self.lambda1"),
        ("whole_root", "np.sqrt(n) - np.sqrt(state.n)", "np.sqrt(n)"),
    ),
    "papers.lars": (
        ("coefficient_dropped", "self.eta * quotient", "quotient"),
        ("decay_missing_in_the_norm", "grad_norm + self.weight_decay * param_norm", "grad_norm"),
        ("norm_squared", "norm(param), norm(grad)", "norm(param), norm(grad) ** 2"),
    ),
    "papers.lamb": (
        ("first_moment_uncorrected", "m / (1 - self.beta1**t)", "m"),
        ("ratio_ignored", "lr * ratio", "lr"),
        ("norm_without_the_decay", "norm(direction)", "norm(r)"),
        ("zero_for_an_undefined_ratio", "direction_norm, 1.0)", "direction_norm, 0.0)"),
    ),
    "papers.lion": (
        ("decay_of_the_momentum", "self.beta1 * state.m + (1 - self.beta1)", "self.beta2 * state.m + (1 - self.beta2)"),
        ("average_stored", "m=self.beta2 * state.m + (1 - self.beta2) * grad", "m=average"),
        ("decay_without_learning_rate", "lr * (np.sign(average) + ", "(lr * np.sign(average) + "),
        ("sign_of_the_gradient", "np.sign(average)", "np.sign(grad)"),
        ("sign_of_zero_is_1", "np.sign(average)", "np.sign(average) + (average == 0)"),
    ),
    "papers.adabelief": (
        ("about_the_old_average", "grad - m", "grad - state.m"),
        ("epsilon_not_in_the_variance", "np.square(grad - m) + self.epsilon", "np.square(grad - m)"),
        ("second_moment", "np.square(grad - m)", "np.square(grad)"),
    ),
    "papers.yogi": (
        ("average_of_squares", "np.sign(state.v - square) * square", "(state.v - square)"),
        ("first_moment_corrected", "lr * m", "lr / (1 - self.beta1**t) * m"),
        ("sign_of_the_moment", "np.sign(state.v - square)", "np.sign(-square)"),
    ),
    "papers.novograd": (
        ("second_moment_from_zero", "v = square\n", "v = (1 - self.beta2) * square\n"),
        ("epsilon_in_the_first_step", "quotient(grad, np.sqrt(v))", "grad / (np.sqrt(v) + self.epsilon)"),
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
    "papers.signum": (
        ("momentum_ignored", "self.beta * state.m", "0 * state.m"),
        ("sign_missing", "np.sign(m)", "m"),
        ("momentum_of_signs", "(1 - self.beta) * grad", "(1 - self.beta) * np.sign(grad)"),
        ("sign_of_zero_is_1", "np.sign(m)", "np.sign(m) + (m == 0)"),
    ),
}
"""For each rule: a name, what stands in the rule's source, and what stands there instead."""

COMPUTES: dict[str, str] = {}
"""The mutations that are the documented rule with other hyperparameters: which."""

OUTCOMES: dict[str, str] = {}
"""The outcomes of mutations that are no edit that the search finds."""

enter_mutations(MUTATIONS, {}, COMPUTES, OUTCOMES)
