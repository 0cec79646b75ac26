"""Programs of NumPy operators, differentiated by autograd: what the documents' examples train."""

from optimetry.reference.programs.executor import Executor, Scope, execute
from optimetry.reference.programs.program import (
    Operator,
    Parameter,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)

__all__ = [
    "Executor",
    "Operator",
    "Parameter",
    "Program",
    "Scope",
    "Variable",
    "default_main_program",
    "default_startup_program",
    "execute",
    "program_guard",
]
