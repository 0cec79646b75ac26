"""Families of the books: choices that matrices show are what their texts say; every choice is worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimetry.conformance.naming.families import FAMILIES
from optimetry.conformance.naming.families.family import axes
from optimetry.conformance.naming.known.points import at
from optimetry.reference.rule import State
from tests.conformance.naming.one_step import LR
from tests.conformance.naming.test_book_variants_by_hand import CHOICES as OF_TORCH
from tests.conformance.naming.test_book_variants_by_hand import FACTOR
from tests.conformance.naming.test_paper_variants_by_hand import CHOICES as OF_PAPERS

GATHERED = {"momentum": 0.5, "weight_decay": 0.0, "nesterov": False, "eps": 1.0, "ns_steps": 0}
TALL = np.sqrt(2)  # the root of 2 rows by 1 column
MATRICES: list[tuple[str, dict[str, str], dict[str, Any], Any, Any, Any]] = [
    ("torch.muon", {"divisor": "larger"}, GATHERED, [[2.0], [4.0]], [[2.0], [2.0]], TALL * np.array([[3], [4]]) / 5),
    (
        "torch.muon",
        {"buffer": "average"},
        GATHERED,
        [[2.0], [4.0]],
        [[2.0], [2.0]],
        TALL * np.array([[2], [3]]) / (13**0.5 + 1),
    ),
    ("torch.muon", {"scale": "none"}, GATHERED, [[2.0], [4.0]], [[2.0], [2.0]], np.array([[3], [4]]) / 6),
    ("torch.muon", {"scale": "wider"}, GATHERED, [[2.0, 4.0]], [[2.0, 2.0]], TALL * np.array([[3, 4]]) / 6),
    (
        "torch.adafactor",
        {"factored": "largest"},
        {**FACTOR[0], "eps2": 1.0, "d": 2.0, "weight_decay": 0.0},
        None,
        [[[1.0, 2.0]], [[3.0, 4.0]]],  # in the first step the means of the squares alone: 5/2 and 25/2; 5 and 10
        np.array([[[1, 2]], [[3, 4]]]) / np.sqrt(np.array([[[12.5, 25.0]], [[62.5, 125.0]]]) / 7.5),
    ),
    (
        "papers.adafactor",
        {"factored": "largest"},
        {"c": 0.5, "eps1": 1.0, "eps2": 1.0, "d": 2.0},
        None,
        [[[1.0, 2.0]], [[3.0, 4.0]]],  # the means of 2 and 5, 10 and 17: 7/2 and 27/2; 6 and 11
        np.array([[[1, 2]], [[3, 4]]]) / np.sqrt(np.array([[[21.0, 38.5]], [[81.0, 148.5]]]) / 8.5),
    ),
    (
        "torch.adafactor",
        {"factored": "first"},
        {**FACTOR[0], "eps2": 1.0, "d": 2.0, "weight_decay": 0.0},
        None,
        [[[1.0], [2.0]], [[3.0], [4.0]]],  # the same means
        np.array([[[1], [2]], [[3], [4]]]) / np.sqrt(np.array([[[12.5], [25.0]], [[62.5], [125.0]]]) / 7.5),
    ),
]
"""Choices that more than one number shows: where the parameter is 0, minus the step over the learning rate."""


@pytest.mark.parametrize(("name", "point", "hyper", "buffer", "grad", "expected"), MATRICES, ids=lambda x: str(x)[:30])
def test_a_choice_about_matrices_is_what_its_text_says(
    name: str, point: dict[str, str], hyper: dict[str, Any], buffer: Any, grad: Any, expected: Any
) -> None:
    rule: Any = at(name, point, hyper)
    param = np.zeros_like(expected)
    state = rule.initial_state(param) if buffer is None else State(momentum_buffer=np.array(buffer))
    moved, _ = rule.update(param, np.array(grad), state, LR, 1)
    assert moved == pytest.approx(-LR * expected, rel=1e-12)


def test_a_buffer_normalised_in_place_is_what_its_text_says() -> None:
    rule: Any = at("torch.muon", {"keeps": "normalised"}, GATHERED)
    state = State(momentum_buffer=np.array([[2.0], [4.0]]))
    _, kept = rule.update(np.zeros((2, 1)), np.full((2, 1), 2.0), state, LR, 1)
    assert kept.momentum_buffer == pytest.approx(np.array([[3], [4]]) / 6, rel=1e-12)
    ahead: Any = at("torch.muon", {"keeps": "normalised"}, {**GATHERED, "nesterov": True})
    _, kept = ahead.update(np.zeros((2, 1)), np.full((2, 1), 2.0), state, LR, 1)
    assert kept.momentum_buffer.tolist() == [[3.0], [4.0]]


def test_every_choice_is_worked_out() -> None:
    worked = {(name, *choice) for name, point, *_ in (*OF_TORCH, *OF_PAPERS, *MATRICES) for choice in point.items()}
    declared = {
        (name, axis.name, value)
        for name, family in FAMILIES.items()
        if "." in name
        for axis in axes(family).values()
        for value in axis.values
        if value != axis.documented
    }
    apart = {
        ("torch.rmsprop", "initial_value", "1"),
        ("torch.muon", "keeps", "normalised"),
        ("papers.lars", "zero_norm", "plain_rate"),
        ("papers.radam", "denominator", "unguarded"),
    }
    assert declared - worked == apart
    assert worked <= declared
