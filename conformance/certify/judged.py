"""Judges a block: runs a target on its pairs, and compares each result with the rule's bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from operator import add
from typing import Any, cast

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.certify.evaluated import evaluated
from optimetry.conformance.certify.pairs import Block, Pairs
from optimetry.conformance.certify.settings import NamedSetting
from optimetry.conformance.harness.python_harness import engine_name
from optimetry.conformance.numerics.agreement import SLACK, Expected, shares_of, ulps_of
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS, Format, flushing
from optimetry.conformance.oracle.expected import with_underflow_room
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.protocol import Target, reason_unsupported
from optimetry.conformance.targets.session import Guard, trajectory
from optimetry.reference.errors import TargetFault
from optimetry.reference.rule import Rule
from optimetry.reports.certificate import SHOWN, Certificate, Failure, Place

COLUMNS, PART = 2**16, 2**17
"""The most gradients, and pairs, that are evaluated at once: the arrays of one operation then fit in a cache."""


@dataclass(frozen=True)
class Judge:
    """Judges the blocks of one rule at one setting.

    Attributes:
        pairs: what there is to compare.
        setting: the hyperparameters and the learning rate.
    """

    pairs: Pairs
    setting: NamedSetting

    @property
    def subject(self) -> RuleSubject:
        """The rule as a subject."""
        return cast(RuleSubject, subject_named(self.pairs.optimizer))

    @property
    def form(self) -> Format:
        """The format of parameters and gradients."""
        return FORMATS[self.pairs.dtype]

    def begun(self, engine: str) -> Certificate:
        """Return the certificate of an engine before its first block."""
        return Certificate(
            book=self.subject.book,
            optimizer=self.pairs.optimizer,
            dtype=self.pairs.dtype,
            engine=engine,
            step=self.pairs.step,
            setting=self.setting.name,
            hyper=self.setting.hyper,
            learning_rate=self.setting.learning_rate,
            seed=self.pairs.seed,
            space=self.pairs.space,
        )

    def judged(self, target: Target, number: int, guard: Guard) -> Certificate | str:
        """Compare a target on one block; return the reason where the target does not offer it.

        A target that breaks the protocol gets a certificate with the reason; this does not raise.
        """
        block, begun = self.pairs.block(number, self.setting.hyper), self.begun(engine_name(target))
        case = self.case_of(block)
        try:
            refused = reason_unsupported(target, case)
            if refused is not None:
                return refused
            after = trajectory(target, case, guard)[-1].reshape(block.parameters.size, block.gradients.size)
        except TargetFault as fault:
            return replace(begun, reason=str(fault))
        columns = min(COLUMNS, block.gradients.size)
        rows = max(PART // columns, 1)
        starts = product(range(0, len(after), rows), range(0, block.gradients.size, columns))
        cuts = [(slice(row, row + rows), slice(column, column + columns)) for row, column in starts]
        return reduce(add, (self._compared(block.part(*cut), after[cut]) for cut in cuts), begun)

    def case_of(self, block: Block) -> Case:
        """Return a block as a case: one parameter with an element for each pair."""
        shape = block.parameters.size, block.gradients.size
        columns = [np.ascontiguousarray(np.broadcast_to(x, shape)).reshape(-1) for x in _arrays(block)]
        return Case(
            optimizer=self.pairs.optimizer,
            dtype=self.pairs.dtype,
            hyper=self.setting.hyper,
            learning_rates=(self.setting.learning_rate,) * (len(columns) - 1),
            parameters=(columns[0],),
            grads=tuple((grad,) for grad in columns[1:]),
        )

    def expected(self, block: Block, form: Format) -> Expected:
        """Evaluate the rule on a block, for every pair."""
        parameters, *gradients = _arrays(block)
        rule = cast(Rule, self.subject.of(self.setting.hyper))
        return evaluated(self.subject, rule, self.setting.learning_rate, parameters, gradients, form)

    def _compared(self, block: Block, after: Array) -> Certificate:
        """Compare the results on a part of a block."""
        oracle = self.expected(block, with_underflow_room(self.form))
        known = oracle.known
        shares, ulps = shares_of(after[np.newaxis], oracle)[0], ulps_of(after[np.newaxis], oracle, self.form)[0]
        ulps = np.where(known[0], ulps, 0.0)
        outside = np.nonzero(shares > SLACK)
        flushed = 0
        if outside[0].size:
            shares[outside], flushed = self._with_flushing(block.at(*outside), after[outside], shares[outside])
        failing = np.argwhere(shares > SLACK) if outside[0].size else ()
        judged = int(np.count_nonzero(known))
        return replace(
            self.begun(""),
            pairs=known.size,
            vacuous=known.size - judged,
            failures=len(failing),
            flushed=flushed,
            share=_place(block, shares) if judged else None,
            ulp=_place(block, np.ceil(ulps)) if judged else None,
            examples=[_failure(block, after, oracle, *place) for place in failing[:SHOWN]],
        )

    def _with_flushing(self, block: Block, after: Array, shares: Array) -> tuple[Array, int]:
        """Return the error ratios of single pairs, with flushed subnormals where that explains them, and how many."""
        oracle = self.expected(block, flushing(self.form))
        allowing = shares_of(after[np.newaxis], oracle)[0]
        explained = oracle.known[0] & (allowing <= SLACK)
        return np.where(explained, allowing, shares), int(np.count_nonzero(explained))


def _arrays(block: Block) -> list[Array]:
    return [block.parameters, *block.earlier, block.gradients]


def _place(block: Block, figures: Array) -> Place:
    row, column = np.unravel_index(int(np.argmax(figures)), figures.shape)
    parameter, gradients = _arguments(block, row, column)
    return Place(value=float(figures[row, column]), parameter=parameter, gradients=gradients)


def _failure(block: Block, after: Array, oracle: Expected, row: Any, column: Any) -> Failure:
    parameter, gradients = _arguments(block, row, column)
    return Failure(
        parameter=parameter,
        gradients=gradients,
        result=bits_of(after[row, column]),
        expected=float(oracle.value[0, row, column]),
        bound=float(oracle.bound[0, row, column]),
    )


def _arguments(block: Block, row: Any, column: Any) -> tuple[str, list[str]]:
    """Return the parameter and the gradients of a pair, by their bits."""
    parameter, *gradients = (bits_of(x) for x in _arrays(block.at(row, column)))
    return parameter, gradients


def bits_of(number: Any) -> str:
    """Write the bits of a number: ``0x3f81`` is 1.0078125 in bfloat16."""
    width = number.dtype.itemsize
    return f"{int(np.asarray(number).view(f'u{width}')):#0{2 * width + 2}x}"
