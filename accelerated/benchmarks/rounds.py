"""Times contenders side by side, each once in every round, so that a disturbance affects all."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optimetry.conformance.targets.peers import TimedStep

PAUSE = 0.02
"""Seconds before each sample: threads of the last contender that still spin go to sleep, and time slices begin anew."""

SAMPLE = 1e-3
"""Seconds that one sample takes at least: short steps are repeated."""


@dataclass(frozen=True)
class Timing:
    """The times of one contender over all rounds.

    Attributes:
        median: seconds of one step.
        spread: half the distance of the quartiles, as a share of the median.
        threads: the most threads of this process that ran at once in a round, processor time divided by time; None
            where a device does the work.
    """

    median: float
    spread: float
    threads: float | None = None


def timings(contenders: Mapping[str, TimedStep], *, seconds: float, rounds: int = 7) -> dict[str, Timing]:
    """Time one step of each contender.

    Args:
        contenders: functions that do one step.
        seconds: about how long all rounds take.
        rounds: the least number of rounds.
    """
    repeats = {name: _repeats(step) for name, step in contenders.items()}
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    threads: dict[str, list[float]] = {name: [] for name in contenders}
    end = time.perf_counter() + seconds
    done = 0
    while done < rounds or time.perf_counter() < end:
        for name in turns(contenders, done):
            step, times = contenders[name], repeats[name]
            time.sleep(PAUSE)
            worked, start = time.process_time(), time.perf_counter()
            for _ in range(times):
                step()
            taken = time.perf_counter() - start
            samples[name].append(taken / times)
            threads[name].append((time.process_time() - worked) / taken)
        done += 1
    return {name: timing(seconds_of, max(threads[name])) for name, seconds_of in samples.items()}


def turns(names: Iterable[str], done: int) -> list[str]:
    """Return the order of a round behind so many others: each begins with another contender."""
    order = list(names)
    return order[done % len(order) :] + order[: done % len(order)]


def timing(samples: Sequence[float], threads: float | None = None) -> Timing:
    """Return the median and the spread of samples, seconds of a step."""
    low, median, high = np.quantile(samples, (0.25, 0.5, 0.75)).tolist()
    return Timing(median, (high - low) / 2 / median if median else 0.0, threads)


def _repeats(step: TimedStep) -> int:
    """Return how many steps make a sample; the first two steps, which compile and allocate, are not timed."""
    step()
    step()
    start = time.perf_counter()
    step()
    return max(1, int(SAMPLE / max(time.perf_counter() - start, 1e-9)))
