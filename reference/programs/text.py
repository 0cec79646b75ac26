"""The text of a program, as ``print(program)`` shows it, in the readable form of fluid (2.0 to 2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optimetry.reference.programs.program import Operator, Program, Variable


def program_text(program: Program) -> str:
    """One line for each variable, then one for each operator, in the order in which they run."""
    lines = [*map(_variable, program.variables.values()), "", *map(operator_text, program.operators)]
    return "\n".join(["{ // block 0", *(f"    {line}".rstrip() for line in lines), "}"])


def operator_text(operator: Operator) -> str:
    """An operator with its variables by slot: ``{Out=['fc_0.tmp_0']} = mul(inputs={X=['x'], Y=['fc_0.w_0']})``."""
    slots = operator.slots or _default_slots(len(operator.inputs), len(operator.outputs))
    names = [variable.name for variable in (*operator.inputs, *operator.outputs)]
    pairs = list(zip(slots, names, strict=True))
    inputs, outputs = pairs[: len(operator.inputs)], pairs[len(operator.inputs) :]
    return f"{{{_grouped(outputs)}}} = {operator.name}(inputs={{{_grouped(inputs)}}}, op_role={operator.role})"


def _variable(variable: Variable) -> str:
    shape = ", ".join("-1" if length is None else str(length) for length in variable.shape)
    is_parameter = hasattr(variable, "trainable")
    words = [
        *(["persist"] if variable.persistable else []),
        *(["trainable" if variable.trainable else "untrainable", "param"] if is_parameter else ["var"]),  # type: ignore[attr-defined]
    ]
    about = f"shape({shape}).dtype({variable.dtype}).stop_gradient({variable.stop_gradient})"
    return f"{' '.join(words)} {variable.name} : LOD_TENSOR.{about}"


def _default_slots(inputs: int, outputs: int) -> list[str]:
    return [*(["X", "Y"] if inputs == 2 else ["X"] * inputs), *["Out"] * outputs]


def _grouped(pairs: Sequence[tuple[str, str]]) -> str:
    slots = dict.fromkeys(slot for slot, _ in pairs)
    return ", ".join(f"{slot}={[name for other, name in pairs if other == slot]}" for slot in slots)
