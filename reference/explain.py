"""Works one step of a rule through in numbers, one operation a line: what `Optimizer.explain` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from optimetry.reference.errors import ArgumentError
from optimetry.reference.rule import Rule, State

SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "power": "**",
    "greater": ">",
    "bitwise_and": "and",
}
"""Operations that are written between their operands; all others are written as functions."""


class Traced(NDArrayOperatorsMixin):
    """A number or array with a name, which writes down every operation that it takes part in.

    Args:
        value: the array, or the Python number.
        name: what it is called; in a subclass whatever stands for it.
        lines: where operations are written down.
        show: the number of the element that is worked through, as text.
    """

    def __init__(self, value: Any, name: Any, lines: list[Any], show: Callable[[Any], str] = str) -> None:
        self.value, self.name, self.lines, self.show = value, name, lines, show

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return np.ndim(self.value)

    def __getitem__(self, key: Any) -> Self:
        return type(self)(self.value[key], f"{self.name}[{key}]", self.lines, self.show)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self._made(ufunc.__name__, getattr(ufunc, method)(*map(value_of, inputs), **kwargs), inputs)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        along = [f"axis={kwargs['axis']}"] if "axis" in kwargs else []
        return self._made(func.__name__, func(*map(value_of, args), **kwargs), args, along)

    def _made(self, name: str, value: Any, operands: Any, along: list[str] | None = None) -> Traced:
        """The result of an operation, with a line for it; of numbers alone it stays a Python number."""
        if not any(isinstance(value_of(operand), np.ndarray | np.generic) for operand in operands):
            value = value.item()
        made = Traced(value, f"s{len(self.lines) + 1}", self.lines, self.show)
        names = [each.name if isinstance(each, Traced) else self.show(each) for each in operands]
        by_name = _written(name, [*names, *(along or [])])
        in_numbers = _written(name, [*(self.show(value_of(each)) for each in operands), *(along or [])])
        self.lines.append(f"{made.name} = {by_name} = {in_numbers} = {self.show(value)}")
        return made


def explained(rule: Rule, name: str, param: Any, grad: Any, state: State, lr: float, t: int, index: Any) -> str:
    """The formula of a rule, its numbers for one element, each operation of a step, and what comes out.

    Args:
        rule: the rule, with its hyperparameters.
        name: the parameter's name.
        param: its value.
        grad: its gradient, as the rule gets it.
        state: its slots.
        lr: the learning rate.
        t: the number of the step.
        index: the element that is shown; norms are those of the whole parameter.

    Raises:
        ArgumentError: the rule takes elements apart that are not at the same place, as compression does.
    """

    def show(value: Any) -> str:
        array = np.asarray(value)
        if param.ndim and array.shape[array.ndim - param.ndim :] == param.shape:
            array = array[(..., *index)]
        return f"{array.item():.9g}" if array.ndim == 0 else str(array.tolist())

    lines: list[str] = []
    values = {"lr": lr} | {name: value for name, value in rule.hyper().items() if isinstance(value, float)}
    numbers = {name: Traced(value, name, lines, show) for name, value in values.items()}
    arrays = {"param": param, "grad": grad, **state}
    traced = {name: Traced(array, name, lines, show) for name, array in arrays.items()}
    lifted = rule.lifted(lambda name, value: numbers[name])
    slots = State(**{slot: traced[slot] for slot in state})
    try:
        with np.errstate(all="ignore"):
            new, after = lifted.update(traced["param"], traced["grad"], slots, numbers["lr"], t)
    except (AttributeError, TypeError):
        raise ArgumentError(f"{rule.name}: a step of this rule cannot be worked through for one element") from None
    settings = [f"{name} = {value!r}" for name, value in ({"lr": lr} | rule.hyper()).items()]
    return "\n".join(
        [
            f"{rule.name}, step {t}, element {list(index)} of {name}",
            *(f"    {line.strip()}" for formula in rule.formulas() for line in formula.strip().splitlines()),
            "with   " + ", ".join(settings),
            "before " + ", ".join(f"{name} = {show(array)}" for name, array in arrays.items()),
            *(f"    {line}" for line in lines),
            "after  " + ", ".join(f"{name} = {show(value_of(each))}" for name, each in {"param": new, **after}.items()),
        ]
    )


def value_of(operand: Any) -> Any:
    """Return the value of a traced number, and anything else as it is."""
    return operand.value if isinstance(operand, Traced) else operand


def _written(name: str, operands: list[str]) -> str:
    return f" {SYMBOLS[name]} ".join(operands) if name in SYMBOLS else f"{name}({', '.join(operands)})"
