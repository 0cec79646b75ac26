"""Shows how far jobs are and what a search is doing, on a terminal alone; handles Ctrl-C in a search."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tqdm import tqdm


def progress_bar(jobs: int, unit: str = "job", initial: int = 0) -> tqdm[Any]:
    """Return a bar for so many jobs or other units, in thousands and millions, which is shown on a terminal alone."""
    return tqdm(
        total=jobs,
        initial=initial,  # done by an earlier run: no part of the rate
        unit=unit,
        unit_scale=unit != "job",  # thousands
        leave=False,
        dynamic_ncols=True,
        disable=None,
    )


@contextmanager
def ending_searches(end: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C end searches, where there are any; the next one interrupts the command.

    Args:
        end: ends them; returns whether there were any.

    Yields:
        a function that returns whether Ctrl-C has ended searches.
    """
    ended = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal ended
        if ended or not end():
            raise KeyboardInterrupt
        ended = True

    in_main_thread = threading.current_thread() is threading.main_thread()
    ours = in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield lambda: ended
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
