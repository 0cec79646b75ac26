"""ONNX: operators of ai.onnx.preview.training, run by the reference evaluator; attributes are float32."""

from __future__ import annotations

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from examples.field.helpers import Library, OnePerParameter

DOMAIN = "ai.onnx.preview.training"


class Parameter:
    """One parameter, the slots of its operator, and how often it was updated, which T says: 0 in the first step."""

    def __init__(self, parameter, operator, slots, attributes):
        self.dtype, self.count = parameter.dtype, np.int64(0)
        self.held = [parameter, *slots]
        kind = helper.np_dtype_to_tensor_dtype(parameter.dtype)
        held = ["X", *(f"S{i}" for i in range(len(slots)))]
        inputs, outputs = ["R", "T", "X", "G", *held[1:]], [f"{name}_new" for name in held]
        node = helper.make_node(operator, inputs, outputs, domain=DOMAIN, **attributes)
        kinds = {name: helper.TensorProto.INT64 if name == "T" else kind for name in [*inputs, *outputs]}
        infos = {name: helper.make_tensor_value_info(name, kinds[name], None) for name in kinds}
        graph = helper.make_graph([node], operator, [infos[x] for x in inputs], [infos[x] for x in outputs])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(DOMAIN, 1), helper.make_opsetid("", 21)])
        self.names, self.evaluator = held, ReferenceEvaluator(model)

    def step(self, grad, learning_rate):
        inputs = {"R": np.array(learning_rate, self.dtype), "T": np.array(self.count), "G": grad}
        after = self.evaluator.run(None, inputs | dict(zip(self.names, self.held, strict=True)))
        self.held = [np.asarray(x, self.dtype) for x in after]
        self.count += 1
        return self.held[0]


def each(parameters, operator, starts, **attributes):
    def make(parameter):
        return Parameter(parameter, operator, [np.full_like(parameter, start) for start in starts], attributes)

    return OnePerParameter(make, parameters)


def sgd(hyper, parameters):
    return each(parameters, "Momentum", [0.0], alpha=0.0, beta=1.0, mode="standard", norm_coefficient=0.0)


def momentum(hyper, parameters):
    mode = "nesterov" if hyper["use_nesterov"] else "standard"
    return each(parameters, "Momentum", [0.0], alpha=hyper["momentum"], beta=1.0, mode=mode, norm_coefficient=0.0)


def adagrad(hyper, parameters):
    starts = [hyper["initial_accumulator_value"]]
    return each(parameters, "Adagrad", starts, epsilon=hyper["epsilon"], decay_factor=0.0, norm_coefficient=0.0)


def adam(hyper, parameters):
    numbers = {"alpha": hyper["beta1"], "beta": hyper["beta2"], "epsilon": hyper["epsilon"]}
    return each(parameters, "Adam", [0.0, 0.0], **numbers, norm_coefficient=0.0, norm_coefficient_post=0.0)


class Target(Library):
    distribution = "onnx"
    rules = {"sgd": sgd, "momentum": momentum, "adagrad": adagrad, "adam": adam}
