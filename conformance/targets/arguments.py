"""Tables of what the arguments of optimizers are called, for frameworks' tables and for classes of users."""

from __future__ import annotations

from collections.abc import Mapping

PAIRS: Mapping[str, tuple[str, ...]] = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
    "eps": ("eps1", "eps2"),
    "ns_coefficients": ("a", "b", "c"),
    "nus": ("nu1", "nu2"),
}
"""Arguments that are several numbers, with the hyperparameter that is each."""

OTHER_BETAS = (("betas", ("beta1", "beta2", "beta3")), ("betas", ("mu", "nu")))
"""The same where a rule has a third, or calls the two otherwise."""

WORDS: Mapping[str, tuple[str, str]] = {"adjust_lr_fn": ("match_rms_adamw", "match_rms_adamw")}
"""Arguments that are words, with the flag that stands for one of two."""

SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("beta1", "beta_1", "b1", "mu"),
    ("beta2", "beta_2", "b2", "nu"),
    ("beta3", "beta_3", "b3"),
    ("epsilon", "eps", "delta", "e"),
    ("eps1", "eps_1", "epsilon_1", "epsilon1"),
    ("eps2", "eps_2", "epsilon_2", "epsilon2"),
    ("rho", "alpha", "decay", "decay_rate", "gamma"),
    ("momentum", "beta", "mass", "mu"),
    ("weight_decay", "wd", "weight_decay_rate", "lamb_weight_decay", "lars_weight_decay", "regularization_coeff"),
    ("momentum_decay", "schedule_decay"),
    ("use_nesterov", "nesterov"),
    ("centered", "centred"),
    ("lars_coeff", "trust_coefficient", "trust_coef", "eta"),
    ("lambd", "lambda_"),
    ("step_size_min", "min_step"),
    ("step_size_max", "max_step"),
    ("l1", "lambda1", "l1_regularization_strength"),
    ("l2", "lambda2", "l2_regularization_strength"),
    ("d", "clip_threshold", "clipping_threshold"),
    ("lr_power", "learning_rate_power"),
    ("initial_accumulator_value", "initial_accumulator"),
    ("a", "muon_a"),
    ("b", "muon_b"),
    ("c", "muon_c"),
)
"""Names that mean the same: an argument of one is given the hyperparameter of another."""

RATES = ("lr", "learning_rate", "step_size", "eta", "alpha", "rate")
"""What the argument of the learning rate is called, the likeliest first."""
