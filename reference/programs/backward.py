"""Gradients of a program: one operator for each forward operator, differentiated by autograd.

The gradient operator of ``y = f(x, w)`` reads x, w and the gradient of y and writes those of x and w. It calls
autograd's vector-Jacobian product of f, which evaluates f again, so nothing but named variables is alive between
operators, and one that can be computed again need not be (see `append_backward`, ``replay``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
from autograd import make_vjp

from optimetry.reference.errors import ProgramError
from optimetry.reference.programs.program import Operator, Parameter, Program, Variable

Callback = Callable[[Program, Operator], object]
Replay = Callable[[Operator], Operator]


def gradient_name(variable: Variable) -> str:
    """The name of the variable that holds another's gradient: ``fc_0.w_0@GRAD``."""
    return f"{variable.name}@GRAD"


def gradient_of(variable: Variable) -> str:
    """The name of the variable whose gradient another holds, ``fc_0.w_0@GRAD`` or ``fc_0.w_0@GRAD_1``; else its own."""
    return re.sub(r"@GRAD(_\d+)?$", "", variable.name)


def append_backward(
    loss: Variable,
    parameter_list: Iterable[Parameter | str] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
    callbacks: Sequence[Callback] | None = None,
    replay: Replay | None = None,
) -> list[tuple[Parameter, Variable]]:
    """Append the operators that compute the gradients of a loss to its program.

    Args:
        loss: a variable of one element, written by a forward operator.
        parameter_list: the parameters, or their names; None means every trainable parameter.
        no_grad_set: variables, or names, through which no gradient flows.
        callbacks: called with the program and each operator right after it was appended.
        replay: called with each forward operator on the way, last one first, before its gradient operator is appended;
            returns the operator whose input variables the gradient operator reads. It may append operators that
            compute them again.

    Returns:
        Pairs (parameter, variable of its gradient), in the order of the parameters; those that the loss does not depend
        on are left out.

    Raises:
        ProgramError: the loss has several elements, is written by no operator or depends on no parameter that gets a
            gradient; or a name is unknown, or given twice.
    """
    if not isinstance(loss, Variable):
        raise ProgramError(f"loss = {loss!r}, must be a variable of a program")
    program = loss.program
    if any(length != 1 for length in loss.shape):
        raise ProgramError(f"{loss.name}: a loss of shape {loss.shape}, must have one element")
    forward = [operator for operator in program.operators if operator.role == "forward"]
    if not any(loss in operator.outputs for operator in forward):
        raise ProgramError(f"{loss.name}: no forward operator of the program writes it")
    parameters = _parameters(program, parameter_list)
    stopped = {program.named(each, "no_grad_set").name for each in listed("no_grad_set", no_grad_set)}
    watching = listed("callbacks", callbacks)
    for callback in watching:
        if not callable(callback):
            raise ProgramError(f"callbacks holds {callback!r}, must be functions of a program and an operator")
    wanted = _dependent(forward, {p.name for p in parameters if p.trainable and p.name not in stopped}, stopped)
    path = _leading_to(loss, forward, wanted)
    if not path:
        raise ProgramError(f"{loss.name}: the loss depends on no parameter that gets a gradient")

    def append(operator: Operator) -> None:
        program.append(operator)
        for callback in watching:
            callback(program, operator)

    uses = Counter(variable.name for operator in path for variable in operator.inputs if variable.name in wanted)
    parts: dict[str, list[Variable]] = {}
    seed = _new(program, loss)
    parts[loss.name] = [seed]
    append(Operator("fill_ones", np.ones_like, (loss,), (seed,), "backward"))
    for operator in reversed(path):
        (out,) = operator.outputs
        out_gradient = _summed(program, out, parts[out.name], append)
        source = replay(operator) if replay else operator
        which = tuple(i for i, variable in enumerate(operator.inputs) if variable.name in wanted)
        gradients = tuple(_part(program, operator.inputs[i], uses, parts) for i in which)
        function = _vjp(operator, which)
        append(Operator(f"{operator.name}_grad", function, (*source.inputs, out_gradient), gradients, "backward"))
    return [(p, _summed(program, p, parts[p.name], append)) for p in parameters if p.name in parts]


def _vjp(operator: Operator, which: tuple[int, ...]) -> Callable[..., Any]:
    """The function from input values and gradient of the output to the gradients of the inputs ``which``."""

    def gradients(*values: Any) -> Any:
        *inputs, out_gradient = values
        if operator.gradient is not None:
            results = tuple(operator.gradient(i, out_gradient, inputs) for i in which)
        else:
            vjp, _ = make_vjp(operator.function, which)(*inputs)
            results = vjp(out_gradient)
        return results[0] if len(which) == 1 else results

    return gradients


def _parameters(program: Program, parameter_list: Iterable[Parameter | str] | None) -> list[Parameter]:
    if parameter_list is None:
        return program.all_parameters()
    parameters = []
    for entry in listed("parameter_list", parameter_list):
        parameter = program.named(entry, "parameter_list")
        if not isinstance(parameter, Parameter):
            raise ProgramError(f"{parameter.name} in parameter_list is not a parameter")
        if parameter in parameters:
            raise ProgramError(f"{parameter.name} is given twice in parameter_list")
        parameters.append(parameter)
    return parameters


def listed(argument: str, entries: Any) -> list[Any]:
    """The entries of a list or set; none where it is None.

    Raises:
        ProgramError: it is neither; a string is an error, too, since its letters are no names.
    """
    if entries is None:
        return []
    if isinstance(entries, str) or not isinstance(entries, Iterable):
        raise ProgramError(f"{argument} = {entries!r}, must be a list or a set")
    return list(entries)


def _dependent(forward: Sequence[Operator], sources: Collection[str], stopped: Collection[str]) -> set[str]:
    """The names of the variables that depend on the sources, these included, where gradients flow."""
    dependent = set(sources)
    for operator in forward:
        if any(variable.name in dependent for variable in operator.inputs):
            dependent |= {v.name for v in operator.outputs if v.name not in stopped and not v.stop_gradient}
    return dependent


def _leading_to(loss: Variable, forward: Sequence[Operator], wanted: Collection[str]) -> list[Operator]:
    """The operators through which the loss depends on the wanted variables, in order."""
    needed = {loss.name} & set(wanted)
    path = []
    for operator in reversed(forward):
        if any(variable.name in needed for variable in operator.outputs):
            path.append(operator)
            needed |= {variable.name for variable in operator.inputs} & set(wanted)
    return path[::-1]


def _part(program: Program, variable: Variable, uses: Counter[str], parts: dict[str, list[Variable]]) -> Variable:
    """A new variable for one operator's contribution to a gradient; the gradient itself where it is the only one."""
    so_far = parts.setdefault(variable.name, [])
    so_far.append(_new(program, variable, f"@{len(so_far)}" if uses[variable.name] > 1 else ""))
    return so_far[-1]


def _new(program: Program, variable: Variable, suffix: str = "") -> Variable:
    """A variable for a gradient; where an earlier `append_backward` has taken the name, with a number behind it."""
    name = gradient_name(variable) + suffix
    return program.like(variable, program.unique(name) if name in program.variables else name)


def _summed(
    program: Program, variable: Variable, parts: list[Variable], append: Callable[[Operator], None]
) -> Variable:
    """The gradient of a variable, summed over the operators that read it, last one first."""
    if len(parts) == 1:
        return parts[0]
    total = _new(program, variable)
    append(Operator("sum", lambda *values: sum(values[1:], start=values[0]), tuple(parts), (total,), "backward"))
    return total
