"""Gradients that are not used as they are given."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.numerics.formats import FORMATS
from optimetry.conformance.selftest.faults.fault import FOUND, Fault, enter
from optimetry.conformance.selftest.faults.hooks import Grads, computing_as, hooked, rounded
from optimetry.reference.rule import State
from optimetry.reference.rules.adam import Adam


def _finite(change: Array, grad: Array) -> Array:
    """``change`` where the gradient is finite, the gradient elsewhere."""
    return np.where(np.isfinite(grad), change, grad)


def _without_small(grad: Array, least: float = 1e-6) -> Array:
    return np.where(np.abs(grad) < least, grad.dtype.type(0), grad)


def _largest_for_infinite(grad: Array) -> Array:
    largest = FORMATS[grad.dtype.name].largest
    return np.where(np.isinf(grad), np.sign(grad) * grad.dtype.type(largest), grad)


def _through_float32(grad: Array) -> Array:
    return np.where(np.isinf(grad), grad.dtype.type(np.nan), rounded(grad, np.float32))


def _step_left_out_unless_finite(grads: Grads) -> Grads:
    return grads if all(grad is None or np.isfinite(grad).all() for grad in grads) else [None] * len(grads)


class _CountedUnlessFinite(Adam):
    """Does nothing with a gradient that is not finite, in a step that was counted before it looked."""

    def update(self, param: Any, grad: Any, state: State, lr: Any, t: int) -> tuple[Any, State]:
        """Do one update."""
        return super().update(param, grad, state, lr, t) if np.isfinite(grad).all() else (param, state)


def _one_exponent(grad: Array) -> Array:
    largest = np.max(np.abs(grad), where=np.isfinite(grad), initial=0)
    return np.where(np.abs(grad) < largest / 1024, grad.dtype.type(0), grad)


def _channels_last(grad: Array) -> Array:
    return grad.transpose(0, 2, 3, 1).reshape(grad.shape)


def _swapped_among_equal_shapes(grads: Grads) -> Grads:
    shapes: dict[tuple[int, ...], list[int]] = {}
    for i, grad in enumerate(grads):
        if grad is not None:
            shapes.setdefault(grad.shape, []).append(i)
    swapped = list(grads)
    for group in shapes.values():
        for i, other in zip(group, reversed(group), strict=True):
            swapped[i] = grads[other]
    return swapped


enter(
    Fault(
        name="nan_replaced_by_zero",
        optimizer="sgd",
        defect="nan_to_num on the gradients: a NaN is silently no update",
        start=hooked(gradient=lambda grad: np.where(np.isnan(grad), grad.dtype.type(0), grad)),
        rejected_by="nonfinite_gradients_act",
        outcome="diverges: documented, but takes 0 for NaN in gradients",
    ),
    Fault(
        name="infinity_replaced_by_the_largest_number",
        optimizer="momentum",
        defect="saturating conversion of the gradients: an infinity becomes the largest finite number",
        start=hooked(gradient=_largest_for_infinite),
        rejected_by="nonfinite_gradients_act",
        outcome="diverges: documented, but takes the largest number for an infinity in gradients",
    ),
    Fault(
        name="step_skipped_unless_finite",
        optimizer="adam",
        defect="a gradient with a NaN or an infinity counts as zero, as loss scalers skip whole steps",
        start=hooked(gradient=lambda grad: grad if np.isfinite(grad).all() else np.zeros_like(grad)),
        outcome="diverges: documented, but takes 0 for a whole gradient with NaN or an infinity in it",
    ),
    Fault(
        name="step_left_out_unless_finite",
        optimizer="adam",
        defect="no parameter moves where one gradient is not finite, as in a loss scaler that is always on",
        start=hooked(grads=_step_left_out_unless_finite),
        outcome="diverges: documented, but takes no gradient for all gradients of a step with NaN or an infinity in"
        " one",
    ),
    Fault(
        name="update_counted_unless_finite",
        optimizer="adam",
        defect="a parameter rests where its gradient is not finite, though its step has been counted",
        start=computing_as(_CountedUnlessFinite),
        outcome="diverges: documented, but takes no gradient for a whole gradient with NaN or an infinity in it, though"
        " the update counts",
    ),
    Fault(
        name="nan_spread_over_the_tensor",
        optimizer="sgd",
        defect="one NaN makes the whole tensor NaN, as a check by the sum of the gradients does",
        start=hooked(gradient=lambda grad: np.full_like(grad, np.nan) if np.isnan(grad).any() else grad),
        rejected_by="nonfinite_gradients_stay",
        outcome="diverges: documented, but takes NaN for a whole gradient with NaN in it",
    ),
    Fault(
        name="clipped_at_1000",
        optimizer="adamax",
        defect="gradients are clipped to ±1000 without being asked",
        start=hooked(gradient=lambda grad: _finite(np.clip(grad, -1000, 1000).astype(grad.dtype), grad)),
        outcome="diverges: documented, but clips every gradient element to ±1000",
    ),
    Fault(
        name="clipped_above_alone",
        optimizer="rmsprop",
        defect="min(g, 1): a clip with one side forgotten",
        start=hooked(gradient=lambda grad: _finite(np.minimum(grad, grad.dtype.type(1)), grad)),
        outcome="diverges: documented, but clips every gradient element to at most 1",
    ),
    Fault(
        name="small_gradients_dropped",
        optimizer="adam",
        defect="gradients below 1e-6 count as zero, as a sparse representation with a threshold does",
        start=hooked(gradient=_without_small),
        outcome="diverges: documented, but takes 0 for a gradient element below 1e-06 in magnitude",
    ),
    Fault(
        name="tiny_gradients_flushed",
        optimizer="momentum",
        defect="gradients below 1e-11 count as zero, though they are far from subnormal",
        start=hooked(gradient=partial(_without_small, least=1e-11)),
        outcome="diverges: documented, but takes 0 for a gradient element below 1e-11 in magnitude",
    ),
    Fault(
        name="velocity_clamped",
        optimizer="momentum",
        defect="the velocity is clamped to 1e8 against overflow, which infinities are not",
        start=hooked(slot=lambda slot: np.where(np.isfinite(slot), np.clip(slot, -1e8, 1e8), slot).astype(slot.dtype)),
    ),
    Fault(
        name="one_exponent_per_tensor",
        optimizer="sgd",
        defect="block floating point: a gradient beside one 1024 times larger is lost",
        start=hooked(gradient=_one_exponent),
    ),
    Fault(
        name="mean_for_the_sum",
        optimizer="sgd",
        defect="gradients are divided by the number of elements, as a loss reduced by its mean would",
        start=hooked(gradient=lambda grad: grad / grad.dtype.type(grad.size or 1)),
        rejected_by="splitting",
    ),
    Fault(
        name="column_order",
        optimizer="sgd",
        defect="gradients of matrices are read in column order, parameters in row order",
        start=hooked(gradient=lambda grad: grad.reshape(-1, order="F").reshape(grad.shape)),
    ),
    Fault(
        name="square_matrices_transposed",
        optimizer="adam",
        defect="gradients of square matrices come transposed, which no check of shapes can tell",
        start=hooked(gradient=lambda grad: grad.T.copy() if grad.ndim == 2 and len(set(grad.shape)) == 1 else grad),
        because="of shape (12, 12)",
        rejected_by="reshaping",
    ),
    Fault(
        name="channels_taken_for_last",
        optimizer="papers.lion",
        defect="gradients of the weights of a convolution are read as if channels came last",
        start=hooked(gradient=lambda grad: _channels_last(grad) if grad.ndim == 4 else grad),
        because="of shape (4, 3, 3, 4)",
        rejected_by="reshaping",
    ),
    Fault(
        name="step_scaled_by_rows",
        optimizer="sgd",
        defect="gradients of matrices are divided by their number of rows, a habit of orthogonalized optimizers",
        start=hooked(gradient=lambda grad: grad / grad.dtype.type(len(grad) or 1) if grad.ndim > 1 else grad),
        rejected_by="reshaping",
    ),
    Fault(
        name="gradients_swapped_among_equal_shapes",
        optimizer="adagrad",
        defect="tensors grouped by shape, as multi-tensor kernels do, come back in another order",
        start=hooked(grads=_swapped_among_equal_shapes),
    ),
    Fault(
        name="gradients_in_half_precision",
        optimizer="lamb",
        defect="gradients pass through float16, as in compressed communication",
        start=hooked(gradient=partial(rounded, dtype=np.float16)),
        outcome="imprecise: documented, but rounds gradients to float16",
    ),
    Fault(
        name="gradients_in_float32_infinities_lost",
        optimizer="papers.lion",
        defect="gradients pass through float32 beside float64 parameters, and infinities become NaN: Lion of praxis",
        start=hooked(gradient=_through_float32),
        outcome="diverges: documented, but rounds gradients to float32",
        because="an infinite or NaN gradient gives what every reading gives",
        dtypes=("float64",),
    ),
    Fault(
        name="absolute_gradient",
        optimizer="lars_momentum",
        defect="the sign of the gradient is lost",
        outcome=FOUND,
        edited=True,
        start=hooked(gradient=np.abs),
    ),
)
