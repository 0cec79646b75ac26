"""Finds the classes of every family and the probes that separate them: ``python -m`` this module rewrites both.

A pool of random tensors is evaluated at every class, in both dtypes, and tensors are chosen greedily until every two
classes are far enough apart in one that was chosen. Numbers have two digits, so that probes can be read.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.strategies import drawn_cases
from optimetry.conformance.naming.families import SETTINGS
from optimetry.conformance.naming.known import points
from optimetry.conformance.naming.known.points import PointClass, classes_of, merged, separations
from optimetry.conformance.naming.known.probes import FILE
from optimetry.conformance.numerics.agreement import Expected
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.oracle.expected import expected
from optimetry.conformance.subjects.registry import subject_named, subject_of

SEED = 20250101
DTYPES = ("float32", "float64")
GOALS = (100.0, 50.0, 30.0, 20.0)
"""Separations required of every pair, the first that can be reached, in units of the sum of the two bounds."""

WITNESSES = 2
"""How many tensors separate each pair, so that no name depends on a single number."""


def pool(optimizer: str, number: int, dtype: str) -> Case:
    """Draw a case of many tensors for one setting of a rule, with zeros at the start, in the first step, throughout."""
    setting = SETTINGS[optimizer][number]
    rng = np.random.default_rng([SEED, number, *optimizer.encode()])
    shapes = setting.shapes or (((1,),) if subject_named(optimizer).elementwise else ((3,), (1, 3)))
    steps, shape = len(setting.rates), (setting.pool, math.prod(shapes[0]))

    def drawn(exponents: tuple[float, float]) -> Any:
        """Draw numbers of one magnitude for each tensor."""
        numbers = rng.uniform(0.3, 3.0, shape) * 10.0 ** rng.uniform(*exponents, (setting.pool, 1))
        return rng.choice((-1.0, 1.0), shape) * numbers

    growth = 10.0 ** rng.uniform(-2.0, 2.0, (setting.pool, 1)) * (rng.random((setting.pool, 1)) < 0.8)
    params = drawn(setting.sizes) * (rng.random((setting.pool, 1)) < 0.85)
    scale = drawn(setting.grads)
    signs = rng.choice((-1.0, 1.0), (steps, *shape)) * rng.uniform(0.5, 1.5, (steps, *shape))
    grads = [scale * growth**step * signs[step] for step in range(steps)]
    grads[0] *= rng.random((setting.pool, 1)) < 0.7
    form = FORMATS[dtype]

    def tensor(place: int, row: Any) -> Any:
        """Round a row, and give it its shape."""
        return two_digits(row).astype(form.dtype).reshape(shapes[place % len(shapes)])

    return Case(
        optimizer=optimizer,
        dtype=dtype,
        hyper=subject_named(optimizer).of(setting.hyper).hyper(),
        learning_rates=setting.rates,
        parameters=tuple(map(tensor, range(len(params)), params)),
        grads=tuple(tuple(map(tensor, range(len(step)), step)) for step in grads),
    )


def two_digits(array: Any) -> Any:
    """Round each number to two decimal digits; zeros lose their sign."""
    return np.array([float(f"{x:.1e}") for x in array]) + 0.0


def telling_cases(optimizer: str, drawn: int = 20) -> Iterator[Case]:
    """Yield cases in float64 on which different points differ: the pools, and short drawn cases."""
    yield from (pool(optimizer, number, "float64") for number in range(len(SETTINGS[optimizer])))
    short = (
        case
        for case in drawn_cases(subject_named(optimizer), "float64", seed=SEED, count=10 * drawn)
        if len(case.grads) <= 5
    )
    yield from islice(short, drawn)


@dataclass
class ProbeSearch:
    """Chooses the tensors of one rule's probes."""

    optimizer: str
    classes: tuple[PointClass, ...]
    apart: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        """Compute the separations of every pair: for each setting and dtype an array of shape (tensors, pairs)."""
        self.apart = [
            np.concatenate([self._apart(number, dtype) for dtype in DTYPES], axis=1)
            for number in range(len(SETTINGS[self.optimizer]))
        ]

    def _apart(self, number: int, dtype: str) -> Any:
        case = pool(self.optimizer, number, dtype)
        oracles = [expected(case, rule_class.of(case.hyper)) for rule_class in self.classes]
        value, bound = (np.stack([getattr(x, part) for x in oracles]) for part in ("value", "bound"))
        # Measured from the first class, differences survive in double precision, which is faster.
        with np.errstate(all="ignore"):
            offset = (value - np.where(np.isfinite(value[0]), value[0], 0)).astype(np.float64)
            bound = bound.astype(np.float64)
        rows = []
        for i in range(len(self.classes) - 1):
            first, others = (Expected(offset[k], bound[k], oracles[0].start) for k in (i, slice(i + 1, None)))
            share = separations(first, others)  # of shape (classes, steps, elements)
            rows.append(share.reshape(*share.shape[:2], len(case.parameters), -1).max(axis=(1, 3)))
        return np.concatenate(rows).T

    def chosen(self) -> list[tuple[int, int]]:
        """Choose a few settings and tensors that separate all pairs.

        Raises:
            ValueError: some pairs cannot be separated; the text names one.
        """
        for goal in GOALS:
            covering = self._covering(goal)
            if covering is not None:
                return covering
        best = np.max(np.concatenate(self.apart), axis=0)
        first, second = self.pair(int(np.argmin(best)))
        raise ValueError(f"{self.optimizer}: {first} and {second} are {best.min():.3g} bounds apart at most")

    def pair(self, index: int) -> tuple[str, str]:
        """Return the names of the classes of a pair."""
        rows, columns = np.triu_indices(len(self.classes), 1)
        index %= len(rows)
        return self.classes[rows[index]].name, self.classes[columns[index]].name

    def _covering(self, goal: float) -> list[tuple[int, int]] | None:
        """Choose settings and tensors, at least one of every setting, that separate all pairs; None if none do."""
        covers = [apart >= goal for apart in self.apart]
        needed = np.full(covers[0].shape[1], WITNESSES)
        chosen: list[tuple[int, int]] = []
        while needed.any():
            gains = [np.count_nonzero(cover[:, needed > 0], axis=1) for cover in covers]
            number = int(np.argmax([gain.max() for gain in gains]))
            tensor = int(np.argmax(gains[number]))
            if gains[number][tensor] == 0:
                return None
            chosen.append((number, tensor))
            needed[covers[number][tensor]] = np.maximum(needed[covers[number][tensor]] - 1, 0)
            covers[number][tensor] = False
        unused = sorted(set(range(len(covers))) - {number for number, _ in chosen})
        chosen += [(number, int(np.argmax(np.count_nonzero(covers[number], axis=1)))) for number in unused]
        return sorted(chosen)


def found_probes(optimizer: str) -> list[dict[str, Any]]:
    """Find the probes of one rule, in the form that `optimetry.conformance.naming.known.probes` reads."""
    chosen = ProbeSearch(optimizer, classes_of(optimizer)).chosen()
    probes = []
    for number in sorted({number for number, _ in chosen}):
        case = pool(optimizer, number, "float64").only([tensor for other, tensor in chosen if other == number])
        probes.append(
            {
                "hyper": case.hyper,
                "learning_rates": list(case.learning_rates),
                "parameters": _listed(case, case.parameters),
                "grads": [_listed(case, grads) for grads in case.grads],
            }
        )
    return probes


def _listed(case: Case, arrays: Any) -> list[Any]:
    """List independent elements as one tensor, others as they are."""
    rows = [array.tolist() for array in arrays]
    return [[number for row in rows for number in row]] if subject_of(case).elementwise else rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Find classes and probes, always the same ones, and write them beside the code."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.probe_search", description=__doc__)
    parser.add_argument("rules", nargs="*", help="families to search anew, the others stay (default: all)")
    chosen = parser.parse_args(arguments).rules or [*SETTINGS]
    folder = Path(points.__file__).parent
    classes = {optimizer: merged(optimizer, telling_cases(optimizer)) for optimizer in chosen}
    _store(folder / points.FILE, json.loads(points.encoded(classes)))
    points.stored.cache_clear()
    classes_of.cache_clear()
    probes: dict[str, Any] = {optimizer: found_probes(optimizer) for optimizer in chosen}
    _store(folder / FILE, probes)
    for optimizer, groups in classes.items():
        print(f"{optimizer}: {sum(map(len, groups))} points, {len(groups)} classes, {len(probes[optimizer])} probes")


def _store(file: Path, entries: dict[str, Any]) -> None:
    """Replace some families' entries of a file."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(kept | entries, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
