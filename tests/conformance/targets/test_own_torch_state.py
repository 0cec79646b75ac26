"""Torch classes of a user that keep state or options otherwise than torch's own do: narrower, as tensors, elsewhere."""

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets import for_torch
from optimetry.reports.results import Verdict

torch = pytest.importorskip("torch")

FEW = Effort("few", 20, 2)


class NarrowMoments(torch.optim.Optimizer):  # type: ignore[misc]  # the base is Any where torch is not installed
    """AdamW whose moments are of a dtype of their own, in which denominators are computed, too."""

    moments: Any = None

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.01
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def numbered(self, state: Any) -> int:
        """Count a step of a parameter, and return its number."""
        state["step"] = state.get("step", 0) + 1
        return int(state["step"])

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """One step."""
        for group in self.param_groups:
            (beta1, beta2), lr = group["betas"], group["lr"]
            for param in group["params"]:
                if param.grad is None:
                    continue
                state = self.state[param]
                if not state:
                    state["m"], state["v"] = (torch.zeros_like(param, dtype=self.moments) for _ in "mv")
                t = self.numbered(state)
                param.mul_(1 - lr * group["weight_decay"])
                state["m"].mul_(beta1).add_(param.grad, alpha=1 - beta1)
                state["v"].mul_(beta2).addcmul_(param.grad, param.grad, value=1 - beta2)
                root = (1 - beta2**t) ** 0.5
                below = (state["v"].sqrt() / root).add_(group["eps"])
                param.addcdiv_(state["m"], below, value=-float(lr) / (1 - beta1**t))


class MomentsInFloat32(NarrowMoments):
    """Whose moments are float32 numbers."""

    moments = torch.float32


class MomentsInBfloat16(NarrowMoments):
    """Whose moments are bfloat16 numbers, as those of AnyPrecisionAdamW are."""

    moments = torch.bfloat16


class RateInATensor(NarrowMoments):
    """Which keeps the learning rate in a tensor, and refuses another object in its place, as torchao's do."""

    def __init__(self, params: Any, lr: float = 1e-3, **options: Any) -> None:
        super().__init__(params, torch.tensor(lr, dtype=torch.float64), **options)

    def step(self, closure: Any = None) -> None:
        """One step."""
        if not all(isinstance(group["lr"], torch.Tensor) for group in self.param_groups):
            raise TypeError("lr must stay a tensor: use fill_")
        super().step()


class CountOfAll(NarrowMoments):
    """Adam with one count for all parameters, under a key of its own in ``state``, as MADGRAD has it."""

    def __init__(self, params: Any, lr: float = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8) -> None:
        super().__init__(params, lr, betas, eps, weight_decay=0.0)

    def numbered(self, state: Any) -> int:
        """Return the number of a step, which is one for all parameters."""
        return int(self.state["k"])

    def step(self, closure: Any = None) -> None:
        """One step."""
        self.state["k"] = self.state.get("k", 0) + 1
        super().step()


class CountInAnAttribute(CountOfAll):
    """Where torch does not save it."""

    k = 0

    def numbered(self, state: Any) -> int:
        """Return the number of a step, which is one for all parameters."""
        return self.k

    def step(self, closure: Any = None) -> None:
        """One step."""
        self.k += 1
        NarrowMoments.step(self)


class NesterovOfAll(torch.optim.Optimizer):  # type: ignore[misc]
    """torch's SGD, but for a flag that is kept in an attribute, and with a ``state_dict`` of its own."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        self.nesterov = nesterov
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, options)

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """One step."""
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                direction, mu = param.grad + group["weight_decay"] * param, group["momentum"]
                if mu:
                    state = self.state[param]
                    kept = state.get("buffer")
                    new = direction.clone() if kept is None else mu * kept + (1 - group["dampening"]) * direction
                    state["buffer"] = new
                    direction = direction + mu * new if self.nesterov else new
                param.sub_(group["lr"] * direction)

    def state_dict(self) -> Any:
        """Return what torch does."""
        return super().state_dict()


def verdict_of_class(kind: Any, rule: str, dtype: str) -> Verdict:
    (verdict,) = judge(for_torch(kind, rule).engines(), rule, dtype, effort=FEW, seed=0)
    return verdict


@pytest.mark.parametrize(
    ("kind", "dtype", "words"),
    [
        (MomentsInFloat32, "float64", "steps computed in float32"),
        (MomentsInBfloat16, "float32", "steps computed in bfloat16"),
        (MomentsInBfloat16, "float64", "steps computed in bfloat16"),
    ],
)
def test_moments_of_a_narrower_dtype_make_steps_less_precise(kind: Any, dtype: str, words: str) -> None:
    verdict = verdict_of_class(kind, "torch.adamw", dtype)
    assert (verdict.verdict, verdict.computes.rule, words in verdict.reason) == ("imprecise", "documented", True)


def test_moments_of_their_own_dtype_do_not() -> None:
    assert verdict_of_class(NarrowMoments, "torch.adamw", "float32").verdict == "conforms"


def test_a_learning_rate_that_is_a_tensor_is_filled() -> None:
    assert verdict_of_class(RateInATensor, "torch.adamw", "float32").verdict == "conforms"


@pytest.mark.parametrize(("kind", "resumes"), [(CountOfAll, True), (CountInAnAttribute, False)])
@pytest.mark.parametrize("rule", ["torch.adam", "papers.adam"])  # torch's has a weight decay, which these have not
def test_what_is_kept_for_all_parameters_in_the_state_is_resumed(kind: Any, resumes: bool, rule: str) -> None:
    verdict = verdict_of_class(kind, rule, "float32")
    assert "t counts every step" in verdict.reason
    assert ("resum" in verdict.reason) is not resumes
    assert "decays" not in verdict.reason


def test_options_that_a_class_refuses_beside_the_defaults_are_those_of_the_first_group() -> None:
    """Nesterov's momentum of all groups beside the default, no momentum, which each group replaces by its own."""
    (target,) = for_torch(NesterovOfAll, "torch.sgd").engines()
    hyper = {"momentum": 0.5, "dampening": 0.0, "weight_decay": 0.0, "nesterov": True, "maximize": False}
    groups: Any = target.offers["torch.sgd"].start_groups([(hyper, [np.ones(2)])], "single")
    before = target.start("torch.sgd", hyper, [np.ones(2)])
    first, grouped = before.step([np.ones(2)], 0.5), groups.step([np.ones(2)], [0.5])
    after = target.start("torch.sgd", hyper, first)
    after.load(before.state())
    assert first[0].tolist() == grouped[0].tolist() == [0.25, 0.25]
    assert before.step([np.ones(2)], 0.5)[0].tolist() == after.step([np.ones(2)], 0.5)[0].tolist()
    assert verdict_of_class(NesterovOfAll, "torch.sgd", "float32").verdict == "conforms"


def test_an_argument_that_is_given_chooses_no_engine() -> None:
    class Switched(NarrowMoments):
        def __init__(self, params: Any, lr: float = 1e-3, fused: bool = True, **options: Any) -> None:
            super().__init__(params, lr, **options)

    assert [x.engine for x in for_torch(Switched, "torch.adamw").engines()] == ["single", "fused"]
    assert [x.engine for x in for_torch(Switched, **{"torch.adamw": {"fused": False}}).engines()] == ["single"]
