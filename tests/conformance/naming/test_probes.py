"""Probes: they are short, they separate every two classes, and whoever computes a class is named by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.families import FAMILIES
from optimetry.conformance.naming.known import points, probe_search, probes
from optimetry.conformance.naming.known.points import classes_of, separations
from optimetry.conformance.naming.known.probe_search import (
    SETTINGS,
    WITNESSES,
    ProbeSearch,
    found_probes,
    pool,
    telling_cases,
    two_digits,
)
from optimetry.conformance.naming.known.probes import APART, Probed, oracles_of, probes_of
from optimetry.conformance.numerics.agreement import LARGEST_SHARE, SLACK, Expected
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.selftest.instead import computing
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.protocol import Hyper
from optimetry.conformance.targets.session import Guard

DTYPES = ("float32", "float64")


def stacked(optimizer: str, dtype: str) -> Expected:
    """The expected values of every class in all probes, shape (classes, numbers)."""
    rows = [
        [np.concatenate([getattr(x, part).reshape(-1) for x in oracles]) for oracles in oracles_of(optimizer, dtype)]
        for part in ("value", "bound")
    ]
    return Expected(np.stack(rows[0]), np.stack(rows[1]), None)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FAMILIES)
def test_every_two_classes_are_ten_times_the_slack_apart(name: str, dtype: str) -> None:
    oracle, classes = stacked(name, dtype), classes_of(name)
    for i in range(len(classes) - 1):
        first, others = (Expected(oracle.value[k], oracle.bound[k], None) for k in (i, slice(i + 1, None)))
        apart = np.max(separations(first, others), axis=1)
        nearest = classes[i + 1 + int(np.argmin(apart))]
        assert apart.min() >= APART == 10 * SLACK, f"{classes[i].name} and {nearest.name}: {apart.min():.3g}"


@pytest.mark.parametrize(
    ("name", "dtype"), [*((name, "float32") for name in FAMILIES), ("adagrad", "float64"), ("lamb", "float64")]
)
def test_whoever_computes_a_class_is_named_and_no_other_is_near(name: str, dtype: str) -> None:
    classes = classes_of(name)
    for point_class in classes[:: max(len(classes) // 8, 1)]:  # that all are apart is shown above
        probed = Probed.of(computing(point_class), name, dtype, Guard())
        (nearest, agreement), *others = probed.agreements
        assert nearest is point_class
        assert agreement.share <= SLACK
        assert all(other.share >= APART for _, other in others)
        assert probed.classes() == [point_class]
        assert (probed.classes() is probed.classes(), probed.agreements is probed.agreements) == (True, True)


def test_a_number_where_a_class_has_none_is_as_far_as_can_be() -> None:
    shares = {
        point_class.name: x.share for point_class, x in Probed.of(NumpyTarget(), "adam", "float32", Guard()).agreements
    }
    assert shares["count_behind"] == LARGEST_SHARE
    assert shares["documented"] <= 1


@pytest.mark.parametrize("name", FAMILIES)
def test_probes_are_short_and_of_plain_numbers(name: str) -> None:
    probes = probes_of(name, "float32")
    assert 1 <= len(probes) <= 3
    assert sum(case.size for case in probes) <= 36
    for case in probes:
        assert case.hyper == subject_named(name).of(case.hyper).hyper(), "adapters are given every hyperparameter"
        assert len(case.grads) == len(case.learning_rates) == (7 if name.endswith(".radam") else 4)  # rho grows to 5
        assert len(set(case.learning_rates)) > 1, "a rule that holds the rate elsewhere shows when it changes"
        for array in (*case.parameters, *(grad for step in case.grads for grad in step)):
            assert array is not None
            assert not np.any((array != 0) & (np.abs(array) < FORMATS["float32"].smallest_normal))
            wide = array.astype(np.float64)
            assert np.allclose(wide, two_digits(wide.reshape(-1)).reshape(wide.shape), rtol=1e-6, atol=0)


@pytest.mark.parametrize("name", FAMILIES)
def test_both_dtypes_have_the_same_probes(name: str) -> None:
    for narrow, wide in zip(probes_of(name, "float32"), probes_of(name, "float64"), strict=True):
        assert (narrow.hyper, narrow.learning_rates) == (wide.hyper, wide.learning_rates)
        for a, b in zip(narrow.parameters, wide.parameters, strict=True):
            assert np.array_equal(a, b.astype(np.float32))


SLOW = ("adam", "lamb", "lars_momentum", "torch.adafactor", "torch.muon")
"""Families whose search takes up to a minute: what their stored probes tell apart is tested all the same."""


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in SLOW])
def test_the_search_finds_the_stored_probes_again(name: str) -> None:
    file = Path(points.__file__).with_name("probes.json")
    assert found_probes(name) == json.loads(file.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_pool_has_arrays_of_its_dtype_with_two_digits(dtype: str) -> None:
    case = pool("lamb", 0, dtype)
    assert {array.dtype.name for array in (*case.parameters, *case.grads[0], *case.grads[-1])} == {dtype}
    assert {param.shape for param in case.parameters} == {(3,), (1, 3)}, "norms need several elements"
    assert pool("adagrad", 0, dtype).parameters[0].shape == (1,)


def test_numbers_of_two_digits_have_no_negative_zero() -> None:
    rounded = two_digits([-0.0, 0.0, 0.1234, -98765.0])
    assert rounded.tolist() == [0.0, 0.0, 0.12, -99000.0]
    assert not np.signbit(rounded[:2]).any()


def test_classes_are_told_apart_by_pools_and_by_short_drawn_cases() -> None:
    cases = list(telling_cases("adagrad", drawn=7))
    pools, drawn = len(SETTINGS["adagrad"]), cases[len(SETTINGS["adagrad"]) :]
    assert [len(case.parameters) for case in cases[:pools]] == [setting.pool for setting in SETTINGS["adagrad"]]
    assert len(drawn) == 7
    assert max(len(case.grads) for case in drawn) == 5
    assert {case.dtype for case in cases} == {"float64"}


def test_no_name_hangs_on_a_single_tensor() -> None:
    search = ProbeSearch("momentum", classes_of("momentum"))
    apart = np.concatenate(search.apart)
    numbers = [len(pool("momentum", number, "float32").parameters) for number in range(len(SETTINGS["momentum"]))]
    rows = [sum(numbers[:number]) + tensor for number, tensor in search.chosen()]
    assert np.all(np.count_nonzero(apart[rows] >= APART, axis=0) >= WITNESSES)


def test_pairs_that_cannot_be_separated_are_named() -> None:
    point_class = classes_of("asgd")[0]
    with pytest.raises(ValueError, match="asgd: documented and documented are 0 bounds apart at most"):
        ProbeSearch("asgd", (point_class, point_class)).chosen()


@pytest.mark.parametrize("name", [name for name in SUBJECTS if name not in FAMILIES])
def test_a_subject_without_a_family_has_no_probes(name: str) -> None:
    probed = Probed.of(NumpyTarget(), name, "float32", Guard())
    assert (probes_of(name, "float32"), probed.runs, probed.agreements, probed.classes()) == ((), (), [], [])


def test_a_probe_that_is_declined_is_left_out() -> None:
    class NoNesterov(NumpyTarget):
        def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
            return "no nesterov" if hyper["use_nesterov"] else None

    probed = Probed.of(NoNesterov(), "momentum", "float32", Guard())
    assert len(probed.runs) == 1
    assert {point_class.name for point_class in probed.classes()} >= {"documented", "nesterov_minus"}


def test_separation_counts_a_lone_number_and_nothing_that_is_vacuous() -> None:
    def oracle(*pairs: Any) -> Expected:
        value, bound = np.array(pairs).T
        return Expected(value, bound, None)

    a = oracle((1.0, 0.1), (1.0, 0.1), (np.nan, np.nan), (1.0, np.inf), (1.0, 0.0))
    b = oracle((2.0, 0.1), (np.inf, np.nan), (np.nan, 0.0), (5.0, 0.1), (1.0, 0.0))
    assert separations(a, b).tolist() == pytest.approx([5.0, np.inf, 0.0, 0.0, 0.0])
    assert separations(b, a).tolist() == pytest.approx([5.0, np.inf, 0.0, 0.0, 0.0])


def test_the_search_writes_what_is_stored_beside_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two small families here; what it finds of the others is held above."""
    few = {name: SETTINGS[name] for name in ("adagrad", "asgd")}
    monkeypatch.setattr(probe_search, "SETTINGS", few)
    monkeypatch.setattr(probe_search.points, "__file__", str(tmp_path / "points.py"))
    probe_search.main(["asgd"])
    assert list(json.loads((tmp_path / "probes.json").read_text(encoding="utf-8"))) == ["asgd"]
    probe_search.main([])
    for name in ("classes.json", "probes.json"):
        written = json.loads((tmp_path / name).read_text(encoding="utf-8"))
        kept = json.loads(Path(probes.__file__).with_name(name).read_text(encoding="utf-8"))
        assert written == {optimizer: kept[optimizer] for optimizer in few}
        assert (tmp_path / name).read_text(encoding="utf-8") == json.dumps(written, indent=1) + "\n"
    assert "adagrad: 8 points, 7 classes, " in capsys.readouterr().out
