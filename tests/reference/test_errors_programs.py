"""Programs that cannot be built or run: the cause is named, and nothing is appended or has run."""

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry.reference.errors import OptimetryError, ProgramError
from optimetry.reference.programs import Executor, Operator, Program, layers, naming
from optimetry.reference.programs.program import default_main_program, default_startup_program, program_guard
from tests.reference.small import FEED, network, started


@pytest.mark.parametrize(
    "layer",
    [
        lambda x: x + 1,
        lambda x: 2 * x - x,
        layers.mean,
        layers.reduce_mean,
        layers.reduce_sum,
        lambda x: layers.square_error_cost(x, x),
        lambda x: layers.cross_entropy(x, x),
    ],
)
def test_a_layer_of_another_programs_variable_appends_nothing(layer):
    x = layers.data("x", [3, 2])
    with program_guard(Program(), Program()):
        names = naming.taken()
        with pytest.raises(ProgramError, match="x is not a variable of this program"):
            layer(x)
        assert (default_main_program().variables, default_main_program().operators) == ({}, [])
        assert naming.taken() == names


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda loss, hidden: ref.SGD(0.1).minimize(hidden),
            "a.tmp_2: a loss of shape (None, 4), must have one element",
        ),
        (
            lambda loss, hidden: ref.SGD(0.1).minimize(default_main_program().variable("v", (), "float32")),
            "v: no forward operator of the program writes it",
        ),
        (lambda loss, hidden: ref.SGD(0.1).minimize(loss, parameter_list=["c"]), "no variable 'c' in the program"),
        (
            lambda loss, hidden: ref.SGD(0.1).minimize(loss, parameter_list=["x"]),
            "x in parameter_list is not a parameter",
        ),
        (
            lambda loss, hidden: ref.SGD(0.1).minimize(loss, parameter_list=["a.b_0", "a.b_0"]),
            "sgd: parameter 'a.b_0' is given twice",
        ),
        (
            lambda loss, hidden: ref.SGD(0.1).minimize(loss, no_grad_set={"c"}),
            "no variable 'c' in the program (no_grad_set), must",
        ),
        (
            lambda loss, hidden: ref.SGD(0.1).minimize(loss, no_grad_set={"a.w_0", "a.b_0", "b.w_0"}),
            "mean.tmp_0: the loss depends on no parameter that gets a gradient",
        ),
        (lambda loss, hidden: ref.SGD(0.1).minimize(loss, grad_clip=1.0), "sgd: grad_clip = 1.0, must be a clip"),
        (
            lambda loss, hidden: ref.SGD(0.1).minimize(loss, parameter_list=[], parameters=[]),
            "sgd: parameter_list and parameters are the same argument; give one of them",
        ),
        (
            lambda loss, hidden: ref.SGD(0.1).apply_gradients([("a.b_0", None)]),
            "sgd: ('a.b_0', None) is no pair of a parameter and its gradient",
        ),
        (
            lambda loss, hidden: ref.SGD(0.1).apply_gradients(
                [(default_main_program().variables["a.b_0"], np.ones(4))]
            ),
            "sgd: (Parameter('a.b_0', shape=(4,), dtype=float32), array([1., 1., 1., 1.])) is no pair of a parameter",
        ),
        (
            lambda loss, hidden: layers.fc(hidden, 2, act="gelu"),
            "fc: act = 'gelu', must be None or one of relu, sigmoid",
        ),
        (lambda loss, hidden: layers.dropout(hidden, 1.5), "dropout: dropout_prob = 1.5, must be in [0, 1]"),
        (lambda loss, hidden: layers.data("x", [2]), "the program already has a variable 'x'"),
        (
            lambda loss, hidden: Program().append(Operator("id", abs, (loss,), (loss,))),
            "mean.tmp_0 = id(mean.tmp_0): mean.tmp_0 is not a variable of this program",
        ),
    ],
)
def test_a_program_that_cannot_be_built_is_named_and_nothing_is_appended(call, text):
    loss = network()
    hidden = default_main_program().variables["a.tmp_2"]
    operators, startup = list(default_main_program().operators), list(default_startup_program().operators)
    with pytest.raises(OptimetryError) as caught:
        call(loss, hidden)
    assert str(caught.value).startswith(text)
    assert default_main_program().operators == operators
    assert default_startup_program().operators == startup


@pytest.mark.parametrize(
    ("feed", "fetch", "text"),
    [
        ({}, [], "x has no value: run the startup program, or feed it, first"),
        ({"y": np.ones(1)}, [], "no variable 'y' in the program"),
        (FEED, ["y"], "no variable 'y' in the program"),
        ({"x": np.ones((2, 3))}, [], "x: a value of dtype float64, must be float32"),
        ({"x": np.ones((2, 4), np.float32)}, [], r"x: a value of shape \(2, 4\), must be \(None, 3\)"),
        ({"x": np.ones(3, np.float32)}, [], r"x: a value of shape \(3,\), must be \(None, 3\)"),
    ],
)
def test_a_run_that_cannot_be_is_named_and_nothing_has_run(feed, fetch, text):
    loss = network()
    adam = ref.Adam(0.1)
    adam.minimize(loss)
    executor = started()
    before = dict(executor.scope.values)
    with pytest.raises(ProgramError, match=text):
        executor.run(feed=feed, fetch_list=fetch)
    assert all(executor.scope.values[name] is value for name, value in before.items())
    assert adam.state_dict() == {}


def test_nothing_has_run_when_a_late_operator_lacks_a_feed():
    loss = network()
    adam = ref.Adam(0.1)
    adam.minimize(loss)
    layers.mean(layers.data("y", [None]))
    executor = started()
    before = executor.scope.get("a.w_0")
    with pytest.raises(ProgramError, match="y has no value"):
        executor.run(feed=FEED)
    assert executor.scope.get("a.w_0") is before
    assert adam.state_dict() == {}


def test_parameters_have_no_value_before_the_startup_program():
    network()
    with pytest.raises(ProgramError, match=r"a\.w_0 has no value: run the startup program"):
        Executor().run(feed=FEED)
