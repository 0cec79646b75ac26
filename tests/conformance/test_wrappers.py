"""Wrappers under judgement: faults are convicted, each by what is named; honest re-implementations conform."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.cli import main
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.selftest.faults import outcome
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.wrappers import WRAPPERS, wrapper_named
from optimetry.conformance.subjects.wrappers.compression import DGCCompress
from optimetry.conformance.subjects.wrappers.wrapper import VARIANTS, Variant, Wrapper
from optimetry.conformance.targets.loading import load_target
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.numpy.wrappers import AverageFeed, GradientFeed, started
from optimetry.conformance.targets.protocol import engines_of
from optimetry.conformance.targets.session import Guard
from optimetry.conformance.wrappers.case import drawn_cases
from optimetry.conformance.wrappers.faults import FAULTS, FaultyTarget, WrapperFault
from optimetry.conformance.wrappers.judge import wrapper_examinations
from optimetry.conformance.wrappers.laws import LAWS
from optimetry.conformance.wrappers.oracle import expected
from optimetry.reference.errors import UnknownOptimizerError

SOME = Effort("quick", 60, 3)
NAMED = [(name, variant) for name, variants in VARIANTS.items() for variant in variants]


class Instead(NumpyTarget):
    """The reference, but for one wrapper."""

    def __init__(self, wrapper: str, start: Callable[[Wrapper, Sequence[Any]], Any]) -> None:
        self.wrapper, self.begin = wrapper, start

    def start_wrapper(self, wrapper: str, hyper: Any, parameters: list[Any]) -> Any:
        return self.begin(wrapper_named(wrapper).of(hyper), parameters)


def verdict(target: Any, wrapper: str, dtype: str = "float32", effort: Effort = SOME) -> Any:
    (found,) = judge(engines_of(target), wrapper, dtype, effort=effort, seed=0)
    return found


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_the_reference_conforms(wrapper: str, dtype: str) -> None:
    found = verdict(load_target("numpy"), wrapper, dtype)
    assert (found.verdict, found.reason) == ("conforms", "")
    assert found.vacuous < 0.5


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_rejected_by_what_is_named(fault: WrapperFault) -> None:
    target = FaultyTarget(fault)
    (examination,) = wrapper_examinations(target, fault.wrapper, "float32", SOME, 0, Guard())
    for case in drawn_cases(subject_named(fault.wrapper), "float32", seed=0, count=SOME.law_cases):
        examination.try_laws(case)
    broken = examination.broken
    assert (broken[0].name if broken else "oracle") == fault.rejected_by
    assert outcome(verdict(FaultyTarget(fault), fault.wrapper)) == fault.outcome


def test_every_law_of_wrappers_convicts_a_fault_first() -> None:
    """The law that runs are independent is proven with the rules'."""
    assert {fault.rejected_by for fault in FAULTS} >= set(LAWS) - {"runs_are_independent"}


@pytest.mark.parametrize(("wrapper", "variant"), NAMED, ids=lambda x: getattr(x, "name", x))
def test_a_variant_is_named(wrapper: str, variant: Variant) -> None:
    dtype = variant.dtypes[0] if variant.dtypes else "float32"
    target = Instead(wrapper, lambda documented, parameters: started(variant.kind.of(documented.hyper()), parameters))
    assert outcome(verdict(target, wrapper, dtype)) == f"dialect:{variant.name}"


def factor_first(documented: Any, grads: Sequence[Any]) -> list[Any]:
    sizes = [np.sqrt(np.dot(grad.ravel(), grad.ravel())) for grad in grads]
    return [
        grad * np.minimum(grad.dtype.type(1), grad.dtype.type(documented.clip_norm) / size) if size else grad
        for grad, size in zip(grads, sizes, strict=True)
    ]


def joint_in_blocks(documented: Any, grads: Sequence[Any]) -> list[Any]:
    dtype = grads[0].dtype
    blocks = [np.sum(np.square(part)) for grad in grads for part in np.array_split(grad.ravel(), 3)]
    size = np.sqrt(np.sum(np.array(blocks[::-1], dtype)))
    factor = dtype.type(documented.clip_norm) / max(size, dtype.type(documented.clip_norm))
    return [grad * factor for grad in grads]


def in_float64(documented: Any, grads: Sequence[Any]) -> list[Any]:
    wide = [grad.astype(np.float64) for grad in grads]
    given, _ = documented.feed(wide, [np.zeros_like(grad) for grad in wide], None)
    return [np.asarray(array).astype(grad.dtype) for array, grad in zip(given, grads, strict=True)]


class Honest(GradientFeed):
    """A clip by another function."""

    function: Callable[..., list[Any]]

    def transform(self, grads: list[Any]) -> list[Any]:
        with np.errstate(all="ignore"):
            return [np.asarray(array) for array in type(self).function(self.wrapper, grads)]


class Wide(AverageFeed):
    """Everything in float64, rounded when it is applied."""

    def _held(self, array: Any) -> Any:
        return super()._held(array.astype(np.float64))


class WideCompression(GradientFeed):
    """Accumulated in float64, so that other entries may be the largest."""

    def transform(self, grads: list[Any]) -> list[Any]:
        given = super().transform([grad.astype(np.float64) for grad in grads])
        return [array.astype(grad.dtype) for array, grad in zip(given, grads, strict=True)]


class Regrouped(DGCCompress):
    """``v + m*u`` first, then the gradient."""

    def accumulated(self, grad: Any, state: Any) -> tuple[Any, Any]:
        u, v = super().accumulated(grad, state)
        kept = self.momentum * state.u
        return u, v if self.use_nesterov else (state.v + kept) + grad


def honest(function: Callable[..., list[Any]]) -> Any:
    return type("Honest_", (Honest,), {"function": staticmethod(function)})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("wrapper", "start"),
    [
        ("clip_by_norm", honest(factor_first)),
        ("clip_by_norm", honest(in_float64)),
        ("clip_by_global_norm", honest(joint_in_blocks)),
        ("clip_by_global_norm", honest(in_float64)),
        (
            "clip_by_value",
            honest(lambda documented, grads: [np.clip(g, documented.min, documented.max) for g in grads]),
        ),
        ("dgc_compress", WideCompression),
        ("dgc_compress", lambda documented, given: started(Regrouped.of(documented.hyper()), given)),
        ("exponential_moving_average", Wide),
        ("model_average", Wide),
    ],
)
def test_an_honest_reimplementation_conforms(wrapper: str, start: Any, dtype: str) -> None:
    found = verdict(Instead(wrapper, start), wrapper, dtype)
    assert (found.verdict, found.reason) == ("conforms", "")


def test_the_oracle_is_the_formula_in_exact_arithmetic() -> None:
    for case in drawn_cases(subject_named("l2_decay"), "float32", seed=1, count=5):
        oracle = expected(case)
        strength = Fraction(case.hyper["regularization_coeff"])
        for step, fed in enumerate(case.grads):
            pairs = zip(fed, case.parameters, strict=True)
            exact = [
                Fraction(float(g)) + strength * Fraction(float(w))
                for grad, param in pairs
                for g, w in zip(grad.ravel(), param.ravel(), strict=True)
            ]
            for number, value, bound in zip(exact, oracle.value[step], oracle.bound[step], strict=True):
                assert abs(number - Fraction(float(value))) <= Fraction(float(bound))


class Plain:
    """What the protocol asks for, and no more."""

    name, version = "plain", "1"

    def start(self, optimizer: str, hyper: Any, parameters: list[Any]) -> Any:
        raise NotImplementedError


def test_a_target_without_start_wrapper_offers_none() -> None:
    found = verdict(Plain(), "clip_by_norm")
    assert (found.verdict, found.cases) == ("unsupported", 0)
    assert "has no start_wrapper" in found.reason


def test_wrappers_are_judged_when_they_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["check", "numpy", "--optimizer", "l1_decay", "--effort", "quick", "--dtype", "float32", "-n", "1"]) == 0
    )
    assert "l1_decay" in capsys.readouterr().out


def test_the_flag_adds_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--wrappers", "--optimizer", "sgd", "--effort", "quick", "--dtype", "float32", "-n", "1"]
    assert main(["check", "numpy", *arguments]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("sgd", *WRAPPERS))
    assert f"{1 + len(WRAPPERS)} verdicts" in printed


def test_an_unknown_wrapper_is_named() -> None:
    with pytest.raises(UnknownOptimizerError, match="unknown wrapper 'clip', must be one of: "):
        wrapper_named("clip")


def test_a_variant_is_declared_once() -> None:
    from optimetry.conformance.subjects.wrappers.wrapper import variant

    with pytest.raises(ValueError, match="clip_by_norm: variant global_norm is declared twice"):
        variant("global_norm", "", "")(wrapper_named("clip_by_norm"))


@pytest.mark.parametrize(("wrapper", "variant"), NAMED, ids=lambda x: getattr(x, "name", x))
def test_a_counterexample_is_a_script_that_needs_numpy_alone(wrapper: str, variant: Variant, tmp_path: Path) -> None:
    dtype = variant.dtypes[0] if variant.dtypes else "float32"
    target = Instead(wrapper, lambda documented, parameters: started(variant.kind.of(documented.hyper()), parameters))
    shown = verdict(target, wrapper, dtype, Effort("quick", 60, 0)).counterexample
    file = tmp_path / "shown.py"
    file.write_text(shown["script"], encoding="utf-8")
    ran = subprocess.run([sys.executable, "-I", file], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "differ by more than rounding can explain" in ran.stdout
