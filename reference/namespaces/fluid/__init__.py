"""The names of ``paddle.fluid`` that the pages' examples use: ``import optimetry.fluid as fluid``.

Thin over `optimetry.reference`. As in fluid, executors share one scope unless `scope_guard` says otherwise, and a
scalar that is fetched has the shape (1,). docs/fluid.md says what is here, what is not, and why.
"""

from optimetry.fluid import clip, dygraph, initializer, layers, optimizer, regularizer, unique_name
from optimetry.fluid.dygraph import Embedding, Linear, load_dygraph, save_dygraph
from optimetry.fluid.executor import Executor, global_scope, scope_guard
from optimetry.fluid.feeding import DataFeeder, DatasetFactory
from optimetry.fluid.layers import fluid_data as data
from optimetry.reference.programs import (
    Parameter,
    Program,
    Scope,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)
from optimetry.reference.programs.layers import ParamAttr
from optimetry.reference.programs.places import CPUPlace, CUDAPlace

__all__ = [
    "CPUPlace",
    "CUDAPlace",
    "DataFeeder",
    "DatasetFactory",
    "Embedding",
    "Executor",
    "Linear",
    "ParamAttr",
    "Parameter",
    "Program",
    "Scope",
    "Variable",
    "clip",
    "data",
    "default_main_program",
    "default_startup_program",
    "dygraph",
    "global_scope",
    "initializer",
    "layers",
    "load_dygraph",
    "optimizer",
    "program_guard",
    "regularizer",
    "save_dygraph",
    "scope_guard",
    "unique_name",
]
