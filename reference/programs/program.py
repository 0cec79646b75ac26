"""Programs: operators over named variables, built once and run many times by an `Executor`.

A small form of the static graph that the documents' examples use (pages 000 and 004). In one paragraph:

A `Program` is a list of `Operator` over `Variable`; an operator is a NumPy function with input and output variables and
has no state. Values live in a `Scope` (see `optimetry.reference.programs.executor`): persistable variables, among them
every `Parameter`, in the executor's own scope and all others in the scope of one run, where they are dropped after
their last use. Layers append operators of role ``forward``; `optimetry.reference.programs.backward.append_backward`
appends those of role ``backward``, one for each forward operator, differentiated by autograd; `Optimizer.minimize`
appends those of role ``optimize``. The startup program holds the operators that give parameters their first values.

Names are unique in the process, as in fluid (`optimetry.reference.programs.naming`), so programs that share a scope do
not share values; a parameter that is given the name of another on purpose is the same parameter.

Randomness is a function of the program's `seed`, the place of the operator among the program's random ones and the
number of the run, which every random operator reads from the variable `Program.run_number`: an operator that is run
again yields the same bits, and what else the process has built does not matter.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from optimetry.reference.errors import ProgramError
from optimetry.reference.programs import naming
from optimetry.reference.programs.text import program_text
from optimetry.reference.programs.variables import Parameter, Shape, Variable, is_float

__all__ = [
    "Operator",
    "Parameter",
    "Program",
    "Role",
    "Shape",
    "Variable",
    "all_or_nothing",
    "default_main_program",
    "default_startup_program",
    "is_float",
    "program_guard",
]

Role = Literal["forward", "backward", "optimize"]


@dataclass(frozen=True, eq=False)
class Operator:
    """One call of a NumPy function: the outputs get what ``function`` returns for the values of the inputs.

    Attributes:
        name: what it computes, for people: ``mul``.
        function: a pure function of as many arrays as there are inputs. It returns one array, or a tuple where there is
            not exactly one output. Forward functions are built from `autograd.numpy`.
        inputs: the variables it reads.
        outputs: the variables it writes.
        role: the part of training it belongs to.
        at_test: the function in a clone for testing, where it differs.
        gradient: replaces autograd where the gradient is no array: from (index of the input, gradient of the output,
            values of the inputs) to the gradient of that input.
        slots: names of the inputs, then of the outputs, where `print` shows them by name: ``("Param", …)``.
        per_scope: whether ``function`` gets the scope of persistable values before its inputs.
        at_end: called with the values of the outputs once all operators that run together have succeeded.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    role: Role = "forward"
    at_test: Callable[..., Any] | None = None
    gradient: Callable[..., Any] | None = None
    slots: tuple[str, ...] = ()
    per_scope: bool = False
    at_end: Callable[..., Any] | None = None

    def run(self, values: list[Any], home: Any = None) -> tuple[Any, ...]:
        """The values of the outputs for these values of the inputs, in the dtypes of the outputs."""
        result = self.function(home, *values) if self.per_scope else self.function(*values)
        results = (result,) if len(self.outputs) == 1 else tuple(result)
        return tuple(
            np.asarray(value, dtype=out.dtype) if isinstance(value, np.ndarray | np.generic) else value
            for value, out in zip(results, self.outputs, strict=True)
        )

    def renamed(self, new: Mapping[str, Variable]) -> Operator:
        """This operator over other variables: those of ``new`` in place of those it maps by name."""
        return replace(
            self,
            inputs=tuple(new.get(variable.name, variable) for variable in self.inputs),
            outputs=tuple(new.get(variable.name, variable) for variable in self.outputs),
        )

    def __str__(self) -> str:
        inputs, outputs = (", ".join(variable.name for variable in part) for part in (self.inputs, self.outputs))
        return f"{outputs} = {self.name}({inputs})"


class Program:
    """A list of operators, in the order in which they run, and their variables by name.

    Attributes:
        seed: decides every random number of the program.
        pipeline: the `PipelineOptimizer` that has minimized a loss of it, if one has.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.operators: list[Operator] = []
        self.variables: dict[str, Variable] = {}
        self.pipeline: Any = None
        self._random = 0

    def variable(self, name: str, shape: Shape, dtype: Any, **attributes: bool) -> Variable:
        """A new variable.

        Raises:
            ProgramError: the name is taken.
        """
        return self._entered(Variable(self, name, shape, dtype, **attributes))

    def parameter(self, name: str, shape: tuple[int, ...], dtype: Any, **attributes: Any) -> Parameter:
        """A parameter: that of the program with this name, which is shared on purpose, or else a new one.

        Args:
            name: its name.
            shape: its shape.
            dtype: its dtype.
            **attributes: those of `Parameter`.

        Raises:
            ProgramError: the name is that of no parameter, or of one that is declared otherwise.
        """
        parameter = Parameter(self, name, shape, dtype, **attributes)
        there = self.variables.get(name)
        if not isinstance(there, Parameter):
            self._entered(parameter)
            return parameter
        for attribute in ("shape", "dtype", "trainable", "regularizer", "learning_rate"):
            want, have = getattr(there, attribute), getattr(parameter, attribute)
            if repr(want) != repr(have):  # two regularizers of equal strength are alike
                raise ProgramError(f"parameter {name}: {attribute} = {have!r}, must be {want!r}, as where it was made")
        return there

    def _entered(self, variable: Variable) -> Variable:
        if variable.name in self.variables:
            raise ProgramError(f"the program already has a variable {variable.name!r}")
        self.variables[variable.name] = variable
        return variable

    def like(self, variable: Variable, name: str) -> Variable:
        """A new variable that is not persistable, of the shape and dtype of another."""
        return self.variable(name, variable.shape, variable.dtype)

    def append(self, operator: Operator) -> Operator:
        """Append an operator.

        Raises:
            ProgramError: it uses a variable of another program.
        """
        for variable in (*operator.inputs, *operator.outputs):
            if self.variables.get(variable.name) is not variable:
                raise ProgramError(f"{operator}: {variable.name} is not a variable of this program")
        self.operators.append(operator)
        return operator

    def unique(self, prefix: str) -> str:
        """A name that nothing in this process has: ``fc_0``, then ``fc_1``."""
        return next(name for name in iter(lambda: naming.unique(prefix), None) if name not in self.variables)

    def next_seed(self) -> int:
        """The seed of the next random operator: a function of the program's seed and the operator's place alone."""
        self._random += 1
        return zlib.crc32(f"{self.seed} {self._random}".encode())

    @property
    def run_number(self) -> Variable:
        """The number of the run, from 0, an int64 0-d array that the executor feeds."""
        name = "run_number"
        if name not in self.variables:
            self.variable(name, (), np.int64, stop_gradient=True)
        return self.variables[name]

    def all_parameters(self) -> list[Parameter]:
        """Every parameter, in the order of creation."""
        return [variable for variable in self.variables.values() if isinstance(variable, Parameter)]

    def named(self, variable: Variable | str, argument: str = "") -> Variable:
        """The variable of that name; ``argument`` is where it was given, for error texts.

        Raises:
            ProgramError: there is none.
        """
        name = variable.name if isinstance(variable, Variable) else variable
        if not isinstance(name, str):
            raise ProgramError(f"{argument or 'variable'}: {name!r}, must be a variable or its name")
        if name not in self.variables:
            close = get_close_matches(name, self.variables) or sorted(self.variables)[:5]
            where = f" ({argument})" if argument else ""
            raise ProgramError(f"no variable {name!r} in the program{where}, must be one such as {', '.join(close)}")
        return self.variables[name]

    def clone(self, for_test: bool = False) -> Program:
        """A copy that later operators of this one do not enter; for testing, the forward part alone."""
        other = Program(self.seed)
        for name, variable in self.variables.items():
            other.variables[name] = copy(variable)
            other.variables[name].program = other
        operators = [operator for operator in self.operators if not for_test or operator.role == "forward"]
        if for_test:
            operators = [replace(op, function=op.at_test or op.function) for op in operators]
        other.operators = [operator.renamed(other.variables) for operator in operators]
        other._random = self._random
        return other

    def svg(self) -> str:
        """A picture of the program; see `optimetry.reference.programs.picture`."""
        from optimetry.reference.programs.picture import svg

        return svg(self)

    def __str__(self) -> str:
        return program_text(self)

    def __repr__(self) -> str:
        counts = f"{len(self.operators)} operators, {len(self.all_parameters())} parameters"
        return f"Program({counts}, seed={self.seed})"


@contextmanager
def all_or_nothing(*programs: Program) -> Iterator[None]:
    """Whatever raises inside ``with`` leaves these programs, the default ones and the names as they were."""
    touched = {*programs, default_main_program(), default_startup_program()}
    before = [(each, list(each.operators), dict(each.variables), each.pipeline, each._random) for each in touched]
    names = naming.taken()
    try:
        yield
    except BaseException:
        for program, operators, variables, pipeline, random in before:
            program.operators[:] = operators
            program.variables, program.pipeline, program._random = variables, pipeline, random
        naming.give_back(names)
        raise


_defaults: list[tuple[Program, Program]] = [(Program(), Program())]


def default_main_program() -> Program:
    """The program that layers append to."""
    return _defaults[-1][0]


def default_startup_program() -> Program:
    """The program that gives the parameters of new layers their first values."""
    return _defaults[-1][1]


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Make these the default programs inside ``with``; without a startup program, the present one stays."""
    _defaults.append((main_program, startup_program or default_startup_program()))
    try:
        yield
    finally:
        _defaults.pop()
