"""Rules of the book torch with one token changed, as in `mutations`."""

from __future__ import annotations

from optimetry.conformance.selftest.faults.mutations import DECAYS, STILL, enter_mutations

MUTATIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "torch.sgd": (
        ("decay_subtracted", "param, self.weight_decay)", "-param, self.weight_decay)"),
        ("dampening_ignored", "(1 - self.dampening) * grad", "grad"),
        ("dampening_of_the_buffer", "(1 - self.dampening) * grad", "(grad - self.dampening * state.momentum_buffer)"),
        (
            "dampens_without_momentum",
            "np.where(self.momentum != 0, param - lr * direction, plain)",
            "param - lr * direction",
        ),
        ("nesterov_of_the_old_buffer", "self.momentum * buffer", "self.momentum * state.momentum_buffer"),
        ("learning_rate_squared", "param - lr * grad", "param - lr * lr * grad"),
    ),
    "torch.adam": (
        ("maximize_ignored", "directed(grad, self.maximize)", "grad"),
        ("decay_not_decoupled", "if self.decoupled_weight_decay", "if False"),
        ("decoupled_without_learning_rate", "param - lr * self.weight_decay", "param - self.weight_decay"),
        ("amsgrad_ignored", "largest if self.amsgrad", "largest if False"),
        ("amsgrad_never_stored", "max_exp_avg_sq=largest", "max_exp_avg_sq=state.max_exp_avg_sq"),
        ("variance_for_the_square", "np.square(grad)", "np.square(grad - exp_avg)"),
        ("correction_with_beta1", "(1 - self.beta2**t)", "(1 - self.beta1**t)"),
        ("correction_of_the_step_before", "(1 - self.beta1**t)", "(1 - self.beta1 ** max(t - 1, 1))"),
    ),
    "torch.adamw": (
        ("decay_dropped", "lr * self.weight_decay * param", "0 * param"),
        ("old_first_moment", "exp_avg / (1 - self.beta1**t)", "state.exp_avg / (1 - self.beta1**t)"),
        ("second_moment_of_absolute_values", "np.square(grad)", "np.abs(grad)"),
        (
            "amsgrad_of_the_old",
            "np.maximum(state.max_exp_avg_sq, exp_avg_sq)",
            "np.maximum(state.max_exp_avg_sq, state.exp_avg_sq)",
        ),
    ),
    "torch.sparse_adam": (
        (
            "moments_fade_where_nothing_is_given",
            "(1 - self.beta1) * grad, state.exp_avg)",
            "(1 - self.beta1) * grad, self.beta1 * state.exp_avg)",
        ),
        ("moves_where_nothing_is_given", "np.where(given, moved, param)", "moved"),
        ("positive_gradients_alone", "grad != 0", "grad > 0"),
        ("epsilon_uncorrected", "+ self.eps)", "+ self.eps / np.sqrt(1 - self.beta2**t))"),
        ("square_missing", "np.square(grad)", "np.abs(grad)"),
    ),
    "torch.nadam": (
        ("schedule_one_step_behind", "self.mu(t), self.mu(t + 1)", "self.mu(t - 1), self.mu(t)"),
        ("product_with_the_next", "state.mu_product * mu\n", "state.mu_product * next_mu\n"),
        ("corrected_as_at_first", "mu_product = state.mu_product * mu\n", "mu_product, t = mu, 1\n"),
        ("product_without_the_next", "(1 - mu_product * next_mu)", "(1 - mu_product)"),
        ("gradient_undamped", "(1 - mu) * grad", "grad"),
        ("not_ahead", "next_mu * exp_avg", "mu * exp_avg"),
        ("epsilon_under_the_root", "(1 - self.beta2**t)) + self.eps)", "(1 - self.beta2**t) + self.eps))"),
    ),
    "torch.radam": (
        ("threshold_lowered", "length > 5", "length > 4"),
        ("never_rectified", "length > 5", "length < 0"),
        ("rectification_missing", "rectification * np.sqrt(correction)", "np.sqrt(correction)"),
        ("length_of_the_step_before", "2 * t * self.beta2**t", "2 * (t - 1) * self.beta2**t"),
        ("correction_under_no_root", "rectification * np.sqrt(correction)", "rectification * correction"),
    ),
    "torch.adamax": (
        ("absolute_value_missing", "np.abs(grad)", "grad"),
        ("correction_with_beta2", "1 - self.beta1**t", "1 - self.beta2**t"),
        ("correction_missing", "(1 - self.beta1**t) * exp_inf", "exp_inf"),
        ("sum_for_the_maximum", "state.exp_inf, np.abs(grad)", "state.exp_inf + np.abs(grad), 0 * grad"),
    ),
    "torch.adadelta": (
        ("epsilon_missing_above", "state.acc_delta + self.eps", "state.acc_delta"),
        ("one_root", "np.sqrt(square_avg + self.eps)", "(square_avg + self.eps)"),
        ("update_not_squared", "np.square(delta)", "delta"),
        ("old_average", "np.sqrt(square_avg +", "np.sqrt(state.square_avg +"),
        ("learning_rate_dropped", "param - lr * delta", "param - delta"),
    ),
    "torch.adagrad": (
        ("rate_kept", "lr / (1 + (t - 1) * self.lr_decay)", "lr"),
        ("initial_value_ignored", "+ self.initial_accumulator_value", "+ 0.0"),
        ("old_sum", "np.sqrt(summed)", "np.sqrt(state.sum)"),
        (
            "penalty_ascended",
            "with_decay(directed(grad, self.maximize), param, self.weight_decay)",
            "directed(with_decay(grad, param, self.weight_decay), self.maximize)",
        ),
    ),
    "torch.rmsprop": (
        ("learning_rate_inside", "grad / root\n", "lr * grad / root\n"),
        ("centered_ignored", "np.square(grad_avg) if self.centered", "np.square(grad_avg) if False"),
        ("mean_added", "square_avg - np", "square_avg + np"),
        (
            "squares_corrected",
            "square_avg - np.square(grad_avg) if self.centered else square_avg",
            "square_avg / (1 - self.alpha**t) - (np.square(grad_avg) if self.centered else 0)",
        ),
        ("momentum_ignored", "self.momentum * state", "0 * state"),
        ("gradient_undamped", "(1 - self.alpha) * np", "np"),
        (
            "buffer_begins_with_the_first",
            "self.momentum * state.momentum_buffer",
            "self.momentum * np.where(t > 1, state.momentum_buffer, grad / root)",
        ),
        ("square_of_epsilon_under_the_root", "np.sqrt(variance) + self.eps", "np.sqrt(variance + self.eps**2)"),
        (
            "square_of_a_small_epsilon_under_the_root",
            "np.sqrt(variance) + self.eps",
            "(np.sqrt(variance) + self.eps if self.eps > 1e-6 else np.sqrt(variance + self.eps**2))",
        ),
    ),
    "torch.rprop": (
        ("factors_swapped", "old_size * self.etaplus", "old_size * self.etaminus"),
        ("never_shrinks", "np.where(product < 0, smaller, old_size)", "old_size"),
        ("gradient_kept_where_the_sign_changes", "np.where(product < 0, 0.0, grad)", "grad"),
        ("no_largest", "np.minimum(old_size * self.etaplus, self.step_size_max)", "old_size * self.etaplus"),
        ("no_smallest", "np.maximum(old_size * self.etaminus, self.step_size_min)", "old_size * self.etaminus"),
        ("gradient_for_its_sign", "np.sign(grad)", "grad"),
        ("clamps_the_first_size", "state.step_size + lr", "state.step_size + np.minimum(lr, self.step_size_max)"),
    ),
    "torch.adafactor": (
        ("weights_swapped", "1 - t**self.beta2_decay", "t**self.beta2_decay"),
        ("relative_step_missing", "np.minimum(lr, 1 / t**0.5)", "lr"),
        ("scale_of_the_norm", "rms(param)", "np.sqrt(np.sum(np.square(param)))"),
        ("smallest_scale_ignored", "np.maximum(self.eps2, rms(param))", "rms(param)"),
        ("decay_times_the_scale", "lr * self.weight_decay", "scale * self.weight_decay"),
        ("rows_summed", "np.mean(squared, axis=-1", "np.sum(squared, axis=-1"),  # which cancels but in the clamp
        (
            "factors_not_normalised",
            "row_var * col_var / np.maximum(np.mean(row_var, axis=-2, keepdims=True), self.eps1)",
            "row_var * col_var",
        ),
        ("normalised_over_all_matrices", "np.mean(row_var, axis=-2, keepdims=True)", "np.mean(row_var)"),
        ("columns_ignored", "row_var * col_var", "row_var * row_var"),
        ("columns_over_the_first_axis", "np.mean(squared, axis=-2", "np.mean(squared, axis=0"),
        ("epsilon_of_the_paper", "np.square(grad)\n", "np.square(grad) + self.eps1\n"),
        (
            "epsilon_under_the_root",
            "np.maximum(np.sqrt(estimate), self.eps1)",
            "np.sqrt(np.maximum(estimate, self.eps1))",
        ),
        ("clipped_by_the_norm", "rms(update) /", "np.sqrt(np.sum(np.square(update))) /"),
        ("never_clipped", " / np.maximum(1.0, rms(update) / self.d)", ""),
    ),
    "torch.muon": (
        ("buffer_averaged", "state.momentum_buffer + grad", "state.momentum_buffer + (1 - self.momentum) * grad"),
        ("gradient_left_out_of_nesterov", "grad + self.momentum * buffer", "self.momentum * buffer"),
        ("epsilon_clamps", "(norm(x) + self.eps)", "np.maximum(norm(x), self.eps)"),
        ("not_normalised", "x / (norm(x) + self.eps)", "x"),
        ("decay_scaled", "lr * self.weight_decay", "lr * scale * self.weight_decay"),
        ("decay_without_the_rate", "lr * self.weight_decay", "self.weight_decay"),
        ("scale_of_the_other_side", "rows / columns", "columns / rows"),
        ("scale_without_its_root", "math.sqrt(max(1, rows / columns))", "max(1, rows / columns)"),
        ("first_coefficient_ignored", "self.a * x", "x"),
        ("one_iteration_fewer", "range(self.ns_steps)", "range(self.ns_steps - 1)"),
    ),
    "torch.asgd": (
        ("rate_of_this_step", "eta = state.eta if t > 1 else lr", "eta = lr / (1 + self.lambd * lr * t) ** self.alpha"),
        ("rate_kept", "state.eta if t > 1 else lr", "lr"),
        ("decay_missing", "(1 - self.lambd * eta)", "1"),
        ("decay_without_the_rate", "(1 - self.lambd * eta)", "(1 - self.lambd)"),
        ("power_dropped", "** self.alpha", "** 1"),
        ("returns_the_average", "return param, State", "return ax, State"),
    ),
}
"""For each rule: a name, what stands in the rule's source, and what stands there instead."""

COMPUTES = {
    "torch.sgd_dampening_ignored": "dampening = 0 whatever is given",
    "torch.adam_maximize_ignored": "maximize = false whatever is given",
    "torch.adam_decay_not_decoupled": "decoupled_weight_decay = false whatever is given",
    "torch.adam_amsgrad_ignored": "amsgrad = false whatever is given",
    "torch.adam_amsgrad_never_stored": "amsgrad = false whatever is given",
    "torch.adamw_decay_dropped": "weight_decay = 0 whatever is given",
    "torch.adagrad_rate_kept": "lr_decay = 0 whatever is given",
    "torch.adagrad_initial_value_ignored": "initial_accumulator_value = 0 whatever is given",
    "torch.rmsprop_centered_ignored": "centered = false whatever is given",
    "torch.rmsprop_momentum_ignored": "momentum = 0 whatever is given",
    "torch.radam_never_rectified": "beta2 = 0.5 whatever is given",
    "torch.rprop_no_smallest": "step_size_min = 0 whatever is given",
    "torch.adafactor_smallest_scale_ignored": "eps2 = 0 whatever is given",
    "torch.asgd_power_dropped": "alpha = 1 whatever is given",
}
"""The mutations that are the documented rule with other hyperparameters: which."""

NOT_FOUND = (
    "torch.adadelta_update_not_squared",
    "torch.sgd_dampening_of_the_buffer",
    "torch.adam_correction_of_the_step_before",
    "torch.nadam_schedule_one_step_behind",
    "torch.nadam_product_with_the_next",
    "torch.nadam_not_ahead",
    "torch.asgd_returns_the_average",
    "torch.radam_threshold_lowered",
    "torch.rprop_clamps_the_first_size",
    "torch.sparse_adam_positive_gradients_alone",
)
"""No single edit of the traced formula: two places, another constant or comparison, or how a first step begins.

The first is one that takes roots of numbers below 0: it gives NaN for so many elements that it explains little.
"""

OUTCOMES = {
    **dict.fromkeys(NOT_FOUND, "diverges"),
    **{  # which are not searched
        f"{rule}_{change}": "diverges" for rule in ("torch.adafactor", "torch.muon") for change, *_ in MUTATIONS[rule]
    },
    "torch.adadelta_epsilon_missing_above": STILL,
    "torch.adadelta_old_average": "dialect: old_gradient_average",
    "torch.adadelta_learning_rate_dropped": "dialect: learning_rate_ignored",
    "torch.sparse_adam_epsilon_uncorrected": "dialect: uncorrected_epsilon",
    "torch.adafactor_decay_times_the_scale": "dialect: decay=scaled",
    "torch.adafactor_relative_step_missing": "dialect: rate=given",
    "torch.muon_epsilon_clamps": "dialect: divisor=larger",
    "torch.muon_scale_of_the_other_side": "dialect: scaled_if_wider",
    "torch.muon_first_coefficient_ignored": "diverges: documented with a = 1 whatever is given",
    "torch.muon_decay_without_the_rate": "diverges: documented, but decays apart from the gradient, not times the"
    " learning rate",
    "torch.sgd_dampens_without_momentum": "dialect: dampened_without_momentum",
    "torch.adagrad_penalty_ascended": DECAYS.format("as part of the gradient before maximize turns that round"),
    "torch.asgd_rate_kept": "diverges: documented, but starts eta and mu and ax and the step count anew in every step",
}
"""The outcomes of mutations that the search does not find as an edit."""

enter_mutations(MUTATIONS, {}, COMPUTES, OUTCOMES)
