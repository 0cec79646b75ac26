"""Random programs over one input, built the same way as often as wanted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from optimetry.reference import SGD, Adam, Momentum
from optimetry.reference.programs import Executor, Program, Variable, building, layers
from optimetry.reference.programs.pipeline import PipelineOptimizer
from tests.reference.small import fresh

WIDTH = 3
BATCH = 4
RULES: dict[str, Callable[[], Any]] = {
    "sgd": lambda: SGD(0.5),
    "momentum": lambda: Momentum(0.1, 0.9, use_nesterov=True),
    "adam": lambda: Adam(0.01),
}

Wrap = Callable[[Any, list[Variable], Variable], Any]
"""From an optimizer, the outputs of all layers and the loss to the optimizer that minimizes."""


@dataclass(frozen=True)
class Layer:
    """One layer: what it is, and which earlier outputs it reads."""

    kind: str
    reads: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """A program: layers, the rule that trains it, and places in it that a test may give a meaning."""

    layers: tuple[Layer, ...]
    rule: str
    marks: tuple[int, ...]


@st.composite
def plans(draw: st.DrawFn, min_marks: int = 1) -> Plan:
    """Programs of up to eight layers, with skip connections and shared weights, and ``marks`` at some of them."""
    count = draw(st.integers(max(2, min_marks), 8))
    drawn = []
    for i in range(count):
        kind = draw(st.sampled_from(["tanh", "relu", "sigmoid", "dropout", "shared", "sum"]))
        reads = (i, draw(st.integers(0, i))) if kind == "sum" else (i,)  # 0 is the input, so each reads the one before
        drawn.append(Layer(kind, reads))
    marks = draw(st.sets(st.integers(0, count - 1), min_size=min_marks, max_size=count))
    return Plan(tuple(drawn), draw(st.sampled_from(sorted(RULES))), tuple(sorted(marks)))


@dataclass
class Built:
    """A program that was built and started."""

    program: Program
    executor: Executor
    loss: Variable
    outputs: list[Variable]
    optimizer: Any
    gradients: list[Variable]

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of the parameters."""
        values = self.executor.scope.values
        return {parameter.name: values[parameter.name] for parameter in self.program.all_parameters()}


def build(plan: Plan, wrap: Wrap = lambda optimizer, outputs, loss: optimizer) -> Built:
    """The program of a plan, with the startup program run."""
    with fresh() as (main, startup):
        outputs = [layers.data("x", [None, WIDTH])]
        shared = layers.create_parameter([WIDTH, WIDTH], "float32", name="shared")
        outputs[0] = layers.fc(outputs[0], WIDTH)
        for layer in plan.layers:
            outputs.append(_output(layer, [outputs[i] for i in layer.reads], shared))
        loss = layers.mean(layers.square_error_cost(outputs[-1], outputs[0]))
        optimizer = wrap(RULES[plan.rule](), outputs[1:], loss)
        _, params_grads = optimizer.minimize(loss)
    executor = Executor()
    executor.run(startup)
    return Built(main, executor, loss, outputs[1:], optimizer, [gradient for _, gradient in params_grads])


def chain(marks: int) -> Plan:
    """Equal layers, with a mark behind each but the last."""
    return Plan(tuple(Layer("tanh", (i,)) for i in range(marks + 1)), "sgd", tuple(range(marks)))


def piped(plan: Plan, queue_size: int = 1, **arguments: Any) -> Built:
    """The program of a plan, cut behind the marked layers."""

    def wrap(optimizer: Any, outputs: list[Variable], loss: Variable) -> PipelineOptimizer:
        cuts = [*([outputs[i]] for i in plan.marks), [loss]]
        return PipelineOptimizer(optimizer, cuts, queue_size=queue_size, **arguments)

    return build(plan, wrap)


def _output(layer: Layer, inputs: list[Variable], shared: Variable) -> Variable:
    if layer.kind == "dropout":
        return layers.dropout(inputs[0], 0.4)
    if layer.kind == "shared":
        return building.append("shared", "mul", layers.operators.mul, (inputs[0], shared), inputs[0].shape)
    if layer.kind == "sum":
        return layers.fc(inputs, WIDTH, act="tanh")
    return layers.fc(inputs[0], WIDTH, act=layer.kind)


def feeds(count: int) -> list[dict[str, Any]]:
    """What is fed in so many runs."""
    return [{"x": np.random.default_rng(i).standard_normal((BATCH, WIDTH)).astype("float32")} for i in range(count)]


def same_bits(a: Any, b: Any) -> bool:
    """Whether two collections of arrays hold the same bits under the same names or places."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_bits(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same_bits(x, y) for x, y in zip(a, b, strict=True))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
