"""The engine styles: each must conform for every rule that it computes in its own way (`rules_of`)."""

from __future__ import annotations

from typing import Any

from optimetry.conformance.laws.readings import DROPPED, KEPT
from optimetry.conformance.selftest.equivalents import evaluation, layouts, rewritings
from optimetry.conformance.selftest.equivalents.engines import Style
from optimetry.conformance.selftest.equivalents.evaluation import EvaluationStyle
from optimetry.conformance.selftest.equivalents.expression import Rewriting, as_documented
from optimetry.conformance.selftest.equivalents.layouts import Layout

WITHOUT_EPSILON = ("papers.adamax",)
"""Rules that divide by a gradient's magnitude alone: where that is subnormal, its reciprocal overflows."""

WIDE, NARROW = EvaluationStyle(wide=True), EvaluationStyle(narrow_scalars=True)


def _rewriting(rewriting: Rewriting, description: str, **more: Any) -> Style:
    """Declare the style that evaluates another expression, called as the function that makes it."""
    return Style(name=rewriting.__name__, description=description, rewriting=rewriting, **more)


def _layout(layout: Layout, description: str, **more: Any) -> Style:
    """Declare the style that lays arrays out otherwise, called as the function that does it."""
    return Style(name=layout.__name__, description=description, layout=layout, keeps_bits=True, **more)


STYLES: dict[str, Style] = {
    style.name: style
    for style in (
        _rewriting(rewritings.scalars_first, "regrouped: numbers are multiplied and divided before any array is"),
        _rewriting(rewritings.scalars_last, "regrouped: arrays are multiplied and divided before any number is"),
        _rewriting(rewritings.one_quotient, "regrouped: one quotient of two products"),
        _rewriting(rewritings.commuted, "operands of sums, products and maxima in the other order", keeps_bits=True),
        _rewriting(rewritings.distributed, "a number times a sum as the sum of two products"),
        _rewriting(rewritings.lerp, "averages as old + (1 - b)*(new - old), from the nearer end, as torch.lerp"),
        _rewriting(
            rewritings.one_sided_lerp,
            "averages as old + (1 - b)*(new - old), as Keras; for b >= 1/2, below which it cancels",
            smallest_decay=0.5,
        ),
        _rewriting(
            rewritings.fma_first,
            "FMA-contracted: a product and the sum it enters are rounded once, the first of two products",
        ),
        _rewriting(rewritings.fma_last, "FMA-contracted, the second of two products"),
        _rewriting(rewritings.reciprocal, "division as multiplication by the reciprocal", overflows=WITHOUT_EPSILON),
        _rewriting(rewritings.reciprocal_root, "division by a root as multiplication by the reciprocal root"),
        _rewriting(rewritings.root_of_each, "the root of a quotient as the quotient of roots, as torch.optim.Adadelta"),
        _rewriting(
            rewritings.decay_multiplied,
            "a decoupled decay as one product, w*(1 - lr*wd), before the step, as torch and lion-pytorch",
        ),
        _rewriting(
            rewritings.decay_in_the_step,
            "a decoupled decay in one bracket with the step, w - lr*(step + wd*w), as Optax",
        ),
        _rewriting(
            rewritings.sums_regrouped,
            "regrouped: sums of three terms in the order that the page prints, or from their end",
        ),
        Style(
            name="wide_intermediate",
            description="a step is computed in the next wider format; parameters and state are rounded",
            evaluation=WIDE,
        ),
        Style(
            name="wide_state",
            description="steps and state in the next wider format; parameters are rounded",
            evaluation=WIDE,
            wide_state=True,
        ),
        Style(
            name="master_copy",
            description="everything in the next wider format; what is returned is a rounded copy",
            evaluation=WIDE,
            wide_state=True,
            wide_parameters=True,
        ),
        Style(
            name="narrow_scalars",
            description="hyperparameters and learning rate in the arrays' precision, and computed in it",
            evaluation=NARROW,
        ),
        Style(
            name="repeated_products",
            description="powers of the decays by one product a step, in the arrays' precision",
            evaluation=EvaluationStyle(narrow_scalars=True, power=evaluation.repeated_product),
        ),
        Style(
            name="repeated_squares",
            description="powers of the decays by binary exponentiation, in the arrays' precision",
            evaluation=EvaluationStyle(narrow_scalars=True, power=evaluation.repeated_squares),
        ),
        *(
            Style(name=name, description=description, evaluation=EvaluationStyle(sum=function))
            for name, description, function in (
                ("sum_in_order", "sums from the first term to the last", evaluation.in_order),
                ("sum_in_reverse", "sums from the last term to the first", evaluation.in_reverse),
                ("sum_in_blocks", "sums of blocks of 16, then of those, as thread blocks do", evaluation.in_blocks),
                ("sum_in_pairs", "pairwise sums down to single terms", evaluation.in_pairs),
                ("sum_in_lanes", "eight running sums, one for each lane of a vector", evaluation.in_lanes),
                ("sum_in_wide", "sums in the next wider format", evaluation.in_double),
            )
        ),
        _layout(layouts.one_buffer, "all tensors in one buffer, as multi-tensor kernels", needs_elementwise=True),
        _layout(
            layouts.blocks_of_16,
            "one fused pass in blocks of sixteen elements, the tail filled up with zeros",
            needs_elementwise=True,
        ),
        _layout(layouts.threads, "every tensor in three parts, on a pool of threads", needs_elementwise=True),
        _layout(layouts.strided, "on every second element of longer arrays, in Fortran order"),
        Style(
            name="in_place",
            description="the same arrays are updated and returned in every step",
            layout=layouts.tensors,
            in_place=True,
            keeps_bits=True,
        ),
        _rewriting(
            rewritings.zeros_skipped,
            "terms of hyperparameters that are 0 are left out, as in `if weight_decay != 0`",
            keeps_bits=True,
        ),
        Style(
            name="nan_kept",
            description="where a comparison with NaN chooses, the result is NaN",
            evaluation=EvaluationStyle(nan=KEPT),
            keeps_bits=True,
        ),
        Style(
            name="nan_dropped",
            description="the maximum of NaN and a number is the number, as of `fmax` and of `a > b ? a : b`",
            evaluation=EvaluationStyle(nan=DROPPED),
            keeps_bits=True,
        ),
        Style(
            name="unfused_tail",
            description="FMA-contracted in whole vectors, not in the elements behind them",
            needs_elementwise=True,
            rewriting=rewritings.fma_last,
            tail=as_documented,
            layout=layouts.body_and_tail,
        ),
        Style(
            name="regrouped_tail",
            description="numbers first in whole vectors, arrays first in the elements behind them",
            needs_elementwise=True,
            rewriting=rewritings.scalars_first,
            tail=rewritings.scalars_last,
            layout=layouts.body_and_tail,
        ),
        Style(
            name="reciprocal_body",
            description="division by reciprocals in whole vectors, as such in the elements behind them",
            overflows=WITHOUT_EPSILON,
            needs_elementwise=True,
            rewriting=rewritings.reciprocal,
            tail=as_documented,
            layout=layouts.body_and_tail,
        ),
        Style(
            name="compiled",
            description="several at once: lerp, FMA and reciprocals, with numbers in the arrays' precision",
            overflows=WITHOUT_EPSILON,
            needs_elementwise=True,
            rewriting=rewritings.compiled,
            evaluation=NARROW,
        ),
    )
}
"""Every style by name."""
