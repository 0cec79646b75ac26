"""The text of a formula, as counterexample scripts have it: what stands in it, and what it computes."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pytest

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.judging.counterexamples.script import RULE_LOOP, WRAPPER_LOOP
from optimetry.conformance.judging.counterexamples.source import formula
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.conformance.subjects.rules import RuleSubject

ADAM = """\
from types import SimpleNamespace as State


class Documented:
    def __init__(self, **hyper):
        vars(self).update(hyper)

    def initial_state(self, param):
        return State(**{slot: np.zeros_like(param) for slot in self.slots})

    def update(self, param, grad, state, lr, t):
        moment1 = self.beta1 * state.moment1 + (1 - self.beta1) * grad
        moment2 = self.beta2 * state.moment2 + (1 - self.beta2) * np.square(grad)
        lr_t = lr * np.sqrt(1 - self.beta2 ** t) / (1 - self.beta1 ** t)
        step = lr_t * moment1 / (np.sqrt(moment2) + self.epsilon)
        return (param - step, State(moment1=moment1, moment2=moment2))"""


def test_the_text_of_a_formula_is_its_methods_alone() -> None:
    assert formula(SUBJECTS["adam"].declaration, "initial_state", "update") == ADAM


def test_a_script_imports_what_its_classes_need_and_no_more() -> None:
    model_average = formula(SUBJECTS["model_average"].declaration, "feed")
    assert model_average.startswith("from typing import Any, NamedTuple\nfrom dataclasses import dataclass\n\n\nclass")
    assert model_average.index("FOLD = 16384") < model_average.index("class WindowAverage:")
    assert model_average.count("class WindowAverage:") == 1
    compress = formula(SUBJECTS["dgc_compress"].declaration, "feed")
    assert compress.startswith(
        "from typing import Any, NamedTuple\nimport math\nfrom fractions import Fraction\n\n\nclass"
    )
    assert compress.index("def accumulate(") < compress.index("def are_largest(") < compress.index("class Documented:")
    assert formula(SUBJECTS["l1_decay"].declaration, "feed").startswith("def l1_term(")


class Double:
    """Numbers as a script without a wider format would have them."""

    def array(self, array: Any) -> Any:
        return np.asarray(array, np.float64)

    def scalar(self, name: str, number: float) -> Any:
        return np.float64(number)


def run_by_formula(case: Case) -> list[list[Any]]:
    """What the text of the formula gives, run by the text of the script's loop."""
    subject = SUBJECTS[case.optimizer]
    is_rule = isinstance(subject, RuleSubject)
    text = formula(subject.declaration, *(("initial_state", "update") if is_rule else ("feed",)))
    assert "optimetry" not in text
    inside: dict[str, Any] = {
        "np": np,
        "wide": np.float64,
        "array": lambda values: np.asarray(values, np.float64),
        "parameters": case.parameters,
        "learning_rates": case.learning_rates,
        "grads": case.grads,
        "fed": case.grads,
    }
    exec(compile(text, f"the formula of {case.optimizer}", "exec"), inside)
    hyper = {name: np.float64(x) if isinstance(x, float) else x for name, x in case.hyper.items()}
    slots = {"slots": subject.declaration.slots} if isinstance(subject, RuleSubject) else {}
    inside["documented"] = inside["Documented"](**hyper, **slots)
    exec(compile(RULE_LOOP if is_rule else WRAPPER_LOOP, "the loop", "exec"), inside)
    return [[np.array(array) for array in arrays] for arrays in inside["steps"]()]


@pytest.mark.parametrize("optimizer", SUBJECTS)
def test_the_text_of_a_formula_computes_what_the_subject_does_bit_for_bit(optimizer: str) -> None:
    subject, compared = SUBJECTS[optimizer], 0
    with np.errstate(all="ignore"):
        for case in drawn_cases(subject, "float64", seed=4, count=25):
            computed = run_by_formula(case)
            must = [[np.array(array) for array in arrays] for arrays in subject.trajectory(case, Double())]
            assert len(computed) == len(must) == len(case.grads)
            for a, b in zip(chain(*computed), chain(*must), strict=True):
                assert (a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes())
                compared += a.size
    assert compared > 1000
