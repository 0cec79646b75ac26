"""Deep gradient compression, one worker: the local clip, and which entries are sent."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimetry.reference.distributed.dgc_momentum import DGCMomentum, largest
from tests.reference.rejections import DETERMINISTIC, rejected


def local_clip(implementation: type[DGCMomentum], powers: tuple[int, int, int]) -> None:
    """A worker's gradient has at most the norm over the root of the number of workers, so all together the norm."""
    size, norm, root = (2.0**power for power in powers)
    rule = implementation(momentum=0.0, rampup_begin_step=0, local_grad_clip_norm=5 * norm, num_trainers=int(root) ** 2)
    factor = min(size, norm / root)
    assert rule.clipped(np.array([3.0, 4.0]) * size).tolist() == [3.0 * factor, 4.0 * factor]


POWERS = st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 3))


@DETERMINISTIC
@given(POWERS)
def test_the_local_clip(powers: tuple[int, int, int]) -> None:
    local_clip(DGCMomentum, powers)


class ClipsByTheSquare(DGCMomentum):
    """A quarter to a hundredth of the norm: divided by the number of workers squared."""

    def clipped(self, grad: Any) -> Any:
        assert self.local_grad_clip_norm
        assert self.num_trainers
        shorter = self.local_grad_clip_norm / self.num_trainers**1.5
        return DGCMomentum.clipped(replace(self, local_grad_clip_norm=shorter), grad)


class ClipsTogether(ClipsByTheSquare):
    """The whole norm for each worker."""

    def clipped(self, grad: Any) -> Any:
        assert self.local_grad_clip_norm
        assert self.num_trainers
        longer = self.local_grad_clip_norm * self.num_trainers**0.5
        return DGCMomentum.clipped(replace(self, local_grad_clip_norm=longer), grad)


@pytest.mark.parametrize("faulty", [ClipsByTheSquare, ClipsTogether])
def test_a_faulty_local_clip_is_rejected(faulty: type[DGCMomentum]) -> None:
    assert rejected(local_clip, faulty, POWERS)


def test_the_first_of_equal_entries_and_nan_are_sent() -> None:
    assert largest(np.array([1.0, -2.0, 2.0, 0.5]), 1).tolist() == [1]
    assert largest(np.array([[9.0, np.nan], [np.inf, 0.0]]), 1).tolist() == [1]


@pytest.mark.parametrize(
    ("size", "sparsity", "sent"), [(0, 0.5, 0), (1, 0.999, 1), (1000, 0.999, 1), (4096, 0.75, 1024)]
)
def test_how_many_entries_are_sent(size: int, sparsity: float, sent: int) -> None:
    rule = DGCMomentum(momentum=0.0, rampup_begin_step=0)
    zeros = np.zeros(size, np.float32)
    message, _ = rule.compress(zeros, rule.initial_state(zeros), sparsity)
    assert (len(message.indices), message.nbytes) == (sent, 8 * sent)
