"""The engine styles: each must conform for every rule that it computes in its own way."""

from __future__ import annotations

from optimetry.conformance.selftest.equivalents import arithmetic, layouts, rewritings
from optimetry.conformance.selftest.equivalents.arithmetic import Arithmetic
from optimetry.conformance.selftest.equivalents.target import Style
from optimetry.reference.rules import RULES

ALL = tuple(RULES)
ELEMENTWISE = tuple(name for name, rule in RULES.items() if rule.elementwise)
WITH_NORMS = tuple(name for name, rule in RULES.items() if not rule.elementwise)
WITH_AVERAGES = ("adadelta", "adam", "adamax", "decayed_adagrad", "lamb", "rmsprop")
WITH_POWERS = ("adam", "adamax")
WITH_QUOTIENTS = tuple(name for name in ALL if name not in ("sgd", "momentum"))
WITH_CHAINS = ("adagrad", "adam", "adamax", "decayed_adagrad", "ftrl", "lamb", "lars_momentum", "rmsprop")

STYLES: dict[str, Style] = {
    style.name: style
    for style in (
        Style(
            name="scalars_first",
            description="regrouped: numbers are multiplied and divided before any array is",
            rules=("adamax", "ftrl"),
            rewriting=rewritings.scalars_first,
        ),
        Style(
            name="scalars_last",
            description="regrouped: arrays are multiplied and divided before any number is",
            rules=WITH_CHAINS,
            rewriting=rewritings.scalars_last,
        ),
        Style(
            name="one_quotient",
            description="regrouped: one quotient of two products",
            rules=("adam", "adamax", "ftrl", "lamb"),
            rewriting=rewritings.one_quotient,
        ),
        Style(
            name="commuted",
            description="operands of sums, products and maxima in the other order",
            rules=ALL,
            rewriting=rewritings.commuted,
        ),
        Style(
            name="distributed",
            description="a number times a sum as the sum of two products",
            rules=("asgd", "momentum"),
            rewriting=rewritings.distributed,
        ),
        Style(
            name="lerp",
            description="averages as old + (1 - b)*(new - old), from the nearer end, as torch.lerp",
            rules=WITH_AVERAGES,
            rewriting=rewritings.lerp,
        ),
        Style(
            name="one_sided_lerp",
            description="averages as old + (1 - b)*(new - old), as Keras; for b >= 1/2, below which it cancels",
            rules=WITH_AVERAGES,
            rewriting=rewritings.one_sided_lerp,
            smallest_decay=0.5,
        ),
        Style(
            name="fma_first",
            description="FMA-contracted: a product and the sum it enters are rounded once, the first of two products",
            rules=ALL,
            rewriting=rewritings.fma_first,
        ),
        Style(
            name="fma_last",
            description="FMA-contracted, the second of two products",
            rules=ALL,
            rewriting=rewritings.fma_last,
        ),
        Style(
            name="reciprocal",
            description="division as multiplication by the reciprocal",
            rules=WITH_QUOTIENTS,
            rewriting=rewritings.reciprocal,
        ),
        Style(
            name="reciprocal_root",
            description="division by a root as multiplication by the reciprocal root",
            rules=("adadelta", "rmsprop"),
            rewriting=rewritings.reciprocal_root,
        ),
        Style(
            name="root_of_each",
            description="the root of a quotient as the quotient of roots, as torch.optim.Adadelta",
            rules=("adadelta",),
            rewriting=rewritings.root_of_each,
        ),
        Style(
            name="sums_regrouped",
            description="regrouped: sums of three terms in the order that the page prints, or from their end",
            rules=("asgd", "ftrl"),
            rewriting=rewritings.sums_regrouped,
        ),
        Style(
            name="wide_intermediate",
            description="a step is computed in the next wider format; parameters and state are rounded",
            rules=ALL,
            arithmetic=Arithmetic(wide=True),
        ),
        Style(
            name="wide_state",
            description="steps and state in the next wider format; parameters are rounded",
            rules=ALL,
            arithmetic=Arithmetic(wide=True),
            wide_state=True,
        ),
        Style(
            name="master_copy",
            description="everything in the next wider format; what is returned is a rounded copy",
            rules=ALL,
            arithmetic=Arithmetic(wide=True),
            wide_state=True,
            wide_parameters=True,
        ),
        Style(
            name="narrow_scalars",
            description="hyperparameters and learning rate in the arrays' precision, and computed in it",
            rules=("lars_momentum", *WITH_AVERAGES),
            arithmetic=Arithmetic(narrow_scalars=True),
        ),
        Style(
            name="repeated_products",
            description="powers of the decays by one product a step, in the arrays' precision",
            rules=WITH_POWERS,
            arithmetic=Arithmetic(narrow_scalars=True, power=arithmetic.repeated_product),
        ),
        Style(
            name="repeated_squares",
            description="powers of the decays by binary exponentiation, in the arrays' precision",
            rules=WITH_POWERS,
            arithmetic=Arithmetic(narrow_scalars=True, power=arithmetic.repeated_squares),
        ),
        *(
            Style(name=name, description=description, rules=WITH_NORMS, arithmetic=Arithmetic(sum=function))
            for name, description, function in (
                ("sum_in_order", "sums from the first term to the last", arithmetic.in_order),
                ("sum_in_reverse", "sums from the last term to the first", arithmetic.in_reverse),
                ("sum_in_blocks", "sums of blocks of 16, then of those, as thread blocks do", arithmetic.in_blocks),
                ("sum_in_pairs", "pairwise sums down to single terms", arithmetic.in_pairs),
                ("sum_in_lanes", "eight running sums, one for each lane of a vector", arithmetic.in_lanes),
                ("sum_in_wide", "sums in the next wider format", arithmetic.in_double),
            )
        ),
        Style(
            name="one_buffer",
            description="all tensors in one buffer, as multi-tensor kernels",
            rules=ELEMENTWISE,
            layout=layouts.one_buffer,
        ),
        Style(
            name="blocks_of_16",
            description="one fused pass in blocks of sixteen elements, the tail filled up with zeros",
            rules=ELEMENTWISE,
            layout=layouts.blocks_of_16,
        ),
        Style(
            name="threads",
            description="every tensor in three parts, on a pool of threads",
            rules=ELEMENTWISE,
            layout=layouts.threads,
        ),
        Style(
            name="strided",
            description="on every second element of longer arrays, in Fortran order",
            rules=ALL,
            layout=layouts.strided,
        ),
        Style(
            name="in_place",
            description="the same arrays are updated and returned in every step",
            rules=ALL,
            layout=layouts.tensors,
            in_place=True,
        ),
        Style(
            name="compiled",
            description="several at once: lerp, FMA and reciprocals, with numbers in the arrays' precision",
            rules=ELEMENTWISE,
            rewriting=rewritings.compiled,
            arithmetic=Arithmetic(narrow_scalars=True),
        ),
    )
}
"""Every style by name."""
