"""Settings of hyperparameters in which options meet."""

from __future__ import annotations

from itertools import combinations

import pytest

from optimetry.conformance.cases.options import option_settings
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=lambda subject: subject.name)
def test_the_defaults_come_first_and_every_two_options_meet_in_all_four_ways(subject) -> None:  # type: ignore[no-untyped-def]
    settings = option_settings(subject)
    typical = settings[0]
    assert typical == subject.declaration.typical().hyper()
    assert 2 <= len(settings) <= 6
    switched = [{name for name, value in setting.items() if value != typical[name]} for setting in settings]
    for one, other in combinations(set().union(*switched), 2):
        assert len({(one in names, other in names) for names in switched}) == 4
    for setting in settings:
        subject.of(setting)


def test_an_option_is_a_flag_or_a_number_that_is_switched_on_or_off() -> None:
    settings = option_settings(subject_named("torch.muon"))
    values = {name: {setting[name] for setting in settings} for name in settings[0]}
    assert {name: found for name, found in values.items() if len(found) == 2} == {
        "nesterov": {False, True},
        "match_rms_adamw": {False, True},
        "weight_decay": {0.1, 0.0},
        "momentum": {0.95, 0.0},
        "c": {2.0315, 0.0},
    }
    assert values["ns_steps"] == {5}
    assert {setting["weight_decay"] for setting in option_settings(subject_named("torch.sgd"))} == {0.0, 0.01}


def test_a_subject_without_options_has_its_defaults_twice() -> None:
    assert option_settings(subject_named("sgd")) == [{}, {}]
    assert option_settings(subject_named("clip_by_norm")) == [{"clip_norm": 1.0}] * 2
