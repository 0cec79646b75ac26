"""Draws large cases: big tensors, many tensors and long runs, which the cases drawn by `strategies` never are.

A defect may depend on size alone: a tail beyond a block, a seam between threads, a narrow index or step count. A large
case is handled as its `CasePlan`, a few choices from which the same arrays are built every time, so that nobody has to
keep millions of numbers to show a failure.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from optimetry.conformance.cases.case import Case
from optimetry.conformance.cases.drawn import SHAPES, Drawn, Shape, fitting
from optimetry.conformance.cases.options import all_on, option_settings
from optimetry.conformance.cases.sparse import SPARSE, places
from optimetry.conformance.cases.strategies import STEPS, CasePlan, TensorPlan, case_of, seeded_plan
from optimetry.conformance.numerics.formats import FORMATS


@dataclass(frozen=True)
class Scale:
    """What is large in a case.

    Attributes:
        shapes: the shapes of the tensors, in turn.
        tensors: how many there are.
        steps: how many steps are taken.
        drawn: whether hyperparameters and magnitudes are drawn, instead of the defaults and N(0, 1) from zero, where
            every update shows.
        sparse: whether all but a few elements are zero, for subjects with norms alone: then tensors of any size do.
        options: whether there is a case for each of `option_settings`, instead of one with the defaults; of subjects
            with norms only tensors of up to `SUMMED` elements take part, and where shapes matter, the defaults alone.
    """

    shapes: tuple[Shape, ...]
    tensors: int = 1
    steps: int = 3
    drawn: bool = False
    sparse: bool = False
    options: bool = False

    @property
    def long(self) -> bool:
        """Whether the run is what is large."""
        return self.steps > LONGEST


MIXED: tuple[Shape, ...] = ((3,), (17,), (), (1,), (2, 3))
"""The shapes of many tensors."""

SHORT: tuple[Shape, ...] = ((17,),)
"""The shape of the tensor in a long run."""

FEW_SIZES: tuple[Shape, ...] = ((255,), (256,), (511,), (1023,), (1024,), (2047,), (5000,), (513, 3))
"""Whole blocks, and lengths that leave a tail behind every block, between drawn shapes and big tensors; a tall matrix.
Each further shape costs a framework that compiles for shapes a part of a second."""

MORE_SIZES: tuple[Shape, ...] = (
    *((length,) for length in (257, 300, 513, 777, 1500, 2049, 3000, 4095, 8192)),
    *((3, 513), (1025, 2)),
)
"""More of them, and a wide matrix."""

ONE_TENSOR, STEPS_WITH_A_GAP = Scale(((4099,),)), 7
"""A big tensor, which comes once more, in so many steps, of which one has no gradient."""

FEW_SCALES = (
    Scale(((4099,),), sparse=True),
    ONE_TENSOR,
    Scale(MIXED, tensors=70, drawn=True),
    Scale(SHORT, steps=300),
    Scale(FEW_SIZES, tensors=len(FEW_SIZES), sparse=True),
    Scale(FEW_SIZES, tensors=len(FEW_SIZES), options=True),
    Scale(((65_539,),), steps=2, sparse=True),
)
"""A big tensor with a tail behind its blocks, more tensors than one launch takes, more steps than 8 bits count, many
sizes with each option, and a norm over more elements than 16 bits count."""

SCALES = (
    *FEW_SCALES,
    Scale(MORE_SIZES, tensors=len(MORE_SIZES), options=True),
    Scale(((4096,),), drawn=True),
    Scale(((65_537,),)),
    Scale(((257, 129),), drawn=True),
    Scale(((33, 65, 31),)),
    Scale(((1_000_003,),), steps=2, sparse=True),
    Scale(((1_000_003,),), steps=2, drawn=True),
    Scale(MIXED, tensors=1000, steps=2),
    Scale(SHORT, steps=2500),
)
"""Sizes around powers of two, blocks and threads; more steps than a float16 (2048) or a schedule of 1,000 counts."""

MORE_SCALES = (*SCALES, Scale(((4_194_305,),), steps=2), Scale(SHORT, steps=10_000))

LARGEST, MOST, LONGEST = max(map(math.prod, SHAPES)), 5, max(STEPS)
"""The most elements of a tensor, tensors and steps of the cases that `strategies` draws."""

KEPT = 2**16
"""The most numbers, of all steps, of a large case that is kept."""

WHOLE = 2**17
"""The most elements of a case that is judged whole, because a result depends on other elements."""

LONG_WITH_OPTIONS = 300
"""The most steps of a long run that is made with all options on, too."""

SUMMED = 1600
"""The most elements of tensors of many sizes whose sums are evaluated again with each option."""


def large_plans(subject: Drawn, dtype: str, scales: Sequence[Scale], seed: int) -> Iterator[CasePlan]:
    """Yield the plans of each scale that can be judged, the same for the same seed.

    Sums of so many elements that rounding may exceed them are left out, and long runs of subjects that take few steps.
    """
    for scale in scales:
        if scale.sparse and (subject.elementwise or subject.counts_zeros):
            continue
        settings = _settings(scale, subject)
        plan = _large_plan(scale, subject, dtype, settings[0], seed)
        whole_run = not scale.long or len(built(plan, subject).grads) == scale.steps
        if whole_run and (subject.elementwise or _summable(plan, subject)):
            yield plan
            for number, hyper in enumerate(settings[1:], 1):
                yield dataclasses.replace(plan, hyper=hyper, seed=(plan.seed + number) % 2**32)
    if ONE_TENSOR in scales and subject.elementwise:
        plan = _large_plan(ONE_TENSOR, subject, dtype, _settings(ONE_TENSOR, subject)[0], seed)
        yield dataclasses.replace(
            plan, steps=STEPS_WITH_A_GAP, tensors=(dataclasses.replace(plan.tensors[0], missing=2),)
        )


def _settings(scale: Scale, subject: Drawn) -> list[dict[str, Any]]:
    """Return the hyperparameters of the cases of a scale; a long run may have its options on as well."""
    if scale.options and not subject.shaped:
        return option_settings(subject)
    on = all_on(subject) if scale.long and scale.steps <= LONG_WITH_OPTIONS and not subject.shaped else None
    return [subject.declaration.typical().hyper(), *([on] if on else [])]


def _large_plan(scale: Scale, subject: Drawn, dtype: str, hyper: dict[str, Any], seed: int) -> CasePlan:
    """Return the plan of a scale; every eighth tensor has no gradient in one step."""
    drawn = seeded_plan(subject, dtype, f"{seed} {scale.shapes} {scale.tensors} {scale.steps}")
    start, pattern, rate = _magnitudes(scale, subject)
    summed = scale.options and not subject.elementwise
    chosen = [shape for shape in scale.shapes if not summed or math.prod(shape) <= SUMMED]
    shapes = [fitting(subject, shape) for shape in chosen]
    return dataclasses.replace(
        drawn,
        hyper=drawn.hyper if scale.drawn else hyper,
        tensors=tuple(
            TensorPlan(shapes[i % len(shapes)], start, pattern, untouched=False, missing=1 if i % 8 == 5 else None)
            for i in range(len(chosen) if summed else scale.tensors)
        ),
        steps=scale.steps,
        rate=rate,
        later_rate=rate / 2,
    )


def _magnitudes(scale: Scale, subject: Drawn) -> tuple[str, str, float]:
    """Return how parameters start, the pattern of gradients, and the first learning rate.

    A long run has gradients of one sign, so that a wrong factor adds up. What has norms starts elsewhere than at zero,
    and takes smaller steps.
    """
    rate = (0.01 if scale.long else 0.1) * (1.0 if subject.elementwise else 0.1)
    if scale.sparse:
        return SPARSE, SPARSE, rate
    if scale.long:
        return "mixed", "one_sign", rate
    if scale.drawn:
        return "mixed", "mixed", rate
    return "zero" if subject.elementwise else "mixed", "normal", rate


def _summable(plan: CasePlan, subject: Drawn) -> bool:
    """Whether sums over a tensor, or over all, have few enough terms for the oracle, and for their rounding errors."""
    pairs = zip(plan.tensors, sizes(plan), strict=True)
    each = [len(places(count)) if tensor.pattern == SPARSE else count for tensor, count in pairs]
    terms = sum(each) if subject.joint else max(each)
    return sum(each) <= WHOLE and 8 * terms * FORMATS[plan.dtype].roundoff <= 1


def built(plan: CasePlan, subject: Drawn) -> Case:
    """Return the case of a plan, as it makes sense for the subject; the latest small ones are kept."""
    if size(plan) * plan.steps <= KEPT:
        return _built(to_json(plan), subject)
    return case_of(plan, subject)


@lru_cache(maxsize=len(SCALES))
def _built(plan: str, subject: Drawn) -> Case:
    return case_of(from_json(plan), subject)


def size(plan: CasePlan) -> int:
    """Return the number of elements of all tensors."""
    return sum(sizes(plan))


def sizes(plan: CasePlan) -> list[int]:
    """Return the number of elements of each tensor."""
    return [math.prod(tensor.shape) for tensor in plan.tensors]


def smallest(plan: CasePlan, fails: Callable[[CasePlan], bool], defaults: Mapping[str, Any] | None = None) -> CasePlan:
    """Return the smallest plan found that still fails: bisects the largest tensor, then the number of tensors.

    Of tensors of many sizes, the smallest that fails alone is kept before. Steps are not left out: the same run shows
    which is the first that fails. Each bisection takes some twenty calls, the first of which are the most costly.

    Args:
        plan: a plan that fails.
        fails: whether a plan fails; called for smaller plans only, and for those with more defaults.
        defaults: the values that hyperparameters get at last, where it fails with these, too.
    """
    plan = _alone(plan, fails)
    largest = max(range(len(plan.tensors)), key=lambda i: math.prod(plan.tensors[i].shape))

    def with_shape(shape: Shape) -> CasePlan:
        tensors = list(plan.tensors)
        tensors[largest] = dataclasses.replace(tensors[largest], shape=shape)
        return dataclasses.replace(plan, tensors=tuple(tensors))

    def with_tensors(count: int) -> CasePlan:
        return dataclasses.replace(plan, tensors=plan.tensors[:count])

    shape = plan.tensors[largest].shape
    if math.prod(shape) > LARGEST:
        flat = (math.prod(shape),)
        if flat != shape and fails(with_shape(flat)):
            shape = flat
        other_lengths = shape[1:]
        plan = with_shape(
            (_least(shape[0], lambda length: fails(with_shape((length, *other_lengths)))), *other_lengths)
        )
    if len(plan.tensors) > MOST:
        plan = with_tensors(_least(len(plan.tensors), lambda count: fails(with_tensors(count))))
    for name, value in (defaults or {}).items():
        other = dataclasses.replace(plan, hyper={**plan.hyper, name: value})
        if plan.hyper[name] != value and fails(other):
            plan = other
    return plan


def _alone(plan: CasePlan, fails: Callable[[CasePlan], bool]) -> CasePlan:
    """Return a plan of the smallest large tensor of many that fails alone; the same plan where none does."""
    large = [tensor for tensor in plan.tensors if math.prod(tensor.shape) > LARGEST]
    smallest_first = sorted(large, key=lambda tensor: math.prod(tensor.shape))
    alone = (dataclasses.replace(plan, tensors=(tensor,)) for tensor in smallest_first)
    return next(filter(fails, alone), plan) if len(plan.tensors) > 1 else plan


def _least(high: int, fails: Callable[[int], bool]) -> int:
    """Return a number that fails and whose predecessor does not, or 1, by bisection; ``high`` is known to fail."""
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle
    return high


def largeness(plan: CasePlan) -> str | None:
    """Describe in what a plan is larger than any case drawn by `strategies`; None where its steps alone may be more."""
    shape = max((tensor.shape for tensor in plan.tensors), key=math.prod)
    if math.prod(shape) > LARGEST:
        return f"a tensor of {'x'.join(map(str, shape))} elements"
    return f"{len(plan.tensors)} tensors" if len(plan.tensors) > MOST else None


def to_json(plan: CasePlan) -> str:
    """Return a plan as JSON text, from which the same case can be built again."""
    return json.dumps(dataclasses.asdict(plan))


def from_json(text: str) -> CasePlan:
    """Read the plan that `to_json` wrote."""
    fields: dict[str, Any] = json.loads(text)
    tensors = [TensorPlan(**{**tensor, "shape": tuple(tensor["shape"])}) for tensor in fields["tensors"]]
    return CasePlan(**{**fields, "tensors": tuple(tensors)})
