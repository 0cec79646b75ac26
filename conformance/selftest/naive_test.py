"""Replays the kind of test that most optimizers have, against a faulty one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from optimetry.conformance.cases.drawn import fitting
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults import Fault
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard, watched
from optimetry.reference.errors import TargetFault


def passes_naive_test(fault: Fault) -> bool:
    """Whether a fault passes the kind of test that most optimizers have.

    Default hyperparameters, one tensor of ten elements (nine, where it must be a matrix), ten steps with gradients from
    N(0, 1), a constant learning rate, and ``np.testing.assert_allclose`` with a relative tolerance of 1e-5 on the final
    parameters.
    """
    rng = np.random.default_rng(0)
    dtype = np.dtype(fault.dtypes[0])
    shape = fitting(subject_named(fault.optimizer), (10,))
    parameters = np.resize(rng.normal(size=10).astype(dtype), shape)
    grads = [np.resize(row, shape) for row in rng.normal(size=(10, 10)).astype(dtype)]
    right = _trained(NumpyTarget(), fault, parameters, grads)
    try:
        with watched(Guard(fault.time_limit)):
            np.testing.assert_allclose(_trained(fault.target(), fault, parameters, grads), right, rtol=1e-5)
    except (TargetFault, SystemExit):
        return False
    return True


def _trained(target: Target, fault: Fault, parameters: Array, grads: Sequence[Array]) -> Array:
    subject = subject_named(fault.optimizer)
    hyper = subject.declaration.typical().hyper()
    start: Any = target.start if isinstance(subject, RuleSubject) else target.start_wrapper  # type: ignore[attr-defined]
    run = start(fault.optimizer, hyper, [parameters.copy()])
    after = [parameters]
    for grad in grads:
        if isinstance(subject, RuleSubject):
            after = run.step([grad.copy()], 0.01)
        elif getattr(subject, "averages", False):
            run.update([grad.copy()])
            after = [array.copy() for array in run.apply()]
            run.restore()
        else:
            after = run.transform([grad.copy()])
    return np.asarray(after[0])
