"""Operators that change gradients between backward and update: clips and regularizers."""

from __future__ import annotations

from typing import Any

from optimetry.reference.clips import GradientClipBase
from optimetry.reference.programs.program import Operator, Variable
from optimetry.reference.regularizers import WeightDecayRegularizer

Pairs = list[tuple[Any, Any]]
"""Pairs (parameter, variable of its gradient)."""


def append_clip(params_grads: Pairs, clip: GradientClipBase) -> Pairs:
    """Append the operators of a clip, one for all gradients where it is joint, else one for each; the clipped pairs."""
    program = params_grads[0][1].program
    grads = tuple(grad for _, grad in params_grads)
    clipped = tuple(program.like(grad, program.unique(f"{grad.name}@CLIP")) for grad in grads)

    def all_clipped(*values: Any) -> Any:
        results = clip.clipped(values)
        return results[0] if len(results) == 1 else tuple(results)

    groups = [(grads, clipped)] if clip.joint else [((g,), (c,)) for g, c in zip(grads, clipped, strict=True)]
    for before, after in groups:
        program.append(Operator("clip", all_clipped, before, after, "optimize"))
    return [(parameter, after) for (parameter, _), after in zip(params_grads, clipped, strict=True)]


def append_regularizer(parameter: Any, grad: Variable, regularizer: WeightDecayRegularizer) -> Variable:
    """Append the operator that adds a regularizer's term to a gradient; the variable of the sum."""
    program = grad.program
    out = program.like(grad, program.unique(f"{grad.name}@REGULARIZED"))
    program.append(Operator("regularize", regularizer.regularized, (parameter, grad), (out,), "optimize"))
    return out
