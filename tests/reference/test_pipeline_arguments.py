"""Wrong arguments of PipelineOptimizer are named, and change nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from optimetry.reference import SGD
from optimetry.reference.errors import ArgumentError, HyperparameterError, OptimetryError, ProgramError, UsageError
from optimetry.reference.programs import Variable, layers
from optimetry.reference.programs.pipeline import PipelineOptimizer
from optimetry.reference.programs.sections import split
from tests.reference.random_programs import chain, feeds, piped, same_bits
from tests.reference.small import fresh

Cuts = Sequence[Sequence[Variable]]
CONSTRUCTIONS: dict[str, tuple[Callable[[Cuts], Any], type[OptimetryError], str]] = {
    "optimizer": (lambda cuts: PipelineOptimizer(0.1, cuts), ArgumentError, "optimizer = 0.1, must be an optimizer"),
    "no cuts": (lambda cuts: PipelineOptimizer(SGD(0.1), []), ArgumentError, "must be a list of lists of variables"),
    "flat cuts": (lambda cuts: PipelineOptimizer(SGD(0.1), cuts[0]), ArgumentError, "must be a list of lists"),  # type: ignore[arg-type]
    "names": (lambda cuts: PipelineOptimizer(SGD(0.1), [["x"]]), ArgumentError, "'x' in cut_list, must be a variable"),  # type: ignore[list-item]
    "twice": (lambda cuts: PipelineOptimizer(SGD(0.1), [*cuts, *cuts]), ArgumentError, "is twice in cut_list"),
    "places": (
        lambda cuts: PipelineOptimizer(SGD(0.1), cuts, place_list=["cpu"] * 2),
        ArgumentError,
        "place_list = .* with 2 entries, must be a list with 3: with k cuts 2k-1",
    ),
    "concurrency": (
        lambda cuts: PipelineOptimizer(SGD(0.1), cuts, concurrency_list=[1, 1, 1, 1]),
        ArgumentError,
        "concurrency_list = .* with 4 entries, must be a list with 3: with k cuts 2k-1",
    ),
    "no list": (
        lambda cuts: PipelineOptimizer(SGD(0.1), cuts, concurrency_list=3),  # type: ignore[arg-type]
        ArgumentError,
        "concurrency_list = 3",
    ),
    "idle section": (
        lambda cuts: PipelineOptimizer(SGD(0.1), cuts, concurrency_list=[1, 0, 1]),
        HyperparameterError,
        "an entry of concurrency_list = 0",
    ),
    "queue": (lambda cuts: PipelineOptimizer(SGD(0.1), cuts, queue_size=0), HyperparameterError, "queue_size = 0"),
    "sync": (lambda cuts: PipelineOptimizer(SGD(0.1), cuts, sync_steps=1.5), HyperparameterError, "sync_steps = 1.5"),  # type: ignore[arg-type]
    "core": (
        lambda cuts: PipelineOptimizer(SGD(0.1), cuts, start_cpu_core_id=-1),
        HyperparameterError,
        "start_cpu_core_id = -1",
    ),
}


def two_layers() -> tuple[Variable, Variable, Variable]:
    with fresh():
        first = layers.fc(layers.data("x", [None, 3]), 3)
        second = layers.fc(first, 3)
        return first, second, layers.mean(second)


@pytest.mark.parametrize(("make", "error", "text"), CONSTRUCTIONS.values(), ids=CONSTRUCTIONS)
def test_wrong_arguments_are_named(make: Callable[[Cuts], Any], error: type[OptimetryError], text: str) -> None:
    first, _, loss = two_layers()
    with pytest.raises(error, match="PipelineOptimizer: .*" + text):
        make([[first], [loss]])


MINIMIZATIONS: dict[str, tuple[Callable[[Variable, Variable, Variable], Cuts], type[OptimetryError], str]] = {
    "loss not cut": (lambda first, second, loss: [[first], [second]], ArgumentError, "must be the loss"),
    "wrong order": (lambda first, second, loss: [[second], [first], [loss]], ProgramError, "behind the cut before it"),
    "foreign": (lambda first, second, loss: [[two_layers()[0]], [loss]], ProgramError, "no forward operator"),
    "fed": (
        lambda first, second, loss: [[loss.program.variables["x"]], [loss]],
        ProgramError,
        "x: no forward operator of the program writes it",
    ),
}


@pytest.mark.parametrize(("cuts", "error", "text"), MINIMIZATIONS.values(), ids=MINIMIZATIONS)
def test_wrong_cuts_are_named_and_change_nothing(
    cuts: Callable[[Variable, Variable, Variable], Cuts], error: type[OptimetryError], text: str
) -> None:
    variables = two_layers()
    program = variables[2].program
    before = list(program.operators), dict(program.variables)
    with pytest.raises(error, match=text):
        PipelineOptimizer(SGD(0.1), cuts(*variables)).minimize(variables[2])
    assert (program.operators, program.variables) == before


def test_a_section_that_would_read_what_a_later_one_writes_is_refused() -> None:
    """A forward operator behind the backward ones, which reads the gradient of the first layer."""
    with fresh():
        first = layers.fc(layers.data("x", [None, 3]), 3, name="a")
        loss = layers.mean(layers.fc(first, 3))
        (gradient,) = (gradient for parameter, gradient in SGD(0.1).backward(loss) if parameter.name == "a.w_0")
        layers.mean(gradient)
    with pytest.raises(ProgramError, match=f"{gradient.name} is written in a later section of the pipeline"):
        split(loss.program, [[first], [loss]])


def test_training_needs_minimize_values_and_feeds_that_fit() -> None:
    built = piped(chain(1))
    with pytest.raises(UsageError, match="PipelineOptimizer: nothing to train: call minimize first"):
        PipelineOptimizer(SGD(0.1)).train(built.executor, feeds(1))
    before = built.parameters
    with pytest.raises(ProgramError, match="x: a value of shape"):
        built.optimizer.train(built.executor, [*feeds(1), {"x": np.zeros((4, 9), np.float32)}])
    assert same_bits(before, built.parameters)
