"""Wrong calls: every error names its cause, is of the documented kind, and nothing has changed."""

import math

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry.reference.errors import (
    ArgumentError,
    HyperparameterError,
    OptimetryError,
    SchedulerInUseError,
)
from optimetry.reference.fluid import Later
from optimetry.reference.programs import layers
from optimetry.reference.programs.program import default_main_program, default_startup_program
from optimetry.reference.rules import RULES
from tests.reference.small import network, parameter, snapshot

REQUIRED = {"MomentumOptimizer": {"momentum": 0.9}, "LarsMomentumOptimizer": {"momentum": 0.9}}
CLASSES = {
    name: getattr(ref, name)
    for name in ref.__all__
    if name.endswith("Optimizer") and getattr(getattr(ref, name), "rule_name", None) in RULES
}


# constructors


@pytest.mark.parametrize("name", CLASSES)
def test_every_hyperparameter_is_checked_by_the_class(name):
    for declared in RULES[CLASSES[name].rule_name].hyperparameters():
        with pytest.raises(HyperparameterError) as caught:
            CLASSES[name](learning_rate=0.1, **REQUIRED.get(name, {}) | {declared.name: "much"})
        assert str(caught.value) == f"{CLASSES[name].rule_name}: {declared.name} = 'much', must be {declared.allowed}"


@pytest.mark.parametrize("argument", ["learning_rate", "rho", "epsilon", "momentum"])
def test_none_is_a_value_error_as_documented(argument):
    with pytest.raises(ValueError, match=f"rmsprop: {argument} = None, must be"):
        ref.RMSPropOptimizer(**{"learning_rate": 0.1} | {argument: None})


@pytest.mark.parametrize("rate", [math.nan, math.inf, 10**400, "0.1", True, [0.1], 1j, np.ones(2)])
def test_a_learning_rate_is_a_number_a_variable_or_a_scheduler(rate):
    with pytest.raises(ArgumentError, match=r"adam: learning_rate = .*, must be a finite number") as caught:
        ref.Adam(rate)
    assert repr(rate) in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ([parameter()], 0.9, 0.999, 1e-8),
            "adam: learning_rate = [EagerParameter('w', array([ 3., -4.], dtype=float32",
        ),
        ((0.1, 0.9, 0.999, 1e-8, [parameter()]), "adam: regularization = [EagerParameter('w'"),
        ((0.1, 0.9, 0.999, 1e-8, 0.01), "adam: regularization = 0.01, must be a regularizer such as L2Decay, or None"),
        ((0.1, 0.9, 0.999, 1e-8, None, 7), "adam: name = 7, must be a string or None"),
        ((0.1, 0.9, 0.999, 1e-8, None, None, 1), "adam: lazy_mode = 1, must be True or False"),
    ],
)
def test_what_stands_in_the_wrong_position_is_named(arguments, text):
    with pytest.raises(ArgumentError) as caught:
        ref.Adam(*arguments)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"grad_clip": 1.0}, "sgd: grad_clip = 1.0, must be a clip such as GradientClipByNorm, or None"),
        ({"weight_decay": "l2"}, "sgd: weight_decay = 'l2', must be a number, a regularizer such as L2Decay, or None"),
        ({"multi_precision": 1}, "sgd: multi_precision = 1, must be True or False"),
        ({"parameters": 3}, "sgd: parameters = 3, must be a list of parameters"),
        ({"parameters": "w"}, "sgd: parameters = 'w', must be a list of parameters"),
        ({"parameters": [np.ones(2)]}, "sgd: array([1., 1.]) among the parameters is no parameter"),
        ({"parameters": [parameter(), parameter()]}, "sgd: parameter 'w' is given twice"),
        (
            {"parameters": [], "parameter_list": []},
            "sgd: parameter_list and parameters are the same argument; give one of them",
        ),
        (
            {"regularization": ref.L2Decay(0.1), "weight_decay": 0.1},
            "sgd: regularization and weight_decay are the same argument; give one of them",
        ),
        (
            {"lr": 0.1},
            f"sgd: unknown argument 'lr', must be among {', '.join(Later.__annotations__)}",
        ),
    ],
)
def test_a_wrong_keyword_is_named(keywords, text):
    with pytest.raises(ArgumentError) as caught:
        ref.SGD(0.1, **keywords)
    assert str(caught.value) == text


def test_lamb_wants_a_function():
    with pytest.raises(ArgumentError, match="lamb: exclude_from_weight_decay_fn = 'bias', must be a function or None"):
        ref.Lamb(exclude_from_weight_decay_fn="bias")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ref.L2Decay(-0.1), "L2DecayRegularizer: regularization_coeff = -0.1, must be in [0, inf)"),
        (lambda: ref.L1Decay(math.nan), "L1DecayRegularizer: regularization_coeff = nan, must be in [0, inf)"),
        (lambda: ref.GradientClipByValue(-1.0), "GradientClipByValue: max = -1.0, must be in (0, inf)"),
        (lambda: ref.GradientClipByValue(1.0, 2.0), "GradientClipByValue: min = 2.0, must be in (-inf, 1.0]"),
        (lambda: ref.GradientClipByNorm(0), "GradientClipByNorm: clip_norm = 0, must be in (0, inf)"),
        (lambda: ref.GradientClipByGlobalNorm("1"), "GradientClipByGlobalNorm: clip_norm = '1', must be in (0, inf)"),
        (lambda: ref.StepDecay(0.1, 0), "StepDecay: step_size = 0, must be an integer in [1, inf)"),
        (lambda: ref.MultiStepDecay(0.1, [3, 2]), "MultiStepDecay: milestones = [3, 2], must increase"),
        (lambda: ref.PiecewiseDecay([1], [0.1]), "PiecewiseDecay: 1 values for 1 boundaries, must be one more"),
        (lambda: ref.PiecewiseDecay([1], [0.1, -1.0]), "PiecewiseDecay: values = -1.0, must be in [0, inf)"),
        (lambda: ref.NoamDecay(1.0, 4, -1.0), "NoamDecay: learning_rate = -1.0, must be in [0, inf)"),
        (lambda: ref.NoamDecay(0, 4), "NoamDecay: d_model = 0, must be in (0, inf)"),
        (lambda: ref.NoamDecay(1.0, 2.5), "NoamDecay: warmup_steps = 2.5, must be an integer in [1, inf)"),
        (lambda: ref.SparseRows([5], np.ones((1, 2)), 5), "sparse rows: row numbers [5], must be in [0, 5)"),
        (lambda: ref.SparseRows([1.7], np.ones((1, 2)), 5), "sparse rows: row numbers [1.7], must be integers"),
        (lambda: ref.SparseRows(["1"], np.ones((1, 2)), 5), "sparse rows: row numbers ['1'], must be integers"),
        (
            lambda: ref.SparseRows([[1], [2]], np.ones((2, 1, 3)), 5),
            "sparse rows: (2, 1) row numbers for values of shape (2, 1, 3)",
        ),
        (
            lambda: ref.SparseRows([1, 2], np.ones((1, 2)), 5),
            "sparse rows: (2,) row numbers for values of shape (1, 2)",
        ),
    ],
)
def test_regularizers_clips_schedulers_and_rows_check_their_arguments(make, text):
    with pytest.raises(OptimetryError) as caught:
        make()
    assert str(caught.value) == text
    assert isinstance(caught.value, ValueError)


# learning rate


def test_set_lr_with_a_scheduler_is_a_runtime_error():
    sgd = ref.SGD(ref.StepDecay(0.5, 2))
    with pytest.raises(RuntimeError, match=r"sgd: set_lr\(0.1\) while StepDecay sets the learning rate") as caught:
        sgd.set_lr(0.1)
    assert isinstance(caught.value, SchedulerInUseError)
    assert sgd.get_lr() == 0.5


@pytest.mark.parametrize("rate", [math.nan, None, "0.1", ref.StepDecay(0.5, 2)])
def test_set_lr_wants_a_number_or_a_variable(rate):
    sgd = ref.SGD(0.5)
    with pytest.raises(ArgumentError, match="sgd: "):
        sgd.set_lr(rate)
    assert sgd.get_lr() == 0.5


@pytest.mark.parametrize("scheduler", [0.1, None, object()])
def test_set_lr_scheduler_wants_a_scheduler(scheduler):
    sgd = ref.SGD(0.5)
    with pytest.raises(ArgumentError, match=r"sgd: scheduler = .*, must have get_lr\(\) and step\(\)"):
        sgd.set_lr_scheduler(scheduler)
    assert sgd.get_lr() == 0.5


def test_a_scheduler_that_says_nonsense_is_named_before_anything_changes():
    class Broken:
        def get_lr(self):
            return math.nan

        def step(self):
            raise AssertionError

    w = parameter()
    sgd = ref.SGD(Broken(), parameters=[w])
    with pytest.raises(ArgumentError, match="sgd: the scheduler's learning rate = nan, must be"):
        sgd.step()
    np.testing.assert_array_equal(w.value, [3.0, -4.0])
    assert sgd.state_dict() == {}


def test_a_variable_of_a_program_has_no_value_before_a_run():
    rate = layers.create_global_var([1], 0.5, "float32", name="rate")
    with pytest.raises(ArgumentError, match="sgd: rate is read when a program runs; none has run yet"):
        ref.SGD(rate).get_lr()
    with pytest.raises(ArgumentError, match="must be a finite number"):
        ref.SGD(layers.create_global_var([2], 0.5, "float32"))


# steps


@pytest.mark.parametrize(
    ("grad", "text"),
    [
        (np.ones(3, np.float32), r"has shape \(3,\) and dtype float32, must be \(2,\) and float32"),
        (np.ones(2, np.float64), r"has shape \(2,\) and dtype float64, must be \(2,\) and float32"),
        (ref.SparseRows([0], np.ones((1, 2), np.float32), 4), r"has shape \(4, 2\) and dtype float32"),
    ],
)
def test_a_wrong_gradient_is_named_and_no_parameter_moves(grad, text):
    first, wrong = parameter("first"), parameter("wrong")
    adam = ref.Adam(0.1, parameters=[first, wrong], grad_clip=ref.GradientClipByGlobalNorm(1.0))
    adam.step()
    wrong.grad = None
    before = snapshot(adam, [first, wrong])
    wrong.grad = grad
    with pytest.raises(ArgumentError, match=f"adam: the gradient of wrong {text}"):
        adam.step()
    wrong.grad = None
    assert snapshot(adam, [first, wrong]) == before


@pytest.mark.parametrize("name", ["Adamax", "Ftrl"])
def test_sparse_gradients_are_refused_where_the_page_says_so(name):
    w = parameter("table", np.ones((5, 2)), None)
    w.grad = ref.SparseRows([1], np.ones((1, 2), np.float32), 5)
    optimizer = getattr(ref, name)(learning_rate=0.1, parameters=[w])
    with pytest.raises(
        ArgumentError, match=f"{name.lower()}: table has a sparse gradient, which the document excludes"
    ):
        optimizer.step()
    assert optimizer.state_dict() == {}


@pytest.mark.parametrize("method", ["step", "clear_grad"])
def test_eager_methods_want_parameters(method):
    with pytest.raises(ArgumentError, match="sgd: an eager step needs the argument `parameters` of the constructor"):
        getattr(ref.SGD(0.1), method)()
    network()
    sgd = ref.SGD(0.1, parameters=default_main_program().all_parameters())
    with pytest.raises(ArgumentError, match=r"has no \.grad; its steps are the runs of its program"):
        getattr(sgd, method)()


def test_the_base_class_has_no_rule():
    w = parameter()
    with pytest.raises(ArgumentError, match="the base class Optimizer has no update rule; give it `rule`"):
        ref.Optimizer(0.1, [w]).step()
    np.testing.assert_array_equal(w.value, [3.0, -4.0])


@pytest.mark.parametrize("regularizer", [0.1, "l2", ref.GradientClipByNorm(1.0)])
def test_an_unknown_regularizer_is_named_and_nothing_is_appended(regularizer):
    loss = network()
    sgd = ref.SGD(0.1)
    pairs = sgd.backward(loss)
    before = list(default_main_program().operators)
    with pytest.raises(ArgumentError, match=r"sgd: regularization = .*, must be a regularizer"):
        sgd.append_regularization_ops(pairs, regularizer)
    pairs[1][0].regularizer = regularizer
    with pytest.raises(ArgumentError, match=r"sgd: the regularizer of a\.b_0 = .*, must be a regularizer"):
        sgd.append_regularization_ops(pairs)
    assert default_main_program().operators == before


def test_minimize_checks_every_regularizer_before_it_appends():
    loss = network()
    default_main_program().variables["b.w_0"].regularizer = 0.1
    before = list(default_main_program().operators)
    with pytest.raises(ArgumentError, match=r"sgd: the regularizer of b\.w_0 = 0\.1"):
        ref.SGD(0.1, grad_clip=ref.GradientClipByNorm(1.0)).minimize(loss)
    assert default_main_program().operators == before
    assert default_startup_program().operators[-1].name == "initialize"


def test_an_eager_parameter_with_an_unknown_regularizer_does_not_move():
    first, wrong = parameter("first"), parameter("wrong", regularizer=0.1)
    adam = ref.Adam(0.1, parameters=[first, wrong])
    with pytest.raises(ArgumentError, match=r"adam: the regularizer of wrong = 0\.1"):
        adam.step()
    np.testing.assert_array_equal(first.value, [3.0, -4.0])
    assert adam.state_dict() == {}


def test_a_failing_exclusion_leaves_everything():
    def exclude(p):
        if p.name == "second":
            raise KeyError(p.name)
        return False

    first, second = parameter("first"), parameter("second")
    lamb = ref.Lamb(0.1, exclude_from_weight_decay_fn=exclude, parameters=[first, second])
    with pytest.raises(KeyError):
        lamb.step()
    np.testing.assert_array_equal(first.value, [3.0, -4.0])
    assert lamb.state_dict() == {}
