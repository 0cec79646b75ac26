"""What stands in `examples/field` beside the libraries: truth, pins and page agree, and the study can fail."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import replace
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from optimetry.conformance.naming.families.family import STEP_COUNTS
from optimetry.conformance.naming.known.elsewhere import dialects_elsewhere, rules_elsewhere, without_epsilon
from optimetry.conformance.naming.known.points import by_axes, classes_of
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.reports.parts import Part
from optimetry.reports.results import Computes, ResultsError, Verdict
from tests.conformance.targets.test_own import needs

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "field"


def loaded(name: str) -> ModuleType:
    """A module of the folder, which is on no path."""
    spec = spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


apart = loaded("apart")
study = loaded("study")  # it imports no library
Finding, Pair, cell, figures, holds, truths = (
    study.Finding,
    study.Pair,
    study.cell,
    study.figures,
    study.holds,
    study.truths,
)
LIBRARIES = sorted({pair.library for pair in truths()})


def assigned(library: str, name: str) -> ast.expr | None:
    """What an adapter's class sets a name to; the library is not imported."""
    tree = ast.parse((FOLDER / f"{library}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node.value
    return None


def program(library: str) -> str | None:
    """The harness of a library in another language; None for one that Python imports."""
    sources = [FOLDER / "programs" / f"{apart.home(library)}{suffix}" for suffix in (".js", ".cpp")]
    return next((source.read_text(encoding="utf-8") for source in sources if source.exists()), None)


def offered(library: str) -> set[str]:
    source = program(library)
    if source is not None:
        rules = re.search(r"^const rules = \{\n(.*?)^\};", source, re.DOTALL | re.MULTILINE)
        keys, table = (r"^  \"?([\w.]+)\"?[:,]", rules[1]) if rules else (r'^ +\{"([\w.]+)", \w+\},$', source)
        return set(re.findall(keys, table, re.MULTILINE))
    tables = [assigned(library, "rules"), assigned(library, "wrappers")]
    return {key.value for table in tables if isinstance(table, ast.Dict) for key in table.keys}


@cache
def dialects(rule: str) -> set[str]:
    """All names of dialects, by their axes as well, with another way of counting steps, and of other books."""
    classes = classes_of(rule)
    elsewhere = [*rules_elsewhere(rule), *dialects_elsewhere(rule), *without_epsilon(rule)]
    known = [
        x for point_class in (*classes, *elsewhere) for x in (point_class, *map(point_class.counting, STEP_COUNTS))
    ]
    return {point_class.name for point_class in known if point_class.name != "documented"} | {
        by_axes(x) for point_class in classes for x in point_class.points
    }


@pytest.mark.parametrize("name", study.ROUNDS)
def test_each_round_has_enough_libraries_and_pairs(name: str) -> None:
    pairs = [pair for pair in truths() if pair.round == name]
    assert len({pair.library for pair in pairs}) >= 4
    assert len(pairs) >= 40


def test_no_pair_is_in_two_rounds() -> None:
    assert len({(pair.library, pair.rule) for pair in truths()}) == len(truths())


def test_verdicts_of_the_first_run_are_kept_of_every_pair() -> None:
    assert [truth.pair for truth in study.first_contact(truths()) if not truth.verdicts] == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_truth_is_known_of_all_that_an_adapter_offers(library: str) -> None:
    sharing = [other for other in LIBRARIES if program(other) and apart.home(other) == apart.home(library)]
    assert offered(library) == {pair.rule for pair in truths() if pair.library in (library, *sharing)}


@pytest.mark.parametrize("pair", truths(), ids=lambda pair: f"{pair.library}-{pair.rule}")
def test_a_truth_is_about_a_subject_and_names_dialects_of_it(pair: Any) -> None:
    assert pair.rule in SUBJECTS
    assert pair.truth in ("documented", "other")
    assert not (pair.documented and pair.names)
    assert set(pair.names) <= dialects(pair.rule)


def heading(library: str) -> str:
    """The distribution and its pinned version; of Debian, what the library says of itself."""
    declared = apart.DECLARED.get(apart.home(library), {})
    if "npm" in declared:
        (pin,) = declared["npm"]
        return str(pin).replace("@", " ")
    if "debian" in declared:
        (named,) = re.findall(r'serve\(\{\s*"([^"]+)",\s*"([^"]+)",', program(library) or "")
        assert f"={named[1]}" in declared["debian"][0]
        return " ".join(named)
    distribution = ast.literal_eval(assigned(library, "distribution"))
    requirements = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
    own = "\n".join(declared.get("requirements", []))
    pins = dict(re.findall(r"^([\w-]+)==(\S+)$", own or requirements, re.MULTILINE))
    return f"{distribution} {pins[distribution]}"


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_page_has_the_pinned_version_and_every_pair(library: str) -> None:
    page = (ROOT / "docs" / "field.md").read_text(encoding="utf-8")
    section = page.split(f"## {heading(library)}\n")[1].split("\n## ")[0]
    for pair in (pair for pair in truths() if pair.library == library):
        assert any(line.startswith(f"| {pair.rule} |") and cell(pair.formula) in line for line in section.splitlines())


@pytest.mark.parametrize("name", study.ROUNDS)
def test_the_page_has_the_figures_of_each_round(name: str) -> None:
    """Those of the first run are counted again; the latest run must be of as many libraries and pairs."""
    page = (ROOT / "docs" / "field.md").read_text(encoding="utf-8")
    pairs = [pair for pair in truths() if pair.round == name]
    first_run = dict(study.figures(study.first_contact(pairs)))
    assert figures_of(page, "first run", name) == first_run
    latest = figures_of(page, "latest run", name)
    for row in ("libraries", "pairs", "can be named"):
        assert latest[row] == first_run[row]


def test_the_page_begins_and_ends_with_what_people_wrote() -> None:
    page = (ROOT / "docs" / "field.md").read_text(encoding="utf-8")
    assert page.startswith((FOLDER / "intro.txt").read_text(encoding="utf-8"))
    assert page.endswith((FOLDER / "notes.txt").read_text(encoding="utf-8"))


def test_the_page_has_the_figures_of_all_rounds_together() -> None:
    page = (ROOT / "docs" / "field.md").read_text(encoding="utf-8")
    assert figures_of(page, "first run", "all") == dict(study.figures(study.first_contact(truths())))
    for label in ("pairs", "documented", "falsely rejected"):
        rounds = sum(int(figures_of(page, "latest run", name)[label]) for name in study.ROUNDS)
        assert int(figures_of(page, "latest run", "all")[label]) == rounds


def figures_of(page: str, run: str, name: str) -> dict[str, str]:
    """The row of a round in the table of a run, by what each column counts."""
    table = page.split(f"\n| {run} |")[1].split("\n\n", maxsplit=1)[0]
    labels, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return dict(zip(labels, *(row[1:] for row in rows if row[0] == name), strict=True))


PAIR = Pair(
    round="first", library="toy", rule="momentum", truth="other", formula="", source="", names=["learning_rate_inside"]
)


def verdict(outcome: str, rule: str | None) -> Verdict:
    return Verdict(optimizer="momentum", dtype="float32", verdict=outcome, computes=Computes(rule))


@pytest.mark.parametrize(
    ("pair", "outcome", "rule", "agreement"),
    [
        (PAIR, "dialect", "learning_rate_inside", "yes"),
        (PAIR, "dialect", "dampened", "**another name**"),
        (PAIR, "diverges", None, "not named"),
        (replace(PAIR, names=[], nameable=False), "diverges", None, "yes"),
        (PAIR, "conforms", "documented", "**false acceptance**"),
        (PAIR, "imprecise", "documented", "**false acceptance**"),
        (replace(PAIR, truth="documented", names=[]), "conforms", "documented", "yes"),
        (replace(PAIR, truth="documented", names=[]), "dialect", "dampened", "**false rejection**"),
        (replace(PAIR, truth="documented", names=[]), "error", None, "**false rejection**"),
    ],
)
def test_verdicts_are_held_against_the_truth(pair: Any, outcome: str, rule: str | None, agreement: str) -> None:
    finding = Finding(pair, [verdict(outcome, rule)])
    assert finding.agreement == agreement
    assert holds([finding]) == (agreement == "yes")


def test_one_wrong_dtype_is_enough() -> None:
    right, wrong = verdict("conforms", "documented"), verdict("diverges", None)
    assert Finding(replace(PAIR, truth="documented", names=[]), [right, wrong]).falsely_rejected
    assert not Finding(PAIR, [verdict("dialect", "learning_rate_inside"), wrong]).named


def test_nine_of_ten_named_are_enough_and_eight_are_not() -> None:
    named = Finding(PAIR, [verdict("dialect", "learning_rate_inside")])
    unnamed = Finding(PAIR, [verdict("diverges", None)])
    assert holds([named] * 9 + [unnamed])
    assert not holds([named] * 8 + [unnamed] * 2)
    assert ("named", "9 (90%)") in figures([named] * 9 + [unnamed])


def test_rounds_are_counted_apart() -> None:
    named = Finding(PAIR, [verdict("dialect", "learning_rate_inside")])
    later = Finding(replace(PAIR, round="second"), [verdict("diverges", None)])
    assert study.of_round([named, later], "second") == [later]
    assert ("named", "0 (0%)") in figures(study.of_round([named, later], "second"))


def test_what_explains_in_parts_is_held_against_the_truth() -> None:
    pair = replace(PAIR, names=[], parts=["documented with momentum = 0.9 whatever is given"])
    held = Part("documented", given={"held": {"momentum": 0.9}})
    explained = Verdict(optimizer="momentum", dtype="float32", verdict="diverges", computes=Computes(parts=[held]))
    assert Finding(pair, [explained]).named
    assert not Finding(replace(pair, parts=[]), [explained]).named


def test_a_pair_without_verdict_does_not_agree() -> None:
    assert Finding(replace(PAIR, truth="documented", names=[]), []).agreement != "yes"


def test_a_library_is_judged_once_and_a_run_that_was_ended_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, commands = tmp_path / "toy" / "results.jsonl", []

    def read(path: Path) -> str:
        if not path.exists() or path.read_text() == "begun":
            raise ResultsError("unfinished")
        return path.read_text()

    def check(command: list[str]) -> int:
        commands.append(command)
        ended = Path(command[command.index("--out") + 1], "results.jsonl")
        ended.parent.mkdir(exist_ok=True)
        ended.write_text("ended")
        return 1

    monkeypatch.setattr(study, "read", read)
    monkeypatch.setattr(study, "optimetry", check)
    for before in (None, "begun", "ended"):
        if before:
            file.write_text(before)
        assert study.judged("toy", [PAIR], file.parent, ["--", "./harness"]) == "ended"
    assert len(commands) == 2
    assert all("--resume" in command for command in commands)
    assert all(command[-2:] == ["--", "./harness"] for command in commands), "behind all options"
    study.judged("toy", [PAIR], tmp_path / "other", [], seed=7)
    assert commands[-1][commands[-1].index("--seed") :][:2] == ["--seed", "7"]


@needs("torch")
def test_classes_of_torch_are_one_target_that_takes_what_all_of_them_take() -> None:
    import torch

    class Flat(torch.optim.SGD):
        """Refuses what does not lie in rows."""

        def step(self, closure: Any = None) -> Any:
            for group in self.param_groups:
                for param in group["params"]:
                    param.view(-1)
            return super().step(closure)

    class Target(loaded("torch_classes").TorchClasses):  # type: ignore[misc]
        distribution = "torch"
        rules: ClassVar = {"sgd": (Flat, {}), "torch.adam": (torch.optim.Adam, {})}

    target = Target()
    assert target.name == "torch"
    assert set(target.offers) == {"sgd", "torch.adam"}
    assert target.unsupported("sgd", {}, "bfloat16") == "torch takes float32 and float64 only"
    (engine,) = target.engines()
    assert engine.start_groups is not None
    assert not engine.strided
    (after,) = engine.start("sgd", {}, [np.ones(2, np.float32)]).step([np.ones(2, np.float32)], 0.5)
    assert after.tolist() == [0.5, 0.5]
