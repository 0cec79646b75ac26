"""`optimetry bench`: what is timed beside what, and what is refused. No time is asserted."""

from __future__ import annotations

import pytest

from optimetry.conformance.commands.bench import size_of, table
from optimetry.reference.errors import UsageError
from optimetry.reports.results import read
from optimetry.reports.speed import Speed

pytestmark = pytest.mark.usefixtures("miniatures")

QUICK = ("--optimizer", "sgd", "--size", "1e2", "--seconds", "0.001")


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr("optimetry.accelerated.benchmarks.rounds.PAUSE", 0)


def test_a_target_of_ones_own_is_timed_beside_ours_and_memory(optimetry, tmp_path):
    status, out, err = optimetry("bench", "miniatures:Correct", *QUICK, "--out", str(tmp_path))
    assert (status, err) == (0, "")
    assert out.startswith("miniature 1.0 takes and returns arrays, which is part of its time.\n")
    results = read(tmp_path / "results.jsonl")
    assert (results.header.target, results.header.effort, results.verdicts) == ("miniature", "none", [])
    assert {row.contender for row in results.speed} == {"touch", "numba", "numpy", "miniature"}
    for row in results.speed:
        assert row.about == ("sgd", "float32", 1, 100)
        assert row.nanoseconds > 0
        assert row.bytes == 12
    assert "accelerated numba" in out
    assert f"written: {tmp_path / 'results.jsonl'}" in out


def test_a_target_that_is_called_like_another_contender_is_told_from_it(optimetry):
    specs = ("optimetry.conformance.targets.numpy.target:NumpyTarget", "miniatures:Correct", "miniatures:TwoEngines")
    _, out, _ = optimetry("bench", *specs, *QUICK)
    for name in ("accelerated numpy", f"numpy of {specs[0]}", "miniature", "miniature plain"):
        assert out.count(f"  {name}  ") == 1, name


def test_a_framework_steps_in_place(optimetry):
    pytest.importorskip("torch")
    status, out, _ = optimetry("bench", "torch", *QUICK, "--book", "torch")
    assert status == 0
    assert " steps on arrays of its own." in out
    assert "torch.sgd" in out
    assert "torch fused" in out


def test_a_class_of_ones_own_steps_as_the_framework_does(optimetry):
    """On tensors of its own; a wrong ``--with`` is told before anything is timed."""
    pytest.importorskip("torch")
    given = ("--as", "adam", "--with", "decays=beta1,beta2", "tiny=epsilon", "--size", "1e2", "--seconds", "0.001")
    status, out, err = optimetry("bench", "torch:classes_for_torch.HonestAdam", "torch", *given, "--with", "names=1")
    assert (status, out) == (2, "")
    assert "names" in err
    status, out, _ = optimetry("bench", "torch:classes_for_torch.HonestAdam", "torch", *given)
    assert status == 0
    assert out.startswith("adam: learning_rate = learning_rate, decays = (beta1, beta2), tiny = epsilon\n\n")
    assert out.count(" steps on arrays of its own.") == 2
    assert out.count("  classes_for_torch.HonestAdam single  ") == 1
    assert out.count("  torch fused  ") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("torch", "--as", "adam"), "--as adam: must be left out, or a target be an optimizer of yours"),
        (("miniatures:Correct", "--with", "a=1"), "--with a=1: needs --as"),
        (
            ("numpy:miniatures.Correct", "--as", "adam", "--optimizer", "sgd"),
            "--optimizer sgd: must be left out, --as adam",
        ),
        (("numpy:miniatures.Correct", "--as", "torch.muon"), "must be a rule that our backend has a kernel for"),
        (("nupmy:miniatures.Correct", "--as", "adam"), "did you mean numpy:miniatures.Correct?"),
    ],
)
def test_what_names_no_optimizer_of_ones_own_is_refused(refused, arguments, says):
    assert says in refused("bench", *arguments)


@pytest.mark.parametrize(
    ("name", "says"), [("WrongShape", "returned parameter 0 as "), ("Leaves", "raised SystemExit: 0")]
)
def test_what_breaks_the_protocol_or_ends_the_process_is_not_timed(optimetry, name, says):
    status, out, err = optimetry("bench", f"miniatures:{name}", *QUICK)
    assert (status, out) == (2, "")
    assert says in err


def test_what_is_not_offered_is_no_row(optimetry, monkeypatch):
    monkeypatch.setattr("miniatures.TwoEngines.unsupported", lambda *asked: "not yet")
    status, out, _ = optimetry("bench", "miniatures:TwoEngines", *QUICK)
    assert status == 2
    assert "none of the rules asked for is offered" in out


def test_a_target_is_timed_in_the_dtypes_that_it_offers_with_the_hyperparameters_that_it_can_have(
    optimetry, monkeypatch
):
    monkeypatch.setattr("miniatures.Correct.dtypes", ("float64",), raising=False)
    monkeypatch.setattr("miniatures.Correct.pinned", {"momentum": {"use_nesterov": True}}, raising=False)
    started = []
    monkeypatch.setattr("miniatures.Correct.unsupported", lambda self, *asked: started.append(asked[:2]), raising=False)
    _, out, _ = optimetry("bench", "miniatures:Correct", *QUICK)
    assert "none of the rules asked for is offered" in out
    asked = ("--optimizer", "momentum", "--dtype", "float64", *QUICK[2:])
    status, _, _ = optimetry("bench", "miniatures:Correct", *asked)
    assert status == 0
    assert {(rule, hyper["use_nesterov"]) for rule, hyper in started} == {("momentum", True)}


@pytest.mark.parametrize("name", ["l1_decay", "torch.muon"])
def test_what_cannot_be_timed_is_refused(refused, name):
    message = refused("bench", "no.such:target", *QUICK, "--optimizer", name)
    assert f"--optimizer {name}: must be a rule that our backend has a kernel for" in message


@pytest.mark.parametrize("text", ["0", "1.5", "-1", "1e", "e6", "1e99", "many"])
def test_a_size_that_is_none(text):
    with pytest.raises(UsageError, match="--size = "):
        size_of(text)


def test_sizes():
    assert [size_of(text) for text in ("7", "1e6", "25e2")] == [7, 1_000_000, 2500]


def test_a_table_compares_with_the_limit_and_with_ours():
    def row(contender, nanoseconds, share):
        size = {"rule": "sgd", "dtype": "float32", "tensors": 2, "elements": 1000}
        figures = {"nanoseconds": nanoseconds, "spread": 0.02, "bytes": 12, "gigabytes_per_second": 12 / nanoseconds}
        return Speed(contender=contender, **size, **figures, touch_share=share, peer=None, peer_ratio=None)

    text = table([row("mine", 4.0, 0.25), row("numba", 2.0, 0.5), row("touch", 1.0, 1.0)])
    lines = [line.split() for line in text.splitlines()[2:]]
    assert [line[5:] for line in lines] == [
        ["touch", "1", "2%", "12", "1.00", "2.00"],
        ["accelerated", "numba", "2", "2%", "6", "0.50", "1.00"],
        ["mine", "4", "2%", "3", "0.25", "0.50"],
    ]
