"""Cases that are evaluated together get the bits of value and bound that each gets alone."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.explanation import Explanation
from optimetry.conformance.naming.known.points import documented_class, named_classes
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.conformance.numerics.bounded import Bounded
from optimetry.conformance.numerics.formats import FORMATS, NotAlikeError, flushing, side_by_side
from optimetry.conformance.oracle.batched import ALONE, evaluate, evaluated_ahead
from optimetry.conformance.oracle.expected import Asked, Evaluation, evaluation_of, expected, kept_evaluation
from optimetry.conformance.selftest import oracle_speed
from optimetry.conformance.subjects.registry import subject_named
from optimetry.reference.books import BOOKS

RULES = [name for book in BOOKS.values() for name in book]

ALONE_ALWAYS = {"papers.adafactor", "torch.adafactor", "torch.muon"}
"""Rules to which the shape of a tensor matters."""


def short_cases(optimizer: str, dtype: str, count: int, steps: int = 6) -> list[Case]:
    """Return the first steps of the cases that are drawn for a rule, as cases of which nothing was evaluated before."""
    drawn = drawn_cases(subject_named(optimizer), dtype, seed=0, count=count)
    return [x.upto(steps).replace() for x in drawn]


def together_and_alone(asked: list[Asked]) -> list[tuple[Evaluation, Expected]]:
    """Return the evaluations that were made together, each with one that was made alone."""
    evaluate(asked)
    together = [evaluation_of(x) for x in asked]
    alone = [expected(x.case.replace(), *x[1:]) for x in asked]  # a copy is another case
    return [(made, single) for made, single in zip(together, alone, strict=True) if made.begun]


def assert_same_bits(pairs: list[tuple[Evaluation, Expected]]) -> None:
    """Check that values and bounds are equal, NaN included; quad precision has no bytes to compare."""
    for made, single in pairs:
        for batched, alone in ((made.value, single.value), (made.bound, single.bound)):
            number = ~np.isnan(batched)
            assert np.array_equal(number, ~np.isnan(alone)), made.case.hyper
            assert np.array_equal(batched[number], alone[number]), made.case.hyper
            signs = [np.signbit(x.astype(np.float64))[number] for x in (batched, alone)]
            assert np.array_equal(*signs)


@pytest.mark.parametrize("optimizer", RULES)
def test_together_every_rule_gets_the_bits_that_it_gets_alone(optimizer: str) -> None:
    assert_same_bits(together_and_alone([Asked(case) for case in short_cases(optimizer, "float32", 16)]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("optimizer", ["adam", "lamb", "ftrl"])
def test_together_every_dtype_gets_the_bits_that_it_gets_alone(optimizer: str, dtype: str) -> None:
    pairs = together_and_alone([Asked(case) for case in short_cases(optimizer, dtype, 12)])
    assert pairs
    assert_same_bits(pairs)


@pytest.mark.parametrize("optimizer", RULES)
def test_together_every_named_variant_gets_the_bits_that_it_gets_alone(optimizer: str) -> None:
    cases = short_cases(optimizer, "float32", 3, steps=4)
    asked = [Asked(case, variant.of(case.hyper)) for variant in named_classes(optimizer) for case in cases]
    assert_same_bits(together_and_alone(asked))


@pytest.mark.parametrize("combined", [False, True])
def test_together_norms_in_float32_get_the_bits_that_they_get_alone(combined: bool) -> None:
    numbers = subject_named("lars_momentum").numbers
    arithmetic = Arithmetic(float32_norm=True, float32_in_some_uses=numbers, combined=combined)
    explanation = Explanation(documented_class("lars_momentum"), arithmetic)
    pairs = together_and_alone([explanation.asked(case) for case in short_cases("lars_momentum", "float64", 12)])
    assert len(pairs) >= 10
    assert_same_bits(pairs)


def test_a_variant_that_asks_for_the_number_of_dimensions_is_evaluated_alone() -> None:
    cases = short_cases("lars_momentum", "float32", 4)
    (plain,) = (variant for variant in named_classes("lars_momentum") if variant.name == "vectors_plain")
    assert not together_and_alone([Asked(case, plain.of(case.hyper)) for case in cases])
    assert together_and_alone([Asked(case) for case in cases])


def test_together_formulas_with_flushed_subnormals_and_rounded_numbers_get_their_own_bits() -> None:
    form, narrow = flushing(FORMATS["float64"]), ("beta1", "learning_rate")
    asked = [Asked(case, form=form, narrow=narrow) for case in short_cases("adam", "float64", 8)]
    combined = [x._replace(combined=True) for x in asked]
    pairs = together_and_alone([*asked, *combined, *(Asked(x.case) for x in asked)])
    assert len(pairs) == 24
    assert_same_bits(pairs)


def test_all_rules_but_those_of_whole_tensors_are_evaluated_together() -> None:
    alone = set()
    for optimizer in RULES:
        first, second = short_cases(optimizer, "float32", 1, steps=2), short_cases(optimizer, "float32", 1, steps=2)
        evaluate([Asked(first[0]), Asked(second[0])])
        if not evaluation_of(Asked(first[0])).begun:
            alone.add(optimizer)
    assert alone == ALONE_ALWAYS


def test_wrappers_and_large_cases_are_left_to_be_evaluated_alone() -> None:
    clips = short_cases("clip_by_norm", "float32", 2)
    large = [x.replace(parameters=(np.ones(2**16, np.float32),), grads=((np.ones(2**16, np.float32),),) * 2,
                       learning_rates=(0.1, 0.1)) for x in short_cases("sgd", "float32", 2)]  # fmt: skip
    evaluate([Asked(case) for case in (*clips, *large)])
    assert not any(evaluation_of(Asked(case)).begun for case in (*clips, *large))


def test_cases_whose_numbers_are_bounded_by_different_formulas_are_left_to_be_evaluated_alone() -> None:
    form = side_by_side(FORMATS["float32"])
    ends = np.array([0.0, 1.0]), np.zeros(2)
    with pytest.raises(NotAlikeError):
        Bounded(*ends, form) - 0.5

    evaluations = [Asked(case) for case in short_cases("papers.radam", "float32", 16)]
    assert not together_and_alone(evaluations)
    assert np.isfinite(expected(evaluations[0].case).value).all()


@pytest.mark.parametrize(
    ("alone", "begun"), [(ALONE, [0] + [20] * 20 + [63] * 43), (2, [0, 0] + [40] * 40 + [62] * 22)]
)
def test_cases_come_in_order_and_no_more_are_evaluated_ahead_than_a_few_times_those_before(
    alone: int, begun: list[int]
) -> None:
    kept_evaluation.cache_clear()
    cases = short_cases("sgd", "float32", 64)
    evaluated = []
    for number, case in enumerate(evaluated_ahead(cases, lambda case: [Asked(case)], alone)):
        assert case is cases[number]
        evaluated.append(sum(evaluation_of(Asked(x)).begun for x in cases))
    assert evaluated == begun


def test_the_first_cases_are_not_drawn_before_they_are_needed() -> None:
    drawn = []
    source = (drawn.append(case) or case for case in short_cases("sgd", "float32", 64))
    assert len(list(islice(evaluated_ahead(source, lambda case: [Asked(case)]), ALONE))) == len(drawn) == ALONE


def test_the_speed_of_each_way_is_measured_on_cases_that_no_other_has_evaluated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    oracle_speed.main(["--optimizer", "sgd", "--dtype", "float32", "--cases", "10"])
    *_, row = capsys.readouterr().out.splitlines()
    assert row.startswith("| sgd | float32 |")
    measured = oracle_speed.OracleSpeed("adam", "float32", tensors=100.0, cases=250.0, batches=1500.0)
    assert oracle_speed.table([measured]).endswith("| adam | float32 | 100 | 250 | 1,500 | 15.0 | 6.0 |\n")


def test_elements_are_in_the_order_of_the_array_whatever_their_order_in_memory() -> None:
    (case,) = short_cases("momentum", "float32", 1, steps=1)
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    arrays = [whole, whole.T, np.asfortranarray(whole), whole[:, ::2], whole[::-1], whole[0, 0]]
    cases = [case.replace(parameters=(x,), grads=((2 * x,),), learning_rates=(0.5,)) for x in (*arrays, *arrays[1:])]
    cases += [case.replace(parameters=(x, x), grads=((x, x),), learning_rates=(0.5,)) for x in arrays]
    pairs = together_and_alone([Asked(each) for each in cases])
    assert len(pairs) == len(cases)
    assert_same_bits(pairs)


def test_a_tensor_that_misses_gradients_keeps_its_bits_until_the_next() -> None:
    (case,) = short_cases("momentum", "float32", 1, steps=1)
    ones, hyper = np.ones(3, np.float32), case.hyper | {"momentum": 0.5}
    patterns = [(0, 1), (1, 2), (0, 2), (0, 1, 2, 3), (), (3,)]
    cases = [
        case.replace(
            hyper=hyper,
            parameters=(ones, 2 * ones),
            grads=tuple((None if step in missing else ones * (step + 1), ones) for step in range(4)),
            learning_rates=(0.5, 0.25, 0.125, 0.0625),
        )
        for missing in patterns
    ]
    pairs = together_and_alone([Asked(each) for each in cases])
    assert len(pairs) == len(patterns)
    assert_same_bits(pairs)
    for (made, _), missing in zip(pairs, patterns, strict=True):
        rows = [1.0, *made.value[:, 0].tolist()]
        assert [after == before for before, after in pairwise(rows)] == [step in missing for step in range(4)]
