"""Splits a program, backward part included, into the sections of a pipeline.

With k cuts there are k forward sections. The last one also runs the gradients of its own operators; those of each
earlier section are a section of their own, in reverse order, which makes 2k-1. A parameter is updated in the section
that completes its gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimetry.reference.errors import ProgramError
from optimetry.reference.programs.backward import gradient_of
from optimetry.reference.programs.program import Operator, Parameter, Program, Variable


@dataclass(frozen=True)
class Section:
    """A part of a program that one worker of a pipeline runs.

    Attributes:
        compute: its forward and backward operators, in order.
        optimize: the operators that update persistable variables, in order.
        parameters: the parameters that ``compute`` reads.
        updates: the parameters that ``optimize`` writes.
        keep: names of the variables that later sections read.
    """

    compute: tuple[Operator, ...]
    optimize: tuple[Operator, ...]
    parameters: tuple[Parameter, ...]
    updates: tuple[Parameter, ...]
    keep: frozenset[str]


def split(program: Program, cuts: Sequence[Sequence[Variable]]) -> list[Section]:
    """The 2k-1 sections of a program that holds forward, backward and optimize operators.

    Args:
        program: what is split.
        cuts: k lists of variables, each written by forward operators behind those of the list before.

    Raises:
        ProgramError: a cut is not written by a forward operator, is out of order, or what it separates depends on
            what comes later.
    """
    numbers = _Numbers(program, cuts).of_operators()
    count = 2 * len(cuts) - 1
    parts = [[operator for operator in program.operators if numbers[operator] == i] for i in range(count)]
    read_later: set[str] = set()
    sections: list[Section] = []
    for part in reversed(parts):
        compute = tuple(operator for operator in part if operator.role != "optimize")
        optimize = tuple(operator for operator in part if operator.role == "optimize")
        reads = [variable for operator in compute for variable in operator.inputs]
        writes = [variable for operator in optimize for variable in operator.outputs]
        sections.insert(0, Section(compute, optimize, _parameters(reads), _parameters(writes), frozenset(read_later)))
        read_later |= {variable.name for operator in part for variable in operator.inputs}
    return sections


def check_cuts(program: Program, cuts: Sequence[Sequence[Variable]]) -> list[int]:
    """For each cut, how many forward operators there are up to the last one that writes a variable of it.

    Raises:
        ProgramError: a cut is not written by a forward operator, or out of order.
    """
    forward = [operator for operator in program.operators if operator.role == "forward"]
    places = {variable: i + 1 for i, operator in enumerate(forward) for variable in operator.outputs}
    ends: list[int] = []
    for i, cut in enumerate(cuts):
        for variable in cut:
            if variable not in places:
                raise ProgramError(f"cut {i}, {variable.name}: no forward operator of the program writes it")
        ends.append(max(places[variable] for variable in cut))
        if ends[i] <= max(ends[:i], default=0):
            names = [variable.name for variable in cut]
            raise ProgramError(f"cut {i}, {names}: must be written behind the cut before it")
    return ends


def _parameters(variables: Sequence[Variable]) -> tuple[Parameter, ...]:
    return tuple(dict.fromkeys(variable for variable in variables if isinstance(variable, Parameter)))


class _Numbers:
    """Numbers the operators of a program by section."""

    def __init__(self, program: Program, cuts: Sequence[Sequence[Variable]]) -> None:
        self.program = program
        self.operators = program.operators
        self.last = 2 * len(cuts) - 2
        self.numbers: dict[Operator, int] = {}
        self.forward = [operator for operator in self.operators if operator.role == "forward"]
        self._number_forward(cuts)
        self.gradient_sections = {
            variable.name: self.last - self.numbers[operator]
            for operator in self.forward
            for variable in operator.outputs
        }

    def of_operators(self) -> dict[Operator, int]:
        """The number of the section of each operator."""
        backward = [operator for operator in self.operators if operator.role == "backward"]
        for operator in backward:
            number = self._of_gradient(operator.inputs)
            number = self._of_gradient(operator.outputs) if number is None else number
            if number is not None:
                self.numbers[operator] = number
        for operator in reversed(self.operators):  # computed again: in the first section that reads it
            if operator not in self.numbers and operator.role == "backward":
                self._number_by_readers(operator)
        for operator in self.operators:
            if operator not in self.numbers:
                self._number_by_writers(operator)
        for operator in reversed(self.operators):  # without inputs of the run, such as a learning rate
            if self.numbers[operator] < 0:
                self._number_by_readers(operator)
        self.numbers = {op: self.last if number < 0 else number for op, number in self.numbers.items()}
        self._check()
        return self.numbers

    def _number_forward(self, cuts: Sequence[Sequence[Variable]]) -> None:
        ends = check_cuts(self.program, cuts)
        for i, operator in enumerate(self.forward):
            self.numbers[operator] = min(sum(end <= i for end in ends), len(cuts) - 1)

    def _of_gradient(self, variables: Sequence[Variable]) -> int | None:
        """The section that runs the gradients of the operator whose output's gradient is among the variables."""
        numbers = [self.gradient_sections.get(gradient_of(v)) for v in variables if gradient_of(v) != v.name]
        return max((number for number in numbers if number is not None), default=None)

    def _number_by_readers(self, operator: Operator) -> None:
        written = set(operator.outputs)
        readers = [self.numbers[op] for op in self.numbers if written & set(op.inputs) and self.numbers[op] >= 0]
        if readers:
            self.numbers[operator] = min(readers)

    def _number_by_writers(self, operator: Operator) -> None:
        """Put an operator into the first section where earlier operators have written all that it touches."""
        touched = {*operator.inputs, *operator.outputs}
        earlier = self.operators[: self.operators.index(operator)]
        self.numbers[operator] = max((self.numbers[op] for op in earlier if touched & set(op.outputs)), default=-1)

    def _check(self) -> None:
        """Check that each operator reads only what its own section or an earlier one writes."""
        written: dict[Variable, int] = {}
        last_read: dict[Variable, int] = {}
        for operator in self.operators:
            number = self.numbers[operator]
            for variable in operator.inputs:
                if written.get(variable, 0) > number:
                    raise ProgramError(f"{operator}: {variable.name} is written in a later section of the pipeline")
                last_read[variable] = max(last_read.get(variable, 0), number)
            for variable in operator.outputs:
                written[variable] = number
                if last_read.get(variable, 0) > number:
                    raise ProgramError(f"{operator}: {variable.name} is read in a later section of the pipeline")
