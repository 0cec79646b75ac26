"""Benchmarks time what the frameworks' tables offer."""

from functools import wraps
from importlib.util import find_spec

import numpy as np
import pytest

from optimetry.accelerated.benchmarks.measuring import hyper_of
from optimetry.conformance.harness.python_harness import engines_of
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.peers import names, peers, peers_on_cuda, versions
from optimetry.conformance.targets.table import FRAMEWORKS
from optimetry.reference.errors import TargetError
from optimetry.reference.rules import RULES, rule_named


@pytest.fixture(autouse=True)
def jax_as_before():
    """A benchmark switches 64-bit types on for its whole process."""
    if not find_spec("jax"):
        yield
        return
    import jax

    before = jax.config.jax_enable_x64
    yield
    jax.config.update("jax_enable_x64", before)


def test_frameworks_take_part_in_the_order_of_their_table():
    assert names()
    assert names() == [name for name in FRAMEWORKS if name in names()]


@pytest.mark.parametrize("name", names())
def test_every_rule_that_a_framework_offers_is_timed(name):
    try:
        engines = engines_of(load_target(name))
    except TargetError as error:
        pytest.skip(str(error))
    parameters, grads = ([np.ones(size, np.float32) for size in (3, 2)] for _ in range(2))
    for rule in RULES:
        hyper = rule_named(rule).of(hyper_of(rule)).hyper()
        steps = {peer: step for peer, step in peers(rule, hyper, parameters, grads, 0.1) if peer.startswith(name)}
        assert bool(steps) == any(engine.unsupported(rule, hyper, "float32") is None for engine in engines), rule
        for step in steps.values():
            step()
    assert all(array.tolist() == [1.0] * array.size for array in parameters)  # each has arrays of its own


def test_a_state_that_keeps_the_parameters_is_timed():
    """Optax' MADGRAD begins with the same arrays, and jit takes no array as two arguments that it may write to."""
    pytest.importorskip("optax")
    parameters, grads = ([np.ones(size, np.float32) for size in (3, 2)] for _ in range(2))
    hyper = rule_named("papers.madgrad").of(hyper_of("papers.madgrad")).hyper()
    ((_, step),) = [peer for peer in peers("papers.madgrad", hyper, parameters, grads, 0.1) if peer[0] == "optax jit"]
    step()
    step()


def test_what_torch_refuses_in_every_implementation_is_not_timed():
    pytest.importorskip("torch")
    parameters, grads = [np.ones(2, np.float32)], [np.ones(2, np.float32)]
    hyper = rule_named("momentum").of({"momentum": 0.0, "use_nesterov": True}).hyper()
    assert [peer for peer, _ in peers("momentum", hyper, parameters, grads, 0.1) if peer.startswith("torch")] == []
    hyper = rule_named("momentum").of({"momentum": 0.5, "use_nesterov": True}).hyper()
    assert [peer for peer, _ in peers("momentum", hyper, parameters, grads, 0.1) if peer.startswith("torch")] != []


def test_versions_are_of_what_is_installed():
    installed = {FRAMEWORKS[name].distribution for name in names() if find_spec(FRAMEWORKS[name].module)}
    assert installed <= set(versions())


def on_cuda(rule):
    return [name for name, _ in peers_on_cuda(rule, rule_named(rule).of({}).hyper(), "float32", 2, (3,), 0.1)]


def test_torch_on_a_device_is_its_fastest_implementation_that_works_there(monkeypatch):
    torch = pytest.importorskip("torch", reason="the extra torch is not installed")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert on_cuda("adam") == []
    randn, made = torch.randn, torch.optim.Adam.__init__
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "randn", lambda shape, device, dtype: randn(shape, dtype=dtype))
    assert on_cuda("adam") == ["torch fused"]
    assert on_cuda("adamax") == ["torch foreach"]
    assert on_cuda("lamb") == []

    @wraps(made)
    def refusing(self, *arguments, fused=None, **keywords):
        if fused:
            raise RuntimeError("on the processor alone")
        made(self, *arguments, **keywords)

    monkeypatch.setattr(torch.optim.Adam, "__init__", refusing)
    assert on_cuda("adam") == ["torch foreach"]
