"""Six small programs give the losses that real fluid 1.8.5 gave, as closely as their own rounding allows.

How closely that is, is measured, not set: each program is run again with every operator's result, and every number of
the rule, which fluid holds in float32, moved by one unit in its last place or left, at random. Real fluid, whose sums
have another order, may differ from the plain run by twice what those runs do (the slack for regrouped arithmetic).
"""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from optimetry import fluid
from optimetry.reference.accumulators import Accumulators
from optimetry.reference.programs.eager import Tensor
from optimetry.reference.programs.program import Operator
from tests.reference import six_programs
from tests.reference.golden_bound import variants
from tests.reference.small import fresh

REAL = json.loads((Path(__file__).parent / "golden" / "losses185.json").read_text(encoding="utf-8"))
RUNS = 24


def real(name):
    """The losses of real fluid, one after the other."""
    words = [int(word, 16) for step in REAL["losses"][name] for word in step]
    return np.array(words, np.uint32).view(np.float32)


def ours(name):
    with fresh(), fluid.scope_guard(fluid.Scope()):
        return np.array([value for step in six_programs.losses(fluid, name) for value in step], np.float32)


def moved(values, rng):
    """Each value one unit in its last place up, down, or left."""
    way = rng.choice(np.array([-np.inf, np.nan, np.inf], np.float32), np.shape(values))
    return np.where(np.isnan(way) | (values == 0), values, np.nextafter(values, way))


class Number(float):
    """A number of a rule that is held, raised to a power and subtracted in float32, each time perhaps a unit off."""

    def __new__(cls, value, rng):
        made = super().__new__(cls, moved(np.float32(value), rng))
        made.rng = rng
        return made

    def __pow__(self, exponent):
        return Number(float(self) ** exponent, self.rng)

    def __rsub__(self, other):
        return Number(other - float(self), self.rng)


def spread(name, plain, monkeypatch):
    """How far the losses are from the plain ones, at most, where every operator's result may be a unit off."""
    rng = np.random.default_rng(0)
    run, stepped, made = Operator.run, Accumulators.stepped, Tensor.__init__

    def is_float32(value):
        return isinstance(value, np.ndarray) and value.dtype == np.float32

    def run_moved(self, values, home=None):
        return tuple(moved(value, rng) if is_float32(value) else value for value in run(self, values, home))

    def stepped_moved(self, parameter, value, entry, grad, lr, rule=None):
        held = (rule or self.rule).lifted(lambda name, number: Number(number, rng))
        new, after = stepped(self, parameter, value, entry, grad, lr, held)
        return moved(new, rng), after

    def made_moved(self, *arguments, **keywords):
        made(self, *arguments, **keywords)
        self.value = moved(self.value, rng) if self._depends and is_float32(self.value) else self.value

    with monkeypatch.context() as patched:
        patched.setattr(Operator, "run", run_moved)
        patched.setattr(Accumulators, "stepped", stepped_moved)
        patched.setattr(Tensor, "__init__", made_moved)
        return np.max([np.abs(ours(name).astype(np.float64) - plain) for _ in range(RUNS)], axis=0)


def agrees(name, monkeypatch):
    plain = ours(name).astype(np.float64)
    return np.all(np.abs(real(name) - plain) <= 2 * spread(name, plain, monkeypatch))


@pytest.mark.parametrize("name", [name for name in six_programs.PROGRAMS if name != "lazy_adam"])
def test_the_losses_are_those_of_real_fluid(name, monkeypatch):
    assert len(ours(name)) == len(real(name))
    assert agrees(name, monkeypatch)


def test_the_sparse_adam_of_fluid_is_a_variant(monkeypatch):
    """Its bias correction counts one step more on the CPU, which the dense one does not."""
    assert not agrees("lazy_adam", monkeypatch)
    variant = SimpleNamespace(of=lambda hyper: variants("adam", hyper)["count_ahead"])
    monkeypatch.setattr("optimetry.reference.fluid.rule_named", lambda name: variant)
    assert agrees("lazy_adam", monkeypatch)


@pytest.mark.parametrize(
    ("name", "replaced", "by"),
    [
        ("regression", "learning_rate=0.125", "learning_rate=0.12501"),
        ("mlp", "L2Decay(0.01)", "L2Decay(0.0101)"),
        ("mlp", "GlobalNorm(0.5)", "GlobalNorm(0.501)"),
        ("averages", "ExponentialMovingAverage(0.75)", "ExponentialMovingAverage(0.7501)"),
        ("averages", "max_average_window=4", "max_average_window=3"),
        ("two_losses", "learning_rate=0.05).minimize(right)", "learning_rate=0.0501).minimize(right)"),
        ("embedding", "learning_rate=0.1", "learning_rate=0.1001"),
    ],
)
def test_another_number_is_noticed(name, replaced, by, monkeypatch):
    source = Path(six_programs.__file__).read_text(encoding="utf-8")
    assert source.count(replaced) >= 1
    names = {"__name__": "changed"}
    exec(compile(source.replace(replaced, by), "changed", "exec"), names)
    monkeypatch.setattr(six_programs, "PROGRAMS", names["PROGRAMS"])
    assert not agrees(name, monkeypatch)


def test_recomputation_has_the_bits_of_plain_training(monkeypatch):
    wrapped = ours("recompute")
    monkeypatch.setattr(fluid.optimizer.RecomputeOptimizer, "_set_checkpoints", lambda self, checkpoints: None)
    monkeypatch.setattr(
        fluid.optimizer.RecomputeOptimizer, "minimize", lambda self, loss: self._optimizer.minimize(loss)
    )
    np.testing.assert_array_equal(ours("recompute"), wrapped)
