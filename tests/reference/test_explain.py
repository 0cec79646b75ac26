"""Programs and optimizers explain themselves: text, picture, a step in numbers, and what `repr` shows."""

import re
import shutil
import sys

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry import fluid
from optimetry.reference.errors import ArgumentError, UsageError
from optimetry.reference.programs import Executor, layers, picture
from optimetry.reference.programs.program import default_main_program
from tests.reference.small import FEED, network, parameter, snapshot, started
from tests.reference.test_resume import OPTIMIZERS

needs_graphviz = pytest.mark.skipif(
    shutil.which("dot") is None, reason="the program `dot` of Graphviz is not installed"
)


def test_a_program_prints_as_fluid_prints_it():
    x = layers.data("x", [None, 3])
    loss = layers.mean(layers.fc(x, 2, name="a", bias_attr=False))
    ref.Momentum(0.5, 0.9).minimize(loss)
    printed = str(default_main_program())
    assert printed.splitlines()[:3] == [
        "{ // block 0",
        "    var x : LOD_TENSOR.shape(-1, 3).dtype(float32).stop_gradient(True)",
        "    persist trainable param a.w_0 : LOD_TENSOR.shape(3, 2).dtype(float32).stop_gradient(False)",
    ]
    state = "['a.w_0_momentum_velocity_0'], updates{}=['a.w_0_momentum_updates_0']"
    inputs = (
        f"Param=['a.w_0'], Grad=['a.w_0@GRAD'], LearningRate=['momentum.learning_rate_0'], velocity={state.format('')}"
    )
    assert [line.strip() for line in printed.splitlines()[-8:]] == [
        "{Out=['a.tmp_0']} = mul(inputs={X=['x'], Y=['a.w_0']}, op_role=forward)",
        "{Out=['mean.tmp_0']} = mean(inputs={X=['a.tmp_0']}, op_role=forward)",
        "{Out=['mean.tmp_0@GRAD']} = fill_ones(inputs={X=['mean.tmp_0']}, op_role=backward)",
        "{Out=['a.tmp_0@GRAD']} = mean_grad(inputs={X=['a.tmp_0'], Y=['mean.tmp_0@GRAD']}, op_role=backward)",
        "{Out=['a.w_0@GRAD']} = mul_grad(inputs={X=['x', 'a.w_0', 'a.tmp_0@GRAD']}, op_role=backward)",
        "{Out=['momentum.learning_rate_0']} = learning_rate(inputs={}, op_role=optimize)",
        f"{{ParamOut=['a.w_0'], velocityOut={state.format('Out')}}} = momentum(inputs={{{inputs}}}, op_role=optimize)",
        "}",
    ]


@needs_graphviz
def test_a_picture_shows_every_operator_and_what_it_uses():
    loss = network()
    ref.Adam(0.1).minimize(loss)
    program = default_main_program()
    svg = program.svg()
    assert svg.startswith("<?xml")
    assert svg.count('class="node"') == len(program.operators) + len(
        {v.name for op in program.operators for v in (*op.inputs, *op.outputs)}
    )
    assert svg.count('class="edge"') == sum(len(op.inputs) + len(op.outputs) for op in program.operators)
    for name in ("a.w_0", "tanh_grad", "adam"):
        assert name in svg


def test_a_picture_frames_parameters_twice_and_dashes_what_lasts():
    """Of a mean of one parameter times one input, and of a persistable number."""
    pytest.importorskip("graphviz")
    x = layers.data("x", [None, 3])
    layers.mean(layers.fc(x, 2, bias_attr=False, name="a"))
    layers.create_global_var([1], 0.5, "float32", True, "rate") * 2.0
    source = picture.graph(default_main_program()).source
    assert '"v x" [label="x\\n(?, 3) float32" shape=ellipse]' in source
    assert '"v a.w_0" [label="a.w_0\\n(3, 2) float32" peripheries=2 shape=ellipse]' in source
    assert '"v rate" [label="rate\\n(1) float32" shape=ellipse style=dashed]' in source
    assert '"o 0" [label=mul fillcolor=' in source
    assert '"v x" -> "o 0"' in source
    assert '"o 0" -> "v a.tmp_0"' in source
    assert "fontname" in source


def test_a_picture_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(UsageError) as caught:
        picture.graph(default_main_program())
    assert str(caught.value) == "a picture needs the package graphviz: pip install -e 'path/to/optimetry[picture]'"


def test_a_graph_has_every_edge():
    pytest.importorskip("graphviz")
    ref.Adam(0.1).minimize(network())
    source = picture.graph(default_main_program()).source
    operators = default_main_program().operators
    assert source.count(" -> ") == sum(len(op.inputs) + len(op.outputs) for op in operators)


def test_without_graphviz_the_error_says_what_to_install(monkeypatch):
    network()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="a picture needs"):
        default_main_program().svg()


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "DGCMomentumOptimizer"])
def test_an_explained_step_is_the_step(name):
    """Nine digits tell all float32 apart, so equal texts are equal bits; and explaining changes nothing."""
    w = parameter("w", [[3.0, -4.0], [0.25, 1.5]], [[0.5, 2.0], [-1.0, 0.125]])
    optimizer = getattr(ref, name)(0.1, parameters=[w], grad_clip=ref.ClipGradByNorm(1.0), **OPTIMIZERS[name])
    for _ in range(3):
        before = snapshot(optimizer, [w])
        text = optimizer.explain(w, (1, 0))
        assert snapshot(optimizer, [w]) == before
        optimizer.step()
        after = re.search(r"after  param = ([^,\n]+)", text)[1]
        assert after == f"{w.value[1, 0]:.9g}"
        assert "\\leftarrow" in text
        assert all(line.count(" = ") == 3 for line in re.findall(r"^ +s\d+ = .*", text, re.MULTILINE))


def test_a_step_of_a_program_is_explained_with_a_gradient():
    loss = network()
    adam = ref.Adam(0.5, regularization=ref.L2Decay(0.25))
    _, pairs = adam.minimize(loss)
    executor = started()
    grad, value = executor.run(feed=FEED, fetch_list=[pairs[1][1], "a.b_0"])
    text = adam.explain("a.b_0", 2, grad=grad)
    assert text.startswith("adam, step 2, element [2] of a.b_0")
    assert f"grad = {grad[2] + np.float32(0.25) * value[2]:.9g}" in text
    with pytest.raises(ArgumentError, match=r"adam: a\.w_0 has not yet a gradient: give `grad`"):
        adam.explain()
    with pytest.raises(ArgumentError, match=r"adam: index = 7, must be that of an element of a\.b_0"):
        adam.explain("a.b_0", 7, grad=grad)
    with pytest.raises(ArgumentError, match="adam: parameter = 'c', must be one of"):
        adam.explain("c")


def test_the_rate_of_an_explained_step_is_the_next_one():
    """It was that of the last step where the optimizer itself advances the scheduler."""
    w = parameter("w", [1.0], [1.0])
    optimizer = ref.SGD(ref.PiecewiseDecay([1], [1.0, 0.25], begin=0), parameters=[w])
    optimizer.step()
    text = optimizer.explain()
    optimizer.step()
    assert f"after  param = {w.value[0]:.9g}" in text
    assert "lr = 0.25" in text


def test_a_row_that_a_lazy_step_leaves_out_is_explained_so():
    w = parameter("w", [[1.0], [2.0]])
    w.grad = ref.SparseRows([0], np.ones((1, 1), np.float32), 2)
    adam = ref.Adam(0.1, parameters=[w], lazy_mode=True)
    assert adam.explain(w, (1, 0)).endswith("[1, 0] of w: its row has no gradient, so it keeps its value and its state")
    text = adam.explain(w, (0, 0))
    adam.step()
    assert f"after  param = {w.value[0, 0]:.9g}" in text
    assert w.value[1, 0] == 2


@pytest.mark.parametrize("index", ["a", (0.7,), (0, 0), -1])
def test_an_explained_element_is_one_of_the_parameter(index):
    with pytest.raises(ArgumentError, match=r"sgd: index = .*, must be that of an element of w"):
        ref.SGD(0.1, parameters=[parameter("w", [1.0], [1.0])]).explain(index=index)


def test_the_decay_of_asgd_is_in_its_formula_when_it_is_explained():
    w = parameter()
    text = ref.ASGD(0.1, parameters=[w], weight_decay=0.25).explain()
    assert "weight_decay = 0.25" in text
    assert "grad = 0.5," in text


def test_compression_is_not_explained_element_by_element():
    dgc = ref.DGCMomentumOptimizer(0.1, 0.9, 0, parameters=[parameter()])
    with pytest.raises(ArgumentError, match="dgc_momentum: a step of this rule cannot be worked through"):
        dgc.explain()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: ref.Adam(0.1), "AdamOptimizer(learning_rate=0.1, beta1=0.9, beta2=0.999, epsilon=1e-08)"),
        (
            lambda: ref.SGD(ref.StepDecay(0.5, 2), ref.L2Decay(0.1), grad_clip=ref.ClipGradByNorm(2.0)),
            (
                "SGDOptimizer(learning_rate=StepDecay(learning_rate=0.5, step_size=2, gamma=0.1, last_epoch=0, "
                "automatic=False), regularization=L2DecayRegularizer(0.1), grad_clip=GradientClipByNorm(clip_norm=2.0))"
            ),
        ),
        (
            lambda: ref.RecomputeOptimizer(ref.SGD(0.1)),
            "RecomputeOptimizer(SGDOptimizer(learning_rate=0.1), checkpoints=[])",
        ),
        (
            lambda: ref.PipelineOptimizer(ref.SGD(0.1)),
            "PipelineOptimizer(SGDOptimizer(learning_rate=0.1), cut_list=[], queue_size=30)",
        ),
        (fluid.Program, "Program(0 operators, 0 parameters, seed=0)"),
        (lambda: Executor(fluid.CUDAPlace(1)), "Executor(CUDAPlace(device_id=1), 0 persistable values)"),
        (lambda: ref.ExponentialMovingAverage(0.5), "ExponentialMovingAverage(decay=0.5)"),
        (lambda: fluid.dygraph.Linear(3, 2), "Linear(linear_0.w_0 (3, 2), linear_0.b_0 (2,))"),
        (lambda: fluid.DatasetFactory().create_dataset(), "Dataset([], batch_size=1, files=[])"),
    ],
)
def test_what_repr_shows(made, text):
    assert repr(made()) == text


def test_an_operator_shows_what_it_computes():
    network()
    assert str(default_main_program().operators[0]) == "a.tmp_0 = mul(x, a.w_0)"
