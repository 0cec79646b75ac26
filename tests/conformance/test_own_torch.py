"""A torch class of a user resumes from what it had saved, and from nothing of what it did not have."""

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets import for_torch
from optimetry.conformance.targets.loading import load_target
from tests.conformance.test_own import DECAYS, classes, judged

torch = pytest.importorskip("torch")


class Counting(torch.optim.Optimizer):  # type: ignore[misc]  # the base is Any where torch is not installed
    """Momentum that counts its steps, as most classes do, in a number or in a tensor."""

    first: Any = 0

    def __init__(self, params: Any, lr: float, momentum: float) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """One step; a state that is not new has a count."""
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                state = self.state[param]
                if not state:
                    state["velocity"], state["step"] = torch.zeros_like(param), self.first
                state["step"] = state["step"] + 1
                state["velocity"].mul_(group["momentum"]).add_(param.grad)
                param.sub_(state["velocity"], alpha=group["lr"])


class CountingInATensor(Counting):
    """The same with a tensor."""

    first = torch.zeros(())


@pytest.mark.parametrize("kind", [Counting, CountingInATensor])
def test_an_empty_parameter_that_had_no_gradient_has_no_state_in_a_resumed_run(kind: Any) -> None:
    (engine,) = for_torch(kind, "momentum").engines()
    parameters = [np.ones(2), np.ones(0), np.ones(0)]
    before, after = (engine.start("momentum", {"momentum": 0.5, "use_nesterov": False}, parameters) for _ in range(2))
    before.step([np.ones(2), None, np.ones(0)], 0.1)
    after.load(before.state())
    assert [slots["step"] for slots in after._optimizer.state.values() if slots] == [1, 1]
    ours, theirs = (run.step([np.ones(2), np.ones(0), np.ones(0)], 0.1) for run in (after, before))
    assert [array.shape for array in ours] == [array.shape for array in theirs] == [(2,), (0,), (0,)]


class Replacing(torch.optim.Optimizer):  # type: ignore[misc]
    """SGD that gives a parameter other memory in each step, which the model sees."""

    def __init__(self, params: Any, lr: float) -> None:
        super().__init__(params, {"lr": lr})

    def step(self, closure: Any = None) -> None:
        """One step."""
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    param.data = param.data - group["lr"] * param.grad.data


def test_parameters_may_be_given_other_memory() -> None:
    (verdict,) = judge(for_torch(Replacing, "sgd").engines(), "sgd", "float32", effort=Effort("few", 10, 2), seed=0)
    assert (verdict.verdict, verdict.reason) == ("conforms", "")


@pytest.mark.usefixtures("miniatures")
def test_a_class_that_saves_in_a_way_of_its_own_is_resumed_in_that_way() -> None:
    mine = classes("torch")
    assert judged(for_torch(mine.CountsInAnAttribute, adam=DECAYS), "adam").verdict == "conforms"
    loading = for_torch(mine.LoadsInSingle, adam=DECAYS)
    assert judged(loading, "adam", "float32").verdict == "conforms"
    verdict = judged(loading, "adam", "float64")
    assert (verdict.verdict, verdict.law) == ("diverges", "resuming")


def test_a_parameter_whose_first_gradient_comes_behind_a_load_has_no_momentum_yet() -> None:
    """Its first step is not dampened, as a step from a momentum of zero would be."""
    target: Any = load_target("torch")
    hyper = {"momentum": 0.5, "dampening": 0.5, "weight_decay": 0.0, "nesterov": False, "maximize": False}
    before = target.start("torch.sgd", hyper, [np.ones(2), np.ones(2)])
    reached = before.step([np.ones(2), None], 0.5)
    after = target.start("torch.sgd", hyper, reached)
    after.load(before.state())
    ours, theirs = (run.step([np.ones(2), np.ones(2)], 0.5) for run in (after, before))
    assert [array.tolist() for array in ours] == [array.tolist() for array in theirs] == [[0.0, 0.0], [0.5, 0.5]]
