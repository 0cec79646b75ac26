"""A part of the tests has every test function."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.sample import one_in

ROOT = Path(__file__).parents[1]


def collected(*options: str) -> Counter[str]:
    """How many tests there are of each function of a file."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *options]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return Counter(line.partition("[")[0] for line in ended.stdout.splitlines() if "::" in line)


def test_of_each_function_every_so_many_th_is_chosen_from_a_place_of_its_own() -> None:
    names = ["test_a", "test_b"] * 4
    first, second = (one_in(4, names)[i::2] for i in (0, 1))
    assert sorted(first) == sorted(second) == [False, False, False, True]
    assert first != second
    assert all(one_in(1, names))
    assert one_in(4, ["alone"]) == [True]


def test_what_is_marked_whole_is_run_whole_and_what_is_slow_is_left_out() -> None:
    files = ("tests/conformance/selftest/test_faults.py", "tests/conformance/judging/test_narrow_slots.py")
    every, some = (collected(*files, *options) for options in ((), ("--one-in", "8")))
    (whole,) = (name for name in every if name.endswith("::test_a_fault_is_rejected_by_what_is_named"))
    (slow,) = (name for name in every if name.endswith("::test_optax_is_named_eager_compiled_and_in_a_tree"))
    assert some[whole] == every[whole] > 700
    assert every[slow]
    assert slow not in some


@pytest.mark.parametrize("chosen", [(), ("-k", "not 0")])
def test_every_function_has_tests(chosen: tuple[str, ...]) -> None:
    """What ``-k`` leaves out is no part of which one in so many is chosen."""
    every, some = (collected("tests/reports/test_numbers.py", *chosen, *options) for options in ((), ("--one-in", "3")))
    assert max(every.values()) > 3
    assert some.keys() == every.keys()
    assert all(some[name] in (count // 3, -(-count // 3)) for name, count in every.items())
