"""``paddle.static``: programs. Each executor has a scope of its own."""

from optimetry.paddle.static import nn
from optimetry.reference.programs import (
    Executor,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)
from optimetry.reference.programs.layers import data

__all__ = [
    "Executor",
    "Program",
    "Variable",
    "data",
    "default_main_program",
    "default_startup_program",
    "nn",
    "program_guard",
]
