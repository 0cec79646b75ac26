"""A torch class of a user resumes from what it had saved, and from nothing of what it did not have."""

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.text.diagnosis_text import report
from optimetry.conformance.judging.diagnose import diagnose
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets import for_torch
from optimetry.conformance.targets.loading import load_target
from optimetry.reference.errors import TargetError
from tests.conformance.targets.test_own import DECAYS, classes, judged

torch = pytest.importorskip("torch")

from optimetry.conformance.targets.torch.own import OwnTorchRun  # noqa: E402 - where torch is installed


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
class Apart(torch.optim.SGD):  # type: ignore[misc]
    """Makes a group of each parameter."""

    def __init__(self, params: Any, lr: float = 0.1) -> None:
        super().__init__([{"params": [param]} for param in params], lr=lr)


def test_a_class_that_makes_several_groups_is_refused_in_words() -> None:
    with pytest.raises(TargetError, match="Apart makes 2 param_groups of a list of parameters, must be one"):
        for_torch(Apart, "sgd")


class ClipsAll(torch.optim.SGD):  # type: ignore[misc]
    """Scales all gradients together, and fails where there is none."""

    def step(self, closure: Any = None) -> None:
        """One step."""
        grads = [param.grad for group in self.param_groups for param in group["params"] if param.grad is not None]
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(grad) for grad in grads]))
        for grad in grads:
            grad.mul_(1 / torch.clamp(norm, min=1))
        super().step(closure)


def test_a_class_that_fails_where_every_gradient_is_missing_is_judged_on_the_rest() -> None:
    verdict = judged(for_torch(ClipsAll, "sgd"), "sgd")
    assert (verdict.verdict, verdict.untried) == ("diverges", ["missing gradients"])
    assert "but scales all gradients together to a norm of at most 1" in verdict.reason


class KeepsTheFirst(torch.optim.SGD):  # type: ignore[misc]
    """Moves by the difference to the gradient before, of which it keeps the tensor, from its third step on."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """One step."""
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    state = self.state[param]
                    state["count"] = state.get("count", 0) + 1
                    last = state.get("last", param.grad)
                    param.sub_(group["lr"] * (2 * param.grad - last if state["count"] > 2 else param.grad))
                    state["last"] = param.grad


def test_a_kept_gradient_is_found_though_the_first_cases_are_too_short_to_show_it() -> None:
    verdict = judged(for_torch(KeepsTheFirst, "sgd"), "sgd")
    assert (verdict.verdict, "keeps the array of gradient" in verdict.reason) == ("error", True)


@pytest.mark.usefixtures("miniatures")
def test_a_class_that_saves_in_a_way_of_its_own_is_resumed_in_that_way() -> None:
    mine = classes("torch")
    assert judged(for_torch(mine.CountsInAnAttribute, adam=DECAYS), "adam").verdict == "conforms"
    loading = for_torch(mine.LoadsInSingle, adam=DECAYS)
    assert judged(loading, "adam", "float32").verdict == "conforms"
    verdict = judged(loading, "adam", "float64")
    assert (verdict.verdict, verdict.law) == ("diverges", "resuming")


@pytest.mark.usefixtures("miniatures")
@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("RateOfTheFirstGroup", "second"),
        ("OptionsOfTheFirstGroup", "second"),
        ("OptionsOfTheClass", "first"),
        ("ListsItsParameters", "added"),
        ("AddsWithDefaults", "added"),
    ],
)
def test_a_class_that_does_not_train_each_group_by_its_own_options_is_rejected(name: str, group: str) -> None:
    kind = getattr(classes("torch"), name)
    verdict = judged(for_torch(kind, adam=DECAYS), "adam")
    assert (verdict.verdict, verdict.law) == ("diverges", "groups_are_independent")
    assert f"the {group} group, alone and among others" in verdict.reason
    assert judged(without_more(kind), "adam").verdict == "conforms"


@pytest.mark.usefixtures("miniatures")
def test_a_state_in_the_dtype_of_the_first_parameter_is_rejected() -> None:
    kind = classes("torch").StateAsTheFirst
    for dtype in ("float32", "float64"):
        verdict = judged(for_torch(kind, adam=DECAYS), "adam", dtype)
        assert (verdict.verdict, verdict.law) == ("diverges", "dtypes_are_independent")
        assert judged(without_more(kind), "adam", dtype).verdict == "conforms"


def without_more(kind: Any) -> Any:
    """Return a target of a class of which groups, several dtypes and layouts are not asked."""
    target = for_torch(kind, adam=DECAYS)
    target.more = {}
    return target


@pytest.mark.usefixtures("miniatures")
def test_what_a_class_refuses_or_keeps_in_one_place_for_all_groups_is_not_tried() -> None:
    mine = classes("torch")
    refusing, single = for_torch(mine.RefusesGroups, adam=DECAYS), for_torch(mine.OneDtype, adam=DECAYS)
    assert refusing.note.endswith("; not tried: groups (ValueError: no parameter groups, please)")
    assert single.note.endswith("; not tried: mixed dtypes (TypeError: one dtype, please)")
    assert (refusing.start_groups, refusing.mixes_dtypes) == (None, True)
    assert (single.start_groups is None, single.mixes_dtypes) == (False, False)
    attributes = for_torch(mine.KeepsOptionsInAttributes, "adam")
    assert attributes.note.endswith("; one for all groups of parameters: beta1, beta2, epsilon")
    assert attributes.shared == {"adam": ["beta1", "beta2", "epsilon"]}
    for target in (refusing, single, attributes):
        assert judged(target, "adam").verdict == "conforms"


@pytest.mark.usefixtures("miniatures")
@pytest.mark.parametrize("name", ["KeepsItsOptions", "RollsBackToDefaults", "KeepsItsState"])
def test_a_class_that_keeps_what_a_load_should_replace_breaks_the_law_of_resuming(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = for_torch(getattr(classes("torch"), name), adam=DECAYS)
    verdict = judged(target, "adam")
    assert (verdict.verdict, verdict.law) == ("diverges", "resuming")
    monkeypatch.setattr(OwnTorchRun, "_begin_otherwise", lambda run: None)
    assert judged(target, "adam").verdict == "conforms", "loaded where nothing was before"


@pytest.mark.parametrize(
    ("cls", "rule"),
    [("Adam", "papers.adam"), ("SGD", "torch.sgd"), ("NAdam", "torch.nadam"), ("Muon", "torch.muon")],
)
def test_torchs_own_classes_train_groups_and_dtypes_apart(cls: str, rule: str) -> None:
    target = for_torch(getattr(torch.optim, cls), rule)
    assert all(engine.start_groups and engine.mixes_dtypes for engine in target.engines())
    assert "groups" not in target.note
    law = judged(target, rule).law
    assert law is None


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


@pytest.mark.usefixtures("miniatures")
def test_a_rule_that_is_computed_is_named_beside_a_law_that_is_broken() -> None:
    """One count for all parameters, in an attribute: nothing known explained it, as a law of saved states is broken."""
    (engine, *_) = for_torch(classes("torch").CountsForAll, adam=DECAYS).engines()
    (diagnosis,) = diagnose([engine], "adam", "float32", effort=Effort("few", 12, 2), seed=0, search=None)
    verdict = diagnosis.verdict
    assert (verdict.verdict, verdict.law, str(verdict.computes)) == ("diverges", "resuming", "step_count_global")
    assert "elsewhere it computes step_count_global: t counts every step" in verdict.reason
    text = report("adam", [diagnosis], 0)
    assert "DIVERGES, step_count_global, but breaks a law, resuming" in text
    assert text.endswith("  for the file of `optimetry check --expect`:\n    adam float32 diverges:resuming WHY")
