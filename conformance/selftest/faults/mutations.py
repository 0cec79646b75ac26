"""Rules with one token changed: a table of texts to replace in the reference's own source.

A mutation whose text does not stand in the rule exactly once is refused, so the table cannot drift from the rules.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from optimetry.conformance.selftest.faults.fault import FOUND, Fault, Start, enter
from optimetry.conformance.selftest.faults.hooks import computing_as
from optimetry.reference.rule import Rule
from optimetry.reference.rules import rule_named

MUTATIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "sgd": (
        ("ascends", "param - lr", "param + lr"),
        ("learning_rate_squared", "lr * grad", "lr * lr * grad"),
        ("gradient_squared", "lr * grad", "lr * grad * grad"),
        ("restarts_from_zero", "param - lr", "0 * param - lr"),
    ),
    "momentum": (
        ("momentum_ignored", "self.momentum * state.velocity", "0 * state.velocity"),
        (
            "velocity_corrected",
            "grad + self.momentum * velocity if self.use_nesterov else velocity",
            (
                "(lambda mean: grad + self.momentum * mean if self.use_nesterov else mean)"
                "((1 - self.momentum) * velocity / (1 - self.momentum**t))"
            ),
        ),
        ("nesterov_ignored", "if self.use_nesterov", "if False"),
        ("nesterov_always", "if self.use_nesterov", "if True"),
        ("nesterov_with_the_old_velocity", "self.momentum * velocity if", "self.momentum * state.velocity if"),
        ("momentum_squared", "self.momentum * state.velocity", "self.momentum**2 * state.velocity"),
        ("gradient_subtracted", "velocity + grad", "velocity - grad"),
        ("velocity_never_stored", "State(velocity=velocity)", "state"),
        ("velocity_starts_at_the_gradient", "state.velocity", "(grad if t == 1 else state.velocity)"),
    ),
    "lars_momentum": (
        ("guard_of_either_norm", "(param_norm > 0) & (grad_norm > 0)", "(param_norm > 0) | (grad_norm > 0)"),
        ("gradient_norm_unguarded", "(param_norm > 0) & (grad_norm > 0)", "(param_norm > 0)"),
        ("decay_missing_in_the_velocity", "(grad + self.lars_weight_decay * param)", "(grad)"),
        ("decay_missing_in_the_norm", "grad_norm + self.lars_weight_decay * param_norm", "grad_norm"),
        ("decay_applied_twice", "(grad + self.lars", "(grad + 2 * self.lars"),
        ("coefficient_ignored", "lr * self.lars_coeff *", "lr *"),
        ("norms_swapped", "norm(param), norm(grad)", "norm(grad), norm(param)"),
        ("momentum_ignored", "self.momentum *", "0 *"),
        ("norms_subtracted", "(grad_norm + self", "(grad_norm - self"),
        ("norm_squared", "norm(param), norm(grad)", "norm(param), norm(grad) ** 2"),
    ),
    "adagrad": (
        ("root_of_the_gradient", "lr * grad", "lr * (np.sign(grad) * np.sqrt(np.abs(grad)))"),
        (
            "guarded_by_the_moment",  # as torchopt has it; beside flushed subnormals NaN alone tells
            "lr * grad / (np.sqrt(moment) + self.epsilon)",
            "np.where(moment > 0, lr * grad / (np.sqrt(moment) + self.epsilon), 0.0)",
        ),
        ("square_missing", "np.square(grad)", "np.abs(grad)"),
        ("maximum_for_the_sum", "state.moment + np.square(grad)", "np.maximum(state.moment, np.square(grad))"),
        ("old_moment", "np.sqrt(moment)", "np.sqrt(state.moment)"),
        ("root_missing", "np.sqrt(moment)", "moment"),
        ("epsilon_squared", "self.epsilon)", "self.epsilon**2)"),
        ("epsilon_subtracted", "+ self.epsilon", "- self.epsilon"),
        ("initial_value_ignored", "+ self.initial_accumulator_value", "+ 0.0"),
        ("initial_value_is_a_root", "+ self.initial_accumulator_value", "+ self.initial_accumulator_value**0.5"),
    ),
    "decayed_adagrad": (
        ("divisor_kept_in_place", "State(moment=moment)", "State(moment=np.sqrt(moment) + self.epsilon)"),
        (
            "weights_swapped",
            "self.decay * state.moment + (1 - self.decay)",
            "(1 - self.decay) * state.moment + self.decay",
        ),
        ("gradient_undamped", "(1 - self.decay) * np", "np"),
        ("square_missing", "np.square(grad)", "np.abs(grad)"),
        ("old_moment", "np.sqrt(moment)", "np.sqrt(state.moment)"),
        ("epsilon_dropped", " + self.epsilon", ""),
    ),
    "adadelta": (
        ("epsilon_missing_in_the_numerator", "(state.avg_squared_update + self.epsilon)", "(state.avg_squared_update)"),
        ("epsilon_missing_in_the_denominator", "(squared_grad + self.epsilon)", "(squared_grad)"),
        ("quotient_inverted", "np.sqrt((state", "1 / np.sqrt((state"),
        ("update_not_squared", "np.square(delta)", "delta"),
        ("gradient_average_for_both", "self.rho * state.avg_squared_update", "self.rho * state.avg_squared_grad"),
    ),
    "adam": (
        ("beta2_in_the_first_moment", "self.beta1 * state.moment1", "self.beta2 * state.moment1"),
        ("beta1_in_the_second_moment", "self.beta2 * state.moment2", "self.beta1 * state.moment2"),
        ("beta2_in_the_first_correction", "1 - self.beta1**t", "1 - self.beta2**t"),
        ("beta1_in_the_second_correction", "1 - self.beta2**t", "1 - self.beta1**t"),
        ("square_missing", "np.square(grad)", "np.abs(grad)"),
        ("gradient_undamped", "(1 - self.beta1) * grad", "grad"),
        ("square_undamped", "(1 - self.beta2) * np", "np"),
        ("root_of_the_correction_missing", "np.sqrt(1 - self.beta2**t)", "(1 - self.beta2**t)"),
        ("correction_of_one_step", "1 - self.beta1**t", "1 - self.beta1"),
        ("epsilon_squared", "+ self.epsilon", "+ self.epsilon**2"),
        ("maximum_for_the_average", "state.moment2 + (1", "np.maximum(state.moment2, np.square(grad)) + 0 * (1"),
        ("ascends", "param - step", "param + step"),
        ("square_of_the_moment", "np.square(grad)", "np.square(moment1)"),
        (
            "kept_corrected_and_corrected_again",  # as ModOpt keeps them
            "    lr_t =",
            "    moment1 = moment1 / (1 - self.beta1**t); moment2 = moment2 / (1 - self.beta2**t); lr_t =",
        ),
    ),
    "adamax": (
        ("minimum_for_the_maximum", "np.maximum(", "np.minimum("),
        ("absolute_value_missing", "np.abs(grad)", "grad"),
        ("correction_with_beta2", "1 - self.beta1**t", "1 - self.beta2**t"),
        ("sum_for_the_maximum", "+ self.epsilon, np.abs(grad)", "+ self.epsilon + np.abs(grad), 0.0"),
        ("beta1_in_the_norm", "self.beta2 * state", "self.beta1 * state"),
        ("counted_from_zero", "lr / (1 - self.beta1**t)", "lr / (1 - self.beta1 ** (t - 1) if t > 1 else 1)"),
        ("count_ahead", "self.beta1**t", "self.beta1 ** (t + 1)"),
        ("old_norm", "moment / inf_norm", "moment / (self.beta2 * state.inf_norm + self.epsilon)"),
        ("epsilon_decays", "state.inf_norm + self.epsilon", "(state.inf_norm + self.epsilon)"),
    ),
    "rmsprop": (
        ("centered_ignored", "np.square(mean_grad) if self.centered", "np.square(mean_grad) if False"),
        ("momentum_ignored", "self.momentum *", "0 *"),
        ("mean_not_squared", "np.square(mean_grad)", "mean_grad"),
        ("mean_added", "mean_square - np", "mean_square + np"),
        ("mean_undamped", "(1 - self.rho) * grad", "grad"),
        ("centered_with_the_old_mean", "np.square(mean_grad)", "np.square(state.mean_grad)"),
        ("learning_rate_twice", "param - velocity", "param - lr * velocity"),
        ("epsilon_squared", "+ self.epsilon", "+ self.epsilon**2"),
    ),
    "ftrl": (
        ("l2_for_l1", "self.l1 * np.sign", "self.l2 * np.sign"),
        ("l2_for_the_threshold", "np.abs(linear) > self.l1", "np.abs(linear) > self.l2"),
        ("sign_of_linear", "np.sign(linear) - linear", "np.sign(linear) + linear"),
        ("fraction_added", "+ grad - (new", "+ grad + (new"),
        ("old_rate_dropped", "(new_rate - old_rate)", "(new_rate)"),
        ("learning_rate_squared", "/ lr * param", "/ lr / lr * param"),
        ("power_inverted", "squared**-self.lr_power, ", "squared**self.lr_power, "),
        ("threshold_inclusive", ") > self.l1", ") >= self.l1"),
        ("squares_never_stored", "squared_accum=squared", "squared_accum=state.squared_accum"),
        ("linear_never_accumulated", "linear = state.linear_accum + grad", "linear = grad"),
    ),
    "lamb": (
        (
            "betas_swapped",
            "self.beta1 * state.moment1 + (1 - self.beta1)",
            "self.beta2 * state.moment1 + (1 - self.beta2)",
        ),
        ("decay_subtracted", "+ self.lamb_weight_decay", "- self.lamb_weight_decay"),
        ("decay_ignored", "+ self.lamb_weight_decay", "+ 0 * self.lamb_weight_decay"),
        ("ratio_inverted", "param_norm / direction_norm", "direction_norm / param_norm"),
        ("ratio_ignored", "lr * ratio *", "lr *"),
        ("zero_for_an_undefined_ratio", "direction_norm, 1.0)", "direction_norm, 0.0)"),
        ("gradient_norm", "norm(direction)", "norm(grad)"),
        ("parameter_norm_unguarded", "(param_norm > 0) & (direction_norm > 0)", "(direction_norm > 0)"),
        ("denominator_with_a_small_number", "param_norm / direction_norm,", "param_norm / (direction_norm + 1e-6),"),
    ),
    "asgd": (
        ("batch_never_reached", "% self.batch_num\n", "% max(self.batch_num - 1, 1)\n"),
        ("always_the_first_batch", "(t - 1) % self.batch_num", "0"),
        ("divided_by_all_batches", "min(t, self.batch_num)", "self.batch_num"),
        ("divided_by_all_steps", "min(t, self.batch_num)", "t"),
        ("divided_by_one_more", "min(t, self.batch_num)", "min(t + 1, self.batch_num)"),
        ("decay_subtracted", "- lr * self.weight_decay", "+ lr * self.weight_decay"),
        ("decay_applied_twice", "- lr * self.weight_decay", "- 2 * lr * self.weight_decay"),
        ("forgotten_gradient_added", "(grad - state", "(grad + state"),
        ("history_never_stored", "history=history", "history=state.history"),
    ),
}
"""For each rule: a name, what stands in the rule's source, and what stands there instead."""

REJECTED_BY = {
    "adagrad_guarded_by_the_moment": "nonfinite_gradients_act",
    "sgd_gradient_squared": "sign_symmetry",
    "adagrad_root_missing": "power_of_two_scaling",
    "adam_ascends": "special_case",
    "sgd_restarts_from_zero": "rest",
}
"""The law that rejects a mutation first, where no other can."""

COMPUTES = {
    "momentum_nesterov_ignored": "use_nesterov = false whatever is given",
    "momentum_nesterov_always": "use_nesterov = true whatever is given",
    "momentum_nesterov_with_the_old_velocity": "use_nesterov = false whatever is given",
    "lars_momentum_momentum_ignored": "momentum = 0 whatever is given",
    "lars_momentum_coefficient_ignored": "lars_coeff = 1 whatever is given",
    "adagrad_initial_value_ignored": "initial_accumulator_value = 0 whatever is given",
    "decayed_adagrad_weights_swapped": "1 - decay in place of decay",
    "decayed_adagrad_epsilon_dropped": "epsilon = 0 whatever is given",
    "rmsprop_centered_ignored": "centered = false whatever is given",
    "rmsprop_momentum_ignored": "momentum = 0 whatever is given",
    "lamb_decay_ignored": "lamb_weight_decay = 0 whatever is given",
}
"""The mutations that are the documented rule with other hyperparameters: which."""

ANEW = "diverges: documented, but starts {} anew in every step"
"""The outcome where a slot is not kept."""

STILL = "diverges: documented, but skips every update"
"""The outcome where no step moves a parameter."""

DECAYS = "diverges: documented, but decays {}"
"""The outcome of a weight decay in another place."""

OUTCOMES = {
    "adadelta_epsilon_missing_in_the_numerator": STILL,
    "adagrad_guarded_by_the_moment": "diverges: documented, but moves elements only where moment is above 0",
    "lamb_ratio_ignored": "dialect: torch.adamw:uncorrected",
    "momentum_momentum_ignored": ANEW.format("velocity"),
    "momentum_velocity_never_stored": ANEW.format("velocity"),
    "ftrl_squares_never_stored": ANEW.format("squared_accum"),
    "ftrl_linear_never_accumulated": ANEW.format("linear_accum"),
    "asgd_history_never_stored": ANEW.format("history"),
    "adam_maximum_for_the_average": "diverges",  # two edits, which `optimetry check` does not search for by itself
}
"""The outcomes of mutations that the search does not find as an edit."""


def mutant(optimizer: str, *changes: tuple[str, str]) -> type[Rule]:
    """The documented rule with texts replaced in the source of its methods, each by another.

    Raises:
        ValueError: a text does not stand there exactly once.
    """
    documented = rule_named(optimizer)
    texts = sources_of(documented)
    for old, new in changes:
        count = sum(text.count(old) for text in texts)
        if count != 1:
            raise ValueError(f"{optimizer}: {old!r} stands {count} times in the rule, must be once")
        texts = [text.replace(old, new) for text in texts]
    namespace: dict[str, Any] = {}
    for text in texts:
        exec(text, vars(sys.modules[documented.__module__]), namespace)
    return type(documented.__name__, (documented,), namespace)


def sources_of(rule: type[Rule]) -> list[str]:
    """The source of each of a rule's own methods, of which its formula consists."""
    own = [x for name, x in vars(rule).items() if inspect.isfunction(x) and not name.startswith("_")]
    return [textwrap.dedent(inspect.getsource(method)) for method in own]


def mutated(optimizer: str, *changes: tuple[str, str]) -> Start:
    """Begin runs of a `mutant`."""
    return computing_as(mutant(optimizer, *changes))


def enter_mutations(
    mutations: Mapping[str, Sequence[tuple[str, str, str]]],
    rejected_by: Mapping[str, str],
    computes: Mapping[str, str],
    outcomes: Mapping[str, str],
) -> None:
    """Enter one fault for each mutation, which the search finds unless it is among the last two arguments.

    Args:
        mutations: for each rule: a name, what stands in the rule's source, and what stands there instead.
        rejected_by: the law that rejects a fault first, where no other can, by the fault's name.
        computes: for faults that are the documented rule with other hyperparameters: which.
        outcomes: the outcomes of others that the search does not find.
    """
    for optimizer, changes in mutations.items():
        for change, old, new in changes:
            name = f"{optimizer}_{change}"
            known = f"diverges: documented with {computes[name]}" if name in computes else outcomes.get(name, FOUND)
            enter(
                Fault(
                    name=name,
                    optimizer=optimizer,
                    defect=f"`{old.strip()}` reads `{new.strip()}`",
                    start=mutated(optimizer, (old, new)),
                    rejected_by=rejected_by.get(name),
                    outcome=known,
                    edited=name not in computes,
                )
            )


enter_mutations(MUTATIONS, REJECTED_BY, COMPUTES, OUTCOMES)
