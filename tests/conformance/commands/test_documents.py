"""What results files say of the documents."""

from __future__ import annotations

import pytest

from optimetry.conformance.commands.text.documents import document_of
from optimetry.conformance.subjects.registry import SUBJECTS
from optimetry.reports.site.mathml import mathml


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_document_is_said_and_every_formula_rendered(name: str) -> None:
    document = document_of(SUBJECTS[name])
    assert (document.optimizer, document.book) == (name, SUBJECTS[name].book)
    assert document.summary.endswith((".", ":"))
    assert document.source
    assert document.statements.startswith(("def ", "class ", "from "))
    for formula in document.formulas:
        made = mathml(formula)
        assert made is not None
        assert "\\" not in made


def test_a_formula_may_stand_in_the_line_of_its_directive() -> None:
    assert document_of(SUBJECTS["sgd"]).formulas == [r"w \leftarrow w - \eta g"]


def test_a_document_in_full() -> None:
    document = document_of(SUBJECTS["momentum"])
    assert document.source == "fluid.optimizer.MomentumOptimizer (page 000 of PaddlePaddle's documentation)"
    assert document.formulas[0].startswith(r"v \leftarrow \mu v + g")
    assert "velocity = momentum * state.velocity + grad" in document.statements
    assert document.notes[0].startswith("Symbols: :math:`v` velocity")
