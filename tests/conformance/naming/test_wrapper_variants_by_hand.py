"""What declared variants of wrappers compute, against figures worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.families.averages import (
    CorrectedByPower,
    CorrectedWithEpsilon,
    CurrentWindow,
    NotCorrected,
    RoundedAverage,
    StartsAtFirst,
    StartsAtInitial,
    StartsAtInitialScheduledFromOne,
)
from optimetry.conformance.naming.families.clips import (
    GlobalNormWithEpsilon,
    GlobalNormWithSmallEpsilon,
    RoundedClipByGlobalNorm,
    RoundedClipByNorm,
    ScaledToOne,
)
from optimetry.conformance.naming.families.compression import Uncorrected, Unmasked, VelocitySelects, rounded_up
from optimetry.reference.averaging.exponential import Decayed


def fed(wrapper: Any, *values: float, initial: float = 0.0) -> list[float]:
    """What an average of one number gives after each update."""
    state, outputs = None, []
    for value in values:
        out, state = wrapper.feed([np.array([value])], [np.array([initial])], state)
        outputs.append(float(out[0][0]))
    return outputs


def test_an_average_may_start_at_the_first_value() -> None:
    assert fed(StartsAtFirst(decay=0.5), 4.0, 8.0, 2.0) == [4.0, 6.0, 4.0]


def test_an_average_that_starts_at_the_first_value_follows_the_schedule() -> None:
    decays = [2 / 11, 3 / 12]  # (1 + s) / (10 + s) in updates 1 and 2
    second = decays[0] * 4.0 + (1 - decays[0]) * 8.0
    third = decays[1] * second + (1 - decays[1]) * 2.0
    assert fed(StartsAtFirst(decay=0.5, scheduled=True), 4.0, 8.0, 2.0) == pytest.approx([4.0, second, third])


def test_an_average_may_start_at_the_parameters_before_training() -> None:
    assert fed(StartsAtInitial(decay=0.5), 4.0, 8.0, initial=2.0) == [3.0, 5.5]
    second = (2 / 11) * (0.1 * 2.0 + 0.9 * 4.0) + (9 / 11) * 8.0
    assert fed(StartsAtInitial(decay=0.5, scheduled=True), 4.0, 8.0, initial=2.0) == pytest.approx([3.8, second])


def test_a_schedule_may_number_updates_from_one() -> None:
    first = (2 / 11) * 2.0 + (9 / 11) * 4.0
    second = (3 / 12) * first + (9 / 12) * 8.0
    expected = pytest.approx([first, second])
    assert fed(StartsAtInitialScheduledFromOne(decay=0.5, scheduled=True), 4.0, 8.0, initial=2.0) == expected
    assert fed(StartsAtInitialScheduledFromOne(decay=0.5), 4.0, 8.0, initial=2.0) == [3.0, 5.5]


def test_an_average_may_stay_biased_towards_zero() -> None:
    assert fed(NotCorrected(decay=0.5), 4.0, 8.0) == [2.0, 5.0]


def test_an_average_may_be_corrected_by_a_power_of_its_last_decay() -> None:
    assert fed(CorrectedByPower(decay=0.5), 4.0, 8.0) == [4.0, 5.0 / 0.75]
    biased = (2 / 11) * 0.9 * 4.0 + (9 / 11) * 8.0
    expected = [4.0, biased / (1 - (2 / 11) ** 2)]
    assert fed(CorrectedByPower(decay=0.5, scheduled=True), 4.0, 8.0) == pytest.approx(expected)


def test_the_correction_of_an_average_may_hold_an_epsilon() -> None:
    shares = 1 - 0.999999 * 0.5, 1 - 0.999999 * 0.25
    outputs = fed(CorrectedWithEpsilon(decay=0.5), 4.0, 8.0)
    assert outputs == pytest.approx([2.0 / shares[0], 5.0 / shares[1]], rel=1e-15)
    assert 3e-6 < 4.0 - outputs[0] < 5e-6


def test_a_mean_may_be_over_the_current_window_alone() -> None:
    window = CurrentWindow(average_window_rate=1.0, min_average_window=10, max_average_window=10)
    assert fed(window, 4.0, 8.0, 3.0) == [4.0, 6.0, 5.0]


def compressed(wrapper: Any, *gradients: list[float]) -> list[list[float]]:
    """The messages of one tensor."""
    state, outputs = None, []
    for gradient in gradients:
        out, state = wrapper.feed([np.array(gradient)], [np.zeros(len(gradient))], state)
        outputs.append(out[0].tolist())
    return outputs


def test_a_compression_may_leave_momentum_to_others() -> None:
    messages = compressed(Uncorrected(momentum=0.5, sparsity=0.5), [4.0, 1.0], [2.0, 3.0])
    assert messages == [[4.0, 0.0], [0.0, 4.0]]


def test_a_compression_may_keep_the_momentum_of_what_it_sends() -> None:
    messages = compressed(Unmasked(momentum=0.5, sparsity=0.5), [4.0, 1.0], [2.0, 1.0])
    assert messages == [[4.0, 0.0], [4.0, 0.0]]  # u = 0.5 * 4 + 2, where the documented u is 2


@pytest.mark.parametrize(("size", "sparsity", "count"), [(10, 0.75, 3), (10, 0.5, 5), (3, 0.0, 3), (2, 0.999, 1)])
def test_a_count_of_entries_may_be_rounded_up(size: int, sparsity: float, count: int) -> None:
    assert rounded_up(size, sparsity) == count


def test_a_compression_may_choose_by_velocity() -> None:
    waiting = compressed(VelocitySelects(momentum=0.0, sparsity=0.5), [4.0, 3.0], [2.0, 1.0])
    assert waiting[1] == [2.0, 0.0]  # |v| is 2 and 4, |u| is 2 and 1


def test_an_average_formed_as_increments_is_rounded_as_increments() -> None:
    rounded = RoundedAverage(decay=0.1, incremental_moments=True)
    _, (updates, held) = rounded.feed([np.array([1e-9])], [], (1, Decayed(0.1, [np.array([1e3])])))
    assert (updates, held.biased[0].tolist()) == (2, [1e3 + (1 - 0.1) * (1e-9 - 1e3)])
    assert held.biased[0].tolist() != [0.1 * 1e3 + (1 - 0.1) * 1e-9]


def test_a_first_value_is_an_increment_where_averages_are() -> None:
    """Diffusers' first decay is 0, also formed as an increment: a value far smaller than the start is lost."""
    assert fed(StartsAtFirst(decay=0.5), 0.1, initial=1e20) == [0.1]
    assert fed(StartsAtFirst(decay=0.5, incremental_moments=True), 0.1, initial=1e20) == [0.0]


def test_a_clip_may_scale_to_a_norm_of_1_whatever_its_limit_is() -> None:
    grads = [np.array([30.0, 40.0]), np.array([3.0, 4.0])]
    (long, short), _ = ScaledToOne(clip_norm=10.0).feed(grads, [], None)
    assert (long.tolist(), short.tolist()) == ([0.6, 0.8], [3.0, 4.0])


@pytest.mark.parametrize(("kind", "epsilon"), [(GlobalNormWithEpsilon, 1e-6), (GlobalNormWithSmallEpsilon, 1e-8)])
def test_a_number_is_added_to_the_global_norm(kind: Any, epsilon: float) -> None:
    clipped, _ = kind(clip_norm=0.001).feed([np.array([0.003]), np.array([0.004])], [], None)
    assert [x.item() for x in clipped] == pytest.approx(
        [x * 0.001 / (0.005 + epsilon) for x in (0.003, 0.004)], rel=1e-15
    )


def in_float32(number: float) -> float:
    return float(np.float32(number))


@pytest.mark.parametrize(
    ("kind", "factor"),
    [(RoundedClipByNorm, 0.07 / in_float32(0.1)), (RoundedClipByGlobalNorm, in_float32(0.07 / in_float32(0.1)))],
)
def test_a_norm_may_pass_through_float32(kind: Any, factor: float) -> None:
    """Of 0.1 alone, the norm is 0.1; the clip by the global norm rounds the factor, too."""
    (clipped,), _ = kind(clip_norm=0.07, float32_norm=True).feed([np.array([0.1])], [], None)
    assert clipped.tolist() == pytest.approx([0.1 * factor], rel=1e-15)
    assert abs(clipped[0] - 0.07) > 1e-11
    (short,), _ = kind(clip_norm=0.25, float32_norm=True).feed([np.array([0.1])], [], None)
    assert short.tolist() == [0.1]
