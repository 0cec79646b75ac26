"""What real PaddlePaddle computed (tests/reference/golden), and the rule that explains each case within its bound.

``python -m tests.reference.golden_cases`` writes docs/real-libraries.md.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from optimetry.reference.averaging.exponential import ExponentialAverage
from optimetry.reference.averaging.window import WindowAverage
from optimetry.reference.clips import GradientClipByGlobalNorm, GradientClipByNorm, GradientClipByValue
from optimetry.reference.regularizers import L1Decay, L2Decay
from optimetry.reference.rules import rule_named
from tests.reference.golden_bound import agreement, agreement_of, case_of, exact, flat, number, variants
from tests.reference.pages import ROOT

GOLDEN = Path(__file__).parent / "golden"
PAGE = ROOT / "docs" / "real-libraries.md"
FILES = {"fluid185": "fluid 1.8.5", "paddle262": "paddle 2.6.2", "paddle331_asgd": "paddle 3.3.1"}
KINDS = {"float32": ">u4", "float64": ">u8"}


def array(stored: dict[str, Any], dtype: str) -> Any:
    """An array from its bits."""
    kind = KINDS[dtype]
    return np.array([int(word, 16) for word in stored["bits"]], kind[1:]).view(dtype).reshape(stored["shape"])


def arrays(stored: list[dict[str, Any]], dtype: str) -> list[Any]:
    """Arrays from their bits."""
    return [array(each, dtype) for each in stored]


@dataclass(frozen=True)
class Verdict:
    """What explains a case.

    Attributes:
        variant: the rule's name among the variants; empty for the documented one.
        numbers: which of its numbers are held in float32; empty for none.
        share: the error ratio.
        ulp: the largest difference.
    """

    variant: str
    numbers: str
    share: float
    ulp: int

    def __str__(self) -> str:
        return " + ".join(filter(None, (self.variant or "documented", self.numbers and f"{self.numbers} in float32")))


@cache
def cases(file: str) -> tuple[dict[str, Any], ...]:
    """The cases of a golden file."""
    return tuple(json.loads((GOLDEN / f"{file}.json").read_text(encoding="utf-8"))["cases"])


@cache
def verdict(file: str, number: int) -> Verdict | None:
    """The first explanation of a case: the documented rule before variants, exact numbers before rounded ones."""
    return explained(cases(file)[number])


def explained(stored: dict[str, Any]) -> Verdict | None:
    """See `verdict`."""
    dtype, hyper = stored["dtype"], stored["hyper"]
    rates = [
        float(array({"shape": (), "bits": [rate]}, stored["rate_dtype"]).item()) for rate in stored["learning_rates"]
    ]
    grads = [arrays(step, dtype) for step in stored["gradients"]]
    case = case_of(stored["rule"], dtype, hyper, rates, arrays(stored["parameters"], dtype), grads)
    after = np.array([flat(arrays(step, dtype)) for step in stored["after"]])
    rules = {"": rule_named(stored["rule"]).of(hyper)} | variants(stored["rule"], hyper)
    once = [(name, held, False) for name in rules for held in rounded_sets(stored["rule"], dtype)]
    for name, held, everywhere in (*once, *((name, (), True) for name in rules)):
        rule = rules[name].lifted(lambda name, value, held=held: float(np.float32(value)) if name in held else value)
        compared = agreement(case, rule, after, everywhere)
        if compared.conforms and not compared.vacuous:
            return Verdict(
                name, "everything, everywhere" if everywhere else ", ".join(held), compared.share, compared.ulp
            )
    return None


def rounded_sets(rule: str, dtype: str) -> list[tuple[str, ...]]:
    """The hyperparameters that may be held in float32 beside float64: none, all, then fewer."""
    names = [x.name for x in rule_named(rule).hyperparameters() if x.kind is float]
    some = [held for count in range(len(names), 0, -1) for held in combinations(names, count)]
    return [(), *(some if dtype == "float64" else ())]


@dataclass(frozen=True)
class Truncated(WindowAverage):
    """The window of fluid 1.8.5: ``int(updates * rate)``, the product in float32."""

    def is_full(self, updates: int, in_window: int) -> bool:
        return in_window >= self.minimum and in_window >= min(
            self.maximum, int(np.float32(updates) * np.float32(self.rate))
        )


CLIPS = {
    "clip_by_value": GradientClipByValue,
    "clip_by_norm": GradientClipByNorm,
    "clip_by_global_norm": GradientClipByGlobalNorm,
}
DECAYS = {"l1_decay": L1Decay, "l2_decay": L2Decay}


def wrapper_steps(stored: dict[str, Any], variant: bool, held: str) -> list[list[Any]]:
    """What a wrapper gives in each step, on bounded numbers.

    Args:
        stored: the case.
        variant: whether by the variant of fluid 1.8.5, where it has one, or by the document.
        held: how its numbers are held: one of `HELD`.
    """
    kind, dtype, rounded = stored["wrapper"], stored["dtype"], held == "numbers"
    hyper = {
        name: float(np.float32(value)) if rounded and isinstance(value, float) else value
        for name, value in stored["hyper"].items()
    }
    if kind in CLIPS or kind in DECAYS:
        holder: Any = (CLIPS | DECAYS)[kind](**hyper)
        for name, value in vars(holder).items():
            setattr(holder, name, number(value, dtype))
        grads = exact(arrays(stored["gradients"], dtype), dtype)
        if kind in CLIPS:
            return [holder.clipped_arrays(grads)]
        parameters = exact(arrays(stored["parameters"], dtype), dtype)
        return [[grad + holder.term(param) for grad, param in zip(grads, parameters, strict=True)]]
    fed = [exact(arrays(step, dtype), dtype) for step in stored["fed"]]
    if kind == "model_average":
        window = (Truncated if variant else WindowAverage)(*hyper.values())
        windows, steps = window.start(fed[0]), []
        for parameters in fed:
            windows = window.update(windows, parameters)
            steps.append(window.averages(windows))
        return steps
    average = ExponentialAverage(number(hyper["decay"], dtype, held == "everything, everywhere"))
    averaged, steps = average.start(fed[0]), []
    for step, parameters in enumerate(fed):
        schedule = step if stored["hyper"].get("scheduled") else None
        averaged = average.update(averaged, parameters, schedule)
        shown = averaged
        if variant:  # under a schedule, that is not the product of the decays
            shown = averaged._replace(product=average.decay_at(schedule) ** (step + 1))
        steps.append(average.averages(shown))
    return steps


@cache
def wrapper_cases() -> tuple[dict[str, Any], ...]:
    """The cases of wrappers, all of fluid 1.8.5."""
    return cases("fluid185_wrappers")


HELD = ("", "numbers", "everything, everywhere")
"""How the numbers of a wrapper are held: exactly, rounded to float32 once, or computed with in float32."""

VARIANTS = {"exponential_moving_average": "last_decay_to_the_updates", "model_average": "truncated_window"}


@cache
def wrapper_verdict(index: int) -> Verdict | None:
    """The first explanation of a case of a wrapper, as `verdict`."""
    stored = wrapper_cases()[index]
    dtype = stored["dtype"]
    is_single = "fed" not in stored
    after = np.array([flat(arrays(step, dtype)) for step in ([stored["after"]] if is_single else stored["after"])])
    fed = [stored["gradients"]] if is_single else stored["fed"]
    start = np.max(np.abs([flat(arrays(step, dtype)).astype(np.float64) for step in fed]), axis=0)
    for variant in (False, True) if stored["wrapper"] in VARIANTS else (False,):
        for held in HELD:
            compared = agreement_of(after, wrapper_steps(stored, variant, held), start, dtype)
            if compared.conforms and not compared.vacuous:
                name = VARIANTS[stored["wrapper"]] if variant else ""
                return Verdict(name, held, compared.share, compared.ulp)
    return None


def counts() -> dict[str, dict[str, Counter[str]]]:
    """How many cases of each rule each explanation has, by library."""
    counted: dict[str, dict[str, Counter[str]]] = {}
    for file, library in FILES.items():
        for i, stored in enumerate(cases(file)):
            of_rule = counted.setdefault(f"{stored['rule']} {stored['dtype']}", {})
            of_rule.setdefault(library, Counter())[str(verdict(file, i))] += 1
    for i, stored in enumerate(wrapper_cases()):
        of_wrapper = counted.setdefault(f"{stored['wrapper']} {stored['dtype']}", {})
        of_wrapper.setdefault(FILES["fluid185"], Counter())[str(wrapper_verdict(i))] += 1
    return counted


HEAD = """\
# Reference, fluid 1.8.5, paddle 2.6.2 and 3.3.1

Generated by `python -m tests.reference.golden_cases` from what the real libraries computed on the CPU
(`tests/reference/golden`); a test fails when it is stale. Each of {total} cases is explained by a rule within the
derived bound of its rounding errors; no case needs a tolerance. "documented" is the rule of the pages; other names are
variants, those of rules declared in `optimetry.conformance`; `x in float32` says that a hyperparameter is held so
beside float64 parameters, "everything, everywhere" that numbers are rounded wherever they are used, as powers of beta
by repeated products are. Of 3.3.1 only ASGD was run, which the others lack; `-` is no kernel, none for that dtype, or
not run.

| rule | {libraries} |
|---|---|---|---|
"""


def page() -> str:
    """The page as it must be."""
    table = counts()
    rows = []
    for rule, of_rule in sorted(table.items()):
        cells = [
            "; ".join(f"{n} {explanation}" for explanation, n in of_rule.get(each, Counter()).items())
            for each in FILES.values()
        ]
        rows.append(f"| {rule} | {' | '.join(cell or '-' for cell in cells)} |\n")
    total = sum(sum(each.values()) for of_rule in table.values() for each in of_rule.values())
    return HEAD.format(total=total, libraries=" | ".join(FILES.values())) + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
