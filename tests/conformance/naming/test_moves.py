"""Edits that make one choice in several lines, limits and exceptions, a slot more, and searches by stages."""

from __future__ import annotations

from optimetry.conformance.naming.edits.limits import excepted, limited, norms_of_sums
from optimetry.conformance.naming.edits.moves import moves
from optimetry.conformance.naming.edits.single import Edit
from optimetry.conformance.naming.edits.usual import GUARDS
from optimetry.conformance.naming.edits.widened import widenings
from optimetry.conformance.naming.formulas.input_names import InputNames
from optimetry.conformance.naming.formulas.programs import FIRST, PARAM, parts_of, program_of, replaced, simplified
from optimetry.conformance.naming.known.points import documented_class
from optimetry.conformance.naming.search.budget import Budget
from optimetry.conformance.naming.search.edited import Edited
from optimetry.conformance.naming.search.fed import runs_of
from optimetry.conformance.naming.search.over_edits import edited_formulas, nearest
from optimetry.conformance.naming.search.stages import by_stages
from optimetry.conformance.naming.search.telling import neutral_cases, telling_cases
from optimetry.conformance.selftest.faults import FAULTS
from optimetry.conformance.selftest.instead import Instead
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.targets.session import Guard
from tests.conformance.deeds import Noise

NORM = ("sqrt", ("sum", ("square", "grad")))
OF_PARAM = ("sqrt", ("sum", ("square", "param")))
NO_NAMES, DECAY_ALONE = InputNames((), ()), InputNames((), ("decay",))


def moved(optimizer, **hyper):
    """The lines of every move of a document, by its words."""
    subject = subject_named(optimizer)
    rule = subject.of(hyper)
    numbers = [x.name for x in rule.hyperparameters() if x.kind is float]
    return {words: lines for lines, words in moves(program_of(rule, ("centered", "use_nesterov")), numbers)}


def test_a_parameter_is_divided_before_its_step_where_a_document_divides_it_behind():
    step = program_of(subject_named("papers.adan").of({"weight_decay": 0.5}))[PARAM][1][2]
    lines = moved("papers.adan", weight_decay=0.5)["the parameter divided before the step, not with it"]
    below = ("add", 1.0, ("multiply", "weight_decay", "lr"))
    assert lines[PARAM] == ("subtract", ("divide", PARAM, below), step)


def test_a_learning_rate_is_kept_out_of_a_velocity_or_taken_into_it():
    lines = moved("rmsprop")["lr outside velocity"]
    pushed = ("add", ("multiply", "momentum", "velocity"), lines["velocity"][2])
    assert lines["velocity"] == pushed
    assert lines["velocity"][2][:2] == ("divide", "grad")
    assert lines[PARAM] == ("subtract", PARAM, ("multiply", "lr", pushed))
    inside = moved("momentum", momentum=0.9)["lr at the gradient"]
    pushed = ("add", ("multiply", "momentum", "velocity"), ("multiply", "lr", "grad"))
    assert inside["velocity"] == pushed
    assert inside[PARAM] == ("subtract", PARAM, pushed)


def test_a_limit_of_the_learning_rate_stays_one_where_that_is_kept_out():
    limit = ("minimum", "grad", "lr")
    program = {PARAM: ("subtract", PARAM, ("add", ("multiply", "m", "v"), limit))}
    program |= {"v": program[PARAM][2], "initial v": 0.0}
    (lines, _), *_ = moves(program, ["m"])
    assert lines["v"] == ("add", ("multiply", "m", "v"), ("minimum", ("divide", "grad", "lr"), 1.0))


def test_a_decay_moves_to_every_place_and_is_added_where_there_is_none():
    lines = moved("lamb")["lamb_weight_decay beside the step"]
    share = ("multiply", ("multiply", "lr", "lamb_weight_decay"), PARAM)
    assert lines[PARAM][0::2] == ("subtract", share)
    assert "a decay of 0.01 at the gradient" in moved("adam")


def test_a_decay_of_the_parameter_moves_behind_the_step():
    """Nadir's Lion decays what its step has made."""
    lines = moved("papers.lion", weight_decay=0.5)["weight_decay of the parameter after the step"]
    average = ("add", ("multiply", "beta1", "m"), ("multiply", ("subtract", 1, "beta1"), "grad"))
    stepped = ("subtract", PARAM, ("multiply", "lr", ("sign", average)))
    assert lines[PARAM] == ("subtract", stepped, ("multiply", ("multiply", "lr", "weight_decay"), stepped))


def test_what_a_decay_is_added_to_may_be_left_alone_where_a_condition_fails():
    words = "lars_weight_decay only where the condition holds"
    (_, _, velocity) = moved("lars_momentum", momentum=0.9)[words][PARAM]
    assert velocity[2][2][0] == "where"


def test_a_slot_is_overwritten_before_another_takes_its_old_number():
    n, z = ("add", "n", "grad"), ("multiply", "z", "n")
    program = {PARAM: ("subtract", PARAM, ("add", n, z)), "n": n, "z": z}
    lines = {words: lines for lines, words in moves(program, [])}["n overwritten before it enters new z"]
    other = ("multiply", "z", n)
    assert lines == {PARAM: ("subtract", PARAM, ("add", n, other)), "n": n, "z": other}


def test_ratios_and_norms_are_limited_and_choices_have_exceptions():
    ratio = ("divide", NORM, OF_PARAM)
    assert ("minimum", ratio, 1.0) in list(limited(ratio, NO_NAMES))
    assert ("minimum", NORM, 10.0) in list(limited(NORM, NO_NAMES))
    assert list(limited(("divide", "grad", "lr"), NO_NAMES)) == []
    chosen = ("where", ("greater", NORM, 0), ("divide", ("subtract", "a", "b"), "c"), 0.0)
    others = list(excepted(chosen, DECAY_ALONE))
    assert ("where", ("greater", "decay", 0), chosen, 0.0) in others
    assert ("divide", ("subtract", ("where", chosen[1], "a", "b"), "b"), "c") in others
    assert list(excepted(("greater", NORM, 0), DECAY_ALONE)) == [("greater", NORM, "decay")]
    assert list(excepted(("greater", "grad", 0), DECAY_ALONE)) == []


def test_the_norm_of_a_sum_takes_the_place_of_a_sum_of_norms():
    both = ("add", NORM, ("multiply", "decay", OF_PARAM))
    of_sum = ("sqrt", ("sum", ("square", ("add", "grad", ("multiply", "decay", "param")))))
    assert list(norms_of_sums(both, DECAY_ALONE)) == [of_sum]
    assert list(norms_of_sums(NORM, DECAY_ALONE)) == [of_sum]


def test_a_factor_a_divisor_and_a_root_of_one_are_left_out():
    assert simplified(("divide", ("multiply", 1.0, "a"), ("sqrt", 1.0))) == "a"
    assert simplified(("multiply", "a", ("power", 0.96, 0))) == "a"


def test_only_what_a_root_is_taken_of_has_a_largest_value():
    plain, corrected = widenings(program_of(subject_named("adam").of({})))
    assert dict(plain.lines)[FIRST + "moment2_max"] == 0.0
    assert dict(plain.lines)["moment2_max"][:2] == ("maximum", "moment2_max")
    assert corrected.words == "the largest corrected moment2 so far in its place"
    assert list(widenings(plain.applied(program_of(subject_named("adam").of({}))))) == []
    assert len(list(widenings(program_of(subject_named("lamb").of({}))))) == 1


def test_a_slot_more_has_a_line_of_its_own():
    hyper = subject_named("adam").of({}).hyper()
    plain, _ = widenings(program_of(subject_named("adam").of({})))
    (_, param), (before, after) = Edited(documented_class("adam"), (plain,), hyper).lines
    assert "sqrt(new moment2_max)" in param
    assert (before, after) == ("no moment2_max", "moment2_max <- maximum(moment2_max, new moment2)")


def test_every_hyperparameter_that_may_be_zero_is_zero_in_some_cases_and_all_are_in_the_last():
    *each, together = neutral_cases("lars_momentum", "float32")
    zeros = [{name for case in part for name, value in case.hyper.items() if value == 0.0} for part in each]
    assert {"momentum"} <= zeros[0]
    assert {"lars_weight_decay"} <= zeros[1]
    assert all(case.hyper["momentum"] == case.hyper["lars_weight_decay"] == 0.0 for case in together)


def test_a_stage_that_the_document_explains_is_passed_over():
    asked = []

    def nearest(runs, count, edits):
        asked.append((runs, count, edits))
        return {("neutral", 0): [], ("neutral", 1): [], ("neutral", 2): [[("a", "b")]]}.get((runs, count), [[edits]])

    stages = list(by_stages(nearest, "all", ["explained", "neutral"], Budget()))
    assert stages == [[[("a", "b")]], [[("a", "b")]]]
    assert asked[0] == ("explained", 0, ())
    assert ("explained", 1, ()) not in asked
    assert asked[-2:] == [("all", 1, ("a", "b")), ("all", 2, ("a", "b"))]


def test_nothing_is_found_by_stages_for_noise():
    target = Instead(lambda rule, parameters: Noise(parameters), "momentum")

    runs = runs_of(target, telling_cases("momentum", "float32"), Guard())
    neutral = (runs_of(target, part, Guard()) for part in neutral_cases("momentum", "float32"))
    assert edited_formulas([documented_class("momentum")], runs, lambda formula: True, neutral=neutral) == []


def test_a_number_that_guards_is_replaced_in_every_edit_behind_it():
    guard = Edit("a", ("add", "a", 1e-8), (PARAM,))
    formula = Edited(documented_class("adam"), (guard, Edit(("add", "a", 1e-8), "b", (PARAM,))), {})
    assert [edit.with_number(1e-8, 1e-5) for edit in formula.edits] == [
        Edit("a", ("add", "a", 1e-5), (PARAM,)),
        Edit(("add", "a", 1e-5), "b", (PARAM,)),
    ]


def test_a_small_number_that_any_other_replaces_is_no_finding():
    """Torch's SGD dampens nothing where the momentum is 0; any number that is added to it makes it dampen."""
    fault = FAULTS["torch.sgd_dampens_without_momentum"]
    runs = runs_of(fault.target(), telling_cases("torch.sgd", "float32"), Guard())
    near = nearest(documented_class("torch.sgd"), runs, 1, Budget(), runs[0][0].form.roundoff)
    assert any("added to momentum" in formula.name for members in near for formula in members)
    found = edited_formulas([documented_class("torch.sgd")], runs, lambda formula: True, most_edits=1)
    assert not any("added to momentum" in formula.name for formula in found)


def test_a_slot_is_overwritten_before_another_line_takes_its_old_number():
    new = ("add", ("multiply", "beta2", "m"), ("multiply", ("subtract", 1, "beta2"), "grad"))
    lines = moved("papers.lion", weight_decay=0.0)["m overwritten before it enters the parameter"]
    assert new in list(parts_of(lines[PARAM]))
    assert "m" not in list(parts_of(replaced(lines[PARAM], new, "aside")))
    assert lines["m"] == new
    assert not [words for words in moved("momentum", momentum=0.9) if "overwritten" in words], "it takes the new one"


def test_an_epsilon_beside_a_root_may_be_squared_under_it_always_or_where_it_is_small():
    """The limit is no guard's number, whose neighbours would explain as much."""
    (_, lr_grad, beside) = moved("decayed_adagrad")["the square of epsilon under the root"][PARAM][2]
    assert lr_grad == ("multiply", "lr", "grad")
    assert beside[0] == "sqrt"
    assert beside[1][0] == "add"
    assert beside[1][2] == ("square", "epsilon")
    small = moved("decayed_adagrad")["the square of epsilon under the root where epsilon is small"][PARAM][2][2]
    assert small[0] == "where"
    assert small[1][:2] == ("greater", "epsilon")
    assert small[1][2] not in GUARDS
    assert small[2] == ("add", ("sqrt", beside[1][1]), "epsilon")
    assert small[3] == beside
    (divisor,) = {
        lines[PARAM][2][2] for lines, words in moves(beside_another_root(), ["eps"]) if words.endswith("root")
    }
    assert divisor == ("sqrt", ("add", "v", ("square", ("divide", "eps", "c"))))


def beside_another_root():
    """A program whose epsilon is divided as the square beside it is."""
    divisor = ("add", ("sqrt", "v"), ("divide", "eps", "c"))
    return {PARAM: ("subtract", PARAM, ("divide", "grad", divisor))}
