"""Laws of the documented formula, for subjects that declare the property; a dialect may lack it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import numpy as np

from optimetry.conformance.laws.law import Applies, Difference, Trial, first_difference, is_rule, law, prefixed
from optimetry.conformance.laws.readings import kind_of, kinds_of
from optimetry.conformance.laws.universal import reshaping
from optimetry.conformance.laws.variations import big_poisonings, gapped, poisonings
from optimetry.conformance.numerics.agreement import explains
from optimetry.conformance.numerics.arrays import Array, flat
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_of
from optimetry.conformance.subjects.subject import Subject
from optimetry.reference.errors import TargetFault
from optimetry.reference.rules import rule_named


def declares(name: str) -> Applies:
    """Whether a subject's declaration has this property, and not None."""
    return lambda subject: getattr(subject.declaration, name, None) is not None


@law("a step without a gradient changes neither state nor step count", universal=False, applies=is_rule)
def missing_gradient_rests(trial: Trial) -> str | None:
    for full, holed, gap in gapped(trial):
        if (contradiction := full.agrees(full.run(), np.delete(holed.run(), gap, axis=0))) is not None:
            missing = gap.stop - gap.start
            return contradiction if missing == 1 else prefixed(f"behind {missing} steps without one, ", contradiction)
    return None


def is_layerwise_rule(subject: Subject) -> bool:
    """Whether a subject is an update rule that takes norms over tensors, whatever their shape."""
    return is_rule(subject) and not subject.elementwise and not subject.shaped


@law("norms are taken over all elements, whatever the shape", universal=False, applies=is_layerwise_rule)
def norms_of_any_shape(trial: Trial) -> str | None:
    return reshaping(trial)  # where dialects leave vectors alone, this is no universal law


@law("negating parameters and gradients negates the result", universal=False)
def sign_symmetry(trial: Trial) -> str | None:
    if not getattr(trial.documented, "symmetric", True):
        return None
    return trial.against(trial.on(trial.case.each(np.negative)), np.negative)


@law("scaling by powers of two scales the result", universal=False, applies=declares("scaling"), symptom=True)
def power_of_two_scaling(trial: Trial) -> str | None:
    scaling = trial.declaration.scaling
    assert scaling is not None
    factor = {name: 2.0**power for name, power in scaling.powers.items()}
    plain = trial.on(trial.case.replace(hyper={**trial.case.hyper, **scaling.given}))
    hyper = {name: value * factor.get(name, 1.0) for name, value in plain.case.hyper.items() if name in factor}
    scaled = plain.case.mapped(param=_times(factor.get("param", 1.0)), grad=_times(factor.get("grad", 1.0)))
    scaled = scaled.replace(hyper=plain.case.hyper | hyper)
    return plain.against(plain.on(scaled), lambda after: after / after.dtype.type(factor.get("param", 1.0)))


def _times(factor: float) -> Callable[[Array], Array]:
    return lambda array: array * array.dtype.type(factor)


@law("in a special case it is another rule", universal=False, applies=declares("special_case"), symptom=True)
def special_case(trial: Trial) -> str | None:
    special = trial.declaration.special_case
    assert special is not None
    here = trial.on(trial.case.replace(hyper={**trial.case.hyper, **special.given}))
    chosen = {
        name: here.case.hyper[value] if isinstance(value, str) else value for name, value in special.there.items()
    }
    hyper = rule_named(special.named).of(chosen).hyper()
    there = trial.on(here.case.replace(optimizer=special.named, hyper=hyper))
    if not (here.offered and there.offered):
        return None
    try:
        after = there.run()
    except TargetFault:
        return None  # a fault of the other rule, which gets a verdict of its own
    oracle = expected(there.case)
    return here.agrees(here.run(), after, oracle.bound) if explains(after, oracle, there.case.form) else None


@law("a parameter whose gradient is always zero rests", universal=False, applies=declares("at_rest"))
def rest(trial: Trial) -> str | None:
    case = trial.case.mapped(grad=np.zeros_like)
    case = case.replace(hyper={**case.hyper, **(trial.declaration.at_rest or {})})
    resting = trial.on(case)
    before, after = flat(case.parameters), resting.run()
    if not (after != before).any():  # NaN differs from every number
        return None
    oracle = expected(resting.case)
    known = oracle.known  # 0/0, where a narrow format has no such epsilon
    nan = np.isnan(after) & known
    if nan.any():
        step, element = np.unravel_index(int(np.argmax(nan)), nan.shape)
        still = np.broadcast_to(before, after.shape)
        return Difference.of(f"returned NaN at step {step + 1}, element {element}", after, still, 0.0)
    moved = (after != before) & known
    if not moved.any():
        return None
    text = f"element {int(np.argmax(moved.any(axis=0)))} moved with no gradient"
    return Difference.of(text, after, np.broadcast_to(before, after.shape), 0.0)


@law(
    "a subnormal parameter whose gradient is always zero rests, or is flushed to zero",
    universal=False,
    applies=declares("at_rest"),
    any_arithmetic=True,
)
def subnormal_rest(trial: Trial) -> str | None:
    """The bound of a formula whose subnormals may be flushed holds every subnormal number, right or wrong."""
    form = trial.case.form

    def subnormal(param: Array) -> Array:
        eighths = np.resize([1, -2, 3, -5, 7], param.shape)
        return (eighths * (float(form.smallest_normal) / 8)).astype(param.dtype)

    case = trial.case.mapped(param=subnormal, grad=np.zeros_like)
    resting = trial.on(case.replace(hyper={**case.hyper, **(trial.declaration.at_rest or {})}))
    before, after = np.broadcast_to(flat(case.parameters), (len(case.grads), case.size)), resting.run()
    oracle = resting.formula(resting.case)
    rests = oracle.known & (oracle.value == before) & ~np.isnan(after)  # which another law is about
    return first_difference(rests & (after != before) & (after != 0), after, before)


def is_read(subject: Subject) -> bool:
    """Whether an infinity or NaN has the same meaning in every reading: not where the largest entries are chosen."""
    return is_rule(subject) or not subject.declaration.counts_zeros


@law(
    "an infinite or NaN gradient gives what every reading gives",
    universal=False,
    applies=is_read,
    symptom=True,
    any_arithmetic=True,
)
def nonfinite_gradients_act(trial: Trial) -> str | None:
    """Of a rule with norms it is enough that no number results where every reading gives none."""
    subject = subject_of(trial.case)
    has_norms = is_rule(subject) and not subject.elementwise
    for clean, poisoned, step, element in chain(poisonings(trial), big_poisonings(trial)):
        results, kinds = poisoned.run(), kinds_of(poisoned.computed, poisoned.case, step, element)
        number = results[step, element]
        if kind_of(number) in kinds or ("finite" in kinds and (has_norms or len(kinds) > 1)):
            continue
        if np.isfinite(number) or (len(kinds) == 1 and not has_norms):
            text = f"{number}, must be {' or '.join(sorted(kinds))}, at step {step + 1}, element {element}"
            must, allowed = results.copy(), np.full(results.shape, np.inf)
            must[step, element] = clean.run()[step, element] if kinds == {"finite"} else float(min(kinds - {"finite"}))
            allowed[step, element] = 0.0
            return Difference.of(text, results, must, allowed)
    return None
