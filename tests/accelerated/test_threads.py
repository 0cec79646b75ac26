"""What threads do for one another: shares taken once, errors and interrupts raised when the others have ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from optimetry.accelerated.dtypes import DTYPES
from optimetry.accelerated.optimizer import Accelerated
from optimetry.accelerated.plan import UNIT
from optimetry.accelerated.source import machine_code
from optimetry.accelerated.threads import ALONE, Share, together, worthwhile
from tests.accelerated.cases import EACH_KIND


def slower_elsewhere(error: type[BaseException] | None = None) -> tuple[Callable[[], None], threading.Event]:
    """A task that another thread begins before this one ends it, and ends later; and the event that says it has.

    In this thread it may end with an error.
    """
    begun, ended, own = threading.Event(), threading.Event(), threading.get_ident()

    def task() -> None:
        if threading.get_ident() != own:
            begun.set()
            time.sleep(0.05)
            ended.set()
            return
        begun.wait(30)
        if error is not None:
            raise error

    return task, ended


def test_every_thread_does_the_task() -> None:
    meet = threading.Barrier(3)
    together(lambda: meet.wait(30) and None, 3, lambda: True)
    assert meet.n_waiting == 0


def test_what_another_thread_has_taken_is_waited_for() -> None:
    task, ended = slower_elsewhere()
    together(task, 2, ended.is_set)
    assert ended.is_set()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_error_is_raised_when_the_others_have_ended(error: type[BaseException]) -> None:
    task, ended = slower_elsewhere(error)
    with pytest.raises(error):
        together(task, 2, lambda: True)
    assert ended.is_set()


def test_an_error_of_another_thread_is_raised() -> None:
    own, failed = threading.get_ident(), threading.Event()

    def task() -> None:
        if threading.get_ident() == own:
            failed.wait(30)
        else:
            failed.set()
            raise MemoryError("there")

    with pytest.raises(MemoryError, match="there"):
        together(task, 2, lambda: False)
    together(lambda: None, 2, lambda: True)  # and the thread lives


def test_an_interrupt_while_others_are_waited_for() -> None:
    task, ended = slower_elsewhere()
    looks: list[bool] = []

    def is_done() -> bool:
        looks.append(True)
        if len(looks) == 2:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        together(task, 2, is_done)
    assert ended.is_set()


def test_a_share_is_done_once_or_taken_back() -> None:
    done: list[int] = []
    share = Share(lambda: done.append(1))
    share.do()
    share.do()
    assert share.take_back()
    other = Share(lambda: done.append(2))
    assert other.take_back()
    other.do()
    assert done == [1]


def test_a_share_that_is_being_done_cannot_be_taken_back() -> None:
    begun, end = threading.Event(), threading.Event()

    def task() -> None:
        begun.set()
        end.wait(30)

    share = Share(task)
    thread = threading.Thread(target=share.do)
    thread.start()
    begun.wait(30)
    assert not share.take_back()
    end.set()
    thread.join()
    assert share.take_back()


def test_a_thread_that_looks_on_sees_what_is_done_and_gives_up() -> None:
    counters = np.zeros(2, np.int64)
    machine_code.look_on(counters, 1)  # returns, though nobody does it
    counters[machine_code.DONE] = 1
    machine_code.look_on(counters, 1)
    assert counters.tolist() == [0, 1]


def test_threads_are_woken_for_enough_elements_alone() -> None:
    assert [worthwhile(8, n) for n in (0, ALONE - 1, ALONE, 3 * ALONE, 10**8)] == [1, 1, 2, 4, 8]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(("name", "hyper"), EACH_KIND)
def test_where_memory_lies_changes_no_bit(name: str, hyper: dict[str, Any], dtype: str) -> None:
    def placed(values: Any, past: int) -> Any:
        memory = np.zeros(values.nbytes + 256, np.uint8)
        start = -memory.ctypes.data % 64 + past * values.itemsize
        array = memory[start : start + values.nbytes].view(values.dtype)
        array[:] = values
        return array

    values, grads = (
        np.random.default_rng(seed).standard_normal(3 * UNIT + 100).astype(DTYPES[dtype].dtype) for seed in (0, 1)
    )
    results = []
    for past in (0, 1, 5):
        parameter = placed(values, past)
        optimizer = Accelerated(name, [parameter], hyper, engine="numba", threads=2)
        for _ in range(2):
            optimizer.step([placed(grads, past)], 0.1)
        results.append(parameter.tobytes())
    assert results[0] == results[1] == results[2]
