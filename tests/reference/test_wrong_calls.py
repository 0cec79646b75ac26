"""Wrong calls: each is a project error that names what is wrong, and nothing has changed."""

import math
import pickle

import numpy as np
import pytest

import optimetry.reference as ref
from optimetry import fluid, paddle
from optimetry.reference.errors import OptimetryError
from optimetry.reference.programs import Executor, layers, naming
from optimetry.reference.programs.eager import EagerParameter, Tensor
from optimetry.reference.programs.program import default_main_program, default_startup_program
from tests.reference.small import FEED, network, parameter, started


class World:
    """Programs, an executor, optimizers and eager parameters, with a step behind each."""

    def __init__(self):
        self.loss = network()
        self.main, self.startup = default_main_program(), default_startup_program()
        self.x, self.hidden = self.main.variables["x"], self.main.variables["a.tmp_2"]
        self.ids = layers.data("ids", [None, 1], "int64")
        self.adam = ref.Adam(0.1)
        self.result = self.adam.minimize(self.loss)
        self.ema = ref.ExponentialMovingAverage(0.5)
        self.ema.update()
        self.exe = started()
        self.feed = FEED | {"ids": np.array([[1]])}
        self.exe.run(feed=self.feed)
        self.w, self.v = parameter("w"), parameter("v")
        self.eager = ref.Momentum(0.1, 0.9, parameters=[self.w, self.v])
        self.eager.step()
        self.tensor = Tensor.of(self.w) * 2.0
        self.linear = fluid.dygraph.Linear(3, 2)
        self.scheduled = ref.SGD(ref.StepDecay(0.5, 2), parameters=[self.w])
        self.wrapped = ref.RecomputeOptimizer(ref.SGD(0.1))
        self.wrapped._set_checkpoints([self.hidden])
        self.dataset = fluid.DatasetFactory().create_dataset()

    def snapshot(self):
        scope = self.exe.scope.values
        programs = [(str(p), p.pipeline, p._random) for p in (self.main, self.startup)]
        values = pickle.dumps([self.w.value, self.v.value, self.w.grad, self.v.grad, self.linear.state_dict()])
        states = pickle.dumps([each.state_dict() for each in (self.adam, self.eager, self.scheduled, self.ema)])
        rates = [each.get_lr() for each in (self.adam, self.eager, self.scheduled)]
        return (
            programs,
            naming.taken(),
            {n: id(v) for n, v in scope.items()},
            self.exe.runs.copy(),
            values,
            states,
            rates,
        )


def sgd():
    return ref.SGD(0.1)


CALLS = {
    # constructors
    "rate text": (lambda c: ref.SGD("fast"), "sgd: learning_rate = 'fast'"),
    "rate None": (lambda c: ref.Adam(None), "adam: learning_rate = None"),
    "rate nan": (lambda c: ref.Adam(math.nan), "adam: learning_rate = nan"),
    "rate of two": (lambda c: ref.SGD(Tensor.of(np.ones(2))), "sgd: learning_rate = Tensor"),
    "rate of integers": (lambda c: ref.SGD(Tensor.of(np.array([1]))), "sgd: learning_rate = Tensor"),
    "momentum": (lambda c: ref.Momentum(0.1, 1.5), "momentum: momentum = 1.5, must be in [0, 1)"),
    "beta": (lambda c: ref.Adam(beta2=1), "adam: beta2 = 1, must be in [0, 1)"),
    "epsilon": (lambda c: ref.Adagrad(0.1, -1e-6), "adagrad: epsilon = -1e-06, must be"),
    "centered": (lambda c: ref.RMSProp(0.1, centered=1), "rmsprop: centered = 1, must be True or False"),
    "lazy": (lambda c: ref.Adam(lazy_mode="yes"), "adam: lazy_mode = 'yes'"),
    "batch_num": (lambda c: ref.ASGD(0.1, 0), "asgd: batch_num = 0"),
    "regularization": (lambda c: ref.SGD(0.1, 0.01), "sgd: regularization = 0.01"),
    "clip": (lambda c: ref.SGD(0.1, grad_clip=5), "sgd: grad_clip = 5"),
    "parameters int": (lambda c: ref.SGD(0.1, parameters=3), "sgd: parameters = 3"),
    "parameters twice": (lambda c: ref.SGD(0.1, parameters=[c.w, c.w]), "sgd: parameter 'w' is given twice"),
    "name": (lambda c: ref.SGD(0.1, name=3), "sgd: name = 3"),
    "dgc sparsity": (lambda c: ref.DGCMomentumOptimizer(0.1, 0.9, 0, 1, 0.9), "dgc_momentum: sparsity = 0.9"),
    "dgc trainers": (lambda c: ref.DGCMomentumOptimizer(0.1, 0.9, 0, local_grad_clip_norm=1.0), "num_trainers = None"),
    "recompute of nothing": (lambda c: ref.RecomputeOptimizer(3), "RecomputeOptimizer: optimizer = 3"),
    "checkpoints": (lambda c: c.wrapped._set_checkpoints([3]), "RecomputeOptimizer: checkpoints = [3]"),
    "pipeline place": (
        lambda c: ref.PipelineOptimizer(sgd(), [[c.hidden], [c.loss]], ["banana", 3, {}]),
        "PipelineOptimizer: an entry of place_list = 'banana'",
    ),
    "pipeline places": (
        lambda c: ref.PipelineOptimizer(sgd(), [[c.hidden], [c.loss]], [fluid.CPUPlace()]),
        "PipelineOptimizer: place_list = [CPUPlace()] with 1 entries, must be a list with 3",
    ),
    "pipeline queue": (lambda c: ref.PipelineOptimizer(sgd(), queue_size=0), "PipelineOptimizer: queue_size = 0"),
    "pipeline cuts": (lambda c: ref.PipelineOptimizer(sgd(), [c.loss]), "PipelineOptimizer: cut_list = ["),
    "integer parameter": (lambda c: EagerParameter("n", np.arange(3)), "parameter n: dtype = int64, must be a float"),
    "model average": (lambda c: ref.ModelAverage(0.5, 5, 2), "ModelAverage: min_average_window = 5"),
    "ema decay": (lambda c: ref.ExponentialMovingAverage(1.0), "ExponentialMovingAverage: decay = 1.0"),
    "ema steps": (lambda c: ref.ExponentialMovingAverage(0.5, 3), "ExponentialMovingAverage: thres_steps = 3"),
    # schedules
    "noam": (lambda c: ref.NoamDecay(100, 0), "NoamDecay: warmup_steps = 0"),
    "milestones int": (lambda c: ref.MultiStepDecay(0.1, 3), "MultiStepDecay: milestones = 3"),
    "milestones equal": (lambda c: ref.MultiStepDecay(0.1, [3, 3]), "MultiStepDecay: milestones = [3, 3]"),
    "values int": (lambda c: ref.PiecewiseDecay([1], 3), "PiecewiseDecay: values = 3"),
    "values short": (lambda c: ref.PiecewiseDecay([1], [0.1]), "PiecewiseDecay: 1 values for 1 boundaries"),
    "noam_decay": (lambda c: fluid.layers.noam_decay(-1, 10), "NoamDecay: d_model = -1"),
    # layers
    "fc int": (lambda c: layers.fc(3, 2), "fc: input = 3"),
    "fc empty": (lambda c: layers.fc([], 2), "fc: input = []"),
    "fc scalar": (lambda c: layers.fc(c.loss, 2), "fc: input = Variable('mean"),
    "fc size": (lambda c: layers.fc(c.x, "many"), "fc: size = 'many'"),
    "fc act": (lambda c: layers.fc(c.x, 2, act="swish"), "fc: act = 'swish'"),
    "fc attr": (lambda c: layers.fc(c.x, 2, param_attr=3), "fc_0.w: attr = 3"),
    "fc bias attr": (lambda c: layers.fc(c.x, 2, bias_attr=3), "fc_0.b: attr = 3"),
    "fc flatten": (lambda c: layers.fc(c.x, 2, num_flatten_dims=2), "fc: num_flatten_dims = 2"),
    "data twice": (lambda c: layers.data("x", [3]), "the program already has a variable 'x'"),
    "data shape": (lambda c: layers.data("y", 3), "data y: shape = 3"),
    "data length": (lambda c: layers.data("y", [2.5]), "data y: shape = 2.5"),
    "data lod": (lambda c: layers.data("y", [3], lod_level=1), "data y: lod_level = 1"),
    "embedding size": (lambda c: layers.embedding(c.ids, 10), "embedding: size = 10"),
    "embedding floats": (lambda c: layers.embedding(c.x, [10, 2]), "embedding: input = Variable('x'"),
    "concat int": (lambda c: layers.concat(3), "concat: input = 3"),
    "concat axis": (lambda c: layers.concat([c.x, c.x], 2), "concat: axis = 2"),
    "dropout": (lambda c: layers.dropout(c.x, 2.0), "dropout: dropout_prob = 2.0"),
    "mean of a number": (lambda c: layers.mean(3), "mean: input = (3,)"),
    "global var shape": (lambda c: layers.create_global_var(3, 0.5, "float32"), "create_global_var: shape = 3"),
    "global var value": (lambda c: layers.create_global_var([1], "a", "float32"), "create_global_var: value = 'a'"),
    "integer parameter in a program": (
        lambda c: layers.create_parameter([2], "int64"),
        "dtype = int64, must be a float",
    ),
    "shared with another shape": (lambda c: layers.fc(c.x, 7, param_attr="a.w_0"), "parameter a.w_0: shape = (3, 7)"),
    "sum of shapes": (lambda c: c.hidden + c.x, "elementwise_add: shapes (None, 4) of a.tmp_2 and (None, 3)"),
    "sum with text": (lambda c: c.hidden + "one", "elementwise_add: 'one'"),
    # minimize in a program
    "loss text": (lambda c: sgd().minimize("junk"), "sgd: loss = 'junk'"),
    "loss None": (lambda c: sgd().minimize(None), "sgd: loss = None"),
    "loss of four": (lambda c: sgd().minimize(c.hidden), "a.tmp_2: a loss of shape (None, 4)"),
    "loss that is fed": (lambda c: sgd().minimize(c.main.run_number), "run_number: no forward operator"),
    "parameter_list int": (lambda c: sgd().minimize(c.loss, parameter_list=3), "sgd: parameter_list = 3"),
    "parameter_list text": (lambda c: sgd().minimize(c.loss, parameter_list="a.w_0"), "sgd: parameter_list = 'a.w_0'"),
    "unknown parameter": (
        lambda c: sgd().minimize(c.loss, parameter_list=["a.w"]),
        "no variable 'a.w' in the program (parameter_list), must be one such as a.w_0",
    ),
    "no parameter": (lambda c: sgd().minimize(c.loss, parameter_list=["x"]), "x in parameter_list is not a parameter"),
    "no_grad_set text": (lambda c: sgd().minimize(c.loss, no_grad_set="weight"), "sgd: no_grad_set = 'weight'"),
    "no_grad_set int": (lambda c: sgd().minimize(c.loss, no_grad_set=3), "sgd: no_grad_set = 3"),
    "no_grad_set of ints": (lambda c: sgd().minimize(c.loss, no_grad_set={3}), "sgd: 3 in no_grad_set"),
    "no_grad_set of all": (
        lambda c: sgd().minimize(c.loss, no_grad_set={"a.w_0", "a.b_0", "b.w_0"}),
        "the loss depends on no parameter",
    ),
    "startup": (lambda c: sgd().minimize(c.loss, startup_program=3), "sgd: startup_program = 3"),
    "clip of minimize": (lambda c: sgd().minimize(c.loss, grad_clip=3), "sgd: grad_clip = 3"),
    "callbacks": (lambda c: sgd().backward(c.loss, callbacks=[3]), "callbacks holds 3"),
    "callbacks int": (lambda c: sgd().backward(c.loss, callbacks=3), "callbacks = 3"),
    "bad callback": (lambda c: sgd().backward(c.loss, callbacks=[lambda p, o: fluid.CUDAPlace(-1)]), "device_id = -1"),
    "pairs int": (lambda c: sgd().apply_gradients(3), "sgd: params_grads = 3"),
    "pairs of ints": (lambda c: sgd().apply_gradients([3]), "sgd: 3 is no pair"),
    "pair twice": (lambda c: sgd().apply_gradients(c.result[1][:1] * 2), "sgd: parameter 'a.w_0' is given twice"),
    "regularizer of pairs": (
        lambda c: sgd().append_regularization_ops(c.result[1], "l2"),
        "sgd: regularization = 'l2'",
    ),
    "recompute without checkpoints": (
        lambda c: ref.RecomputeOptimizer(sgd()).minimize(c.loss),
        "RecomputeOptimizer: checkpoints are missing",
    ),
    "recompute loss": (lambda c: c.wrapped.minimize("junk"), "sgd: loss = 'junk'"),
    "recompute clip": (lambda c: c.wrapped.minimize(c.loss, grad_clip=3), "sgd: grad_clip = 3"),
    "recompute parameters": (lambda c: c.wrapped.minimize(c.loss, parameter_list=["f"]), "no variable 'f'"),
    "pipeline loss": (lambda c: ref.PipelineOptimizer(sgd()).minimize(3), "PipelineOptimizer: loss = 3"),
    "pipeline last cut": (
        lambda c: ref.PipelineOptimizer(sgd(), [[c.hidden]]).minimize(c.loss),
        "PipelineOptimizer: the last cut is ['a.tmp_2']",
    ),
    "dgc regularizer": (
        lambda c: ref.DGCMomentumOptimizer(0.1, 0.9, 0, regularization=3),
        "dgc_momentum: regularization = 3",
    ),
    # runs
    "place": (lambda c: Executor("cpu"), "Executor: place = 'cpu'"),
    "program": (lambda c: c.exe.run(3), "Executor.run: program = 3"),
    "feed": (lambda c: c.exe.run(feed=[1]), "Executor.run: feed = [1]"),
    "feed of another name": (
        lambda c: c.exe.run(feed={"f": 1}),
        "no variable 'f' in the program (feed), must be one such as",
    ),
    "feed dtype": (lambda c: c.exe.run(feed=c.feed | {"x": np.ones((2, 3))}), "x: a value of dtype float64"),
    "feed shape": (lambda c: c.exe.run(feed=c.feed | {"x": np.ones((2, 4), np.float32)}), "x: a value of shape (2, 4)"),
    "nothing fed": (lambda c: c.exe.run(), "x has no value"),
    "fetch text": (lambda c: c.exe.run(feed=c.feed, fetch_list="fc"), "Executor.run: fetch_list = 'fc'"),
    "fetch int": (lambda c: c.exe.run(feed=c.feed, fetch_list=3), "Executor.run: fetch_list = 3"),
    "fetch of ints": (lambda c: c.exe.run(feed=c.feed, fetch_list=[3]), "Executor.run: fetch_list holds 3"),
    "fetch of another": (
        lambda c: c.exe.run(c.main.clone(for_test=True), c.feed, [c.result]),
        "fetch_list holds what minimize returned for another program",
    ),
    "apply": (lambda c: c.ema.apply(3), "ExponentialMovingAverage: executor = 3"),
    "apply need_restore": (lambda c: c.ema.apply(c.exe, "no"), "ExponentialMovingAverage: need_restore = 'no'"),
    "restore": (lambda c: c.ema.restore(c.exe), "ExponentialMovingAverage: restore() without apply()"),
    "apply elsewhere": (lambda c: c.ema.apply(Executor()), "has no value in this executor"),
    "dataset": (lambda c: fluid.Executor().train_from_dataset(c.main, 3), "train_from_dataset: dataset = 3"),
    "dataset kind": (lambda c: fluid.DatasetFactory().create_dataset("Fast"), "datafeed_class = 'Fast'"),
    "print period": (
        lambda c: fluid.Executor().train_from_dataset(dataset=c.dataset, print_period=0),
        "train_from_dataset: print_period = 0, must be an integer in [1, inf)",
    ),
    "padding": (lambda c: paddle.nn.Embedding(4, 2, padding_idx=0), "Embedding: padding_idx = 0, must be None"),
    "dataset files": (lambda c: c.dataset.set_filelist(["no such"]), "Dataset: no such in filelist"),
    "dataset batch": (lambda c: c.dataset.set_batch_size(0), "Dataset: batch_size = 0"),
    "feeder": (lambda c: fluid.DataFeeder([3]), "DataFeeder: feed_list = [3]"),
    "feeder row": (lambda c: fluid.DataFeeder([c.x]).feed([(1, 2)]), "DataFeeder: a row of 2 values, must be 1"),
    "feeder shape": (lambda c: fluid.DataFeeder([c.x]).feed([([1, 2],)]), "DataFeeder: x has shape (None, 3)"),
    # eager
    "eager loss": (lambda c: c.eager.minimize("junk"), "momentum: loss = 'junk'"),
    "eager callbacks": (lambda c: c.eager.backward(c.tensor, callbacks=[print]), "momentum: callbacks = ["),
    "eager no_grad_set": (lambda c: c.eager.minimize(c.tensor, no_grad_set="w"), "momentum: no_grad_set = 'w'"),
    "eager no_grad_set of others": (lambda c: c.eager.minimize(c.tensor, no_grad_set={"u"}), "'u' in no_grad_set"),
    "eager name": (lambda c: c.eager.minimize(c.tensor, parameter_list=["u"]), "parameter 'u', must be the name"),
    "eager without parameters": (lambda c: sgd().step(), "sgd: an eager step needs the argument `parameters`"),
    "eager of a program": (
        lambda c: ref.SGD(0.1, parameters=c.main.all_parameters()).step(),
        "has no .grad",
    ),
    "linear": (lambda c: c.linear(np.ones((2, 5), np.float32)), "of (2, 5) float32"),
    "linear size": (lambda c: paddle.nn.Linear(0, 3), "Linear: features = 0"),
    "embedding rows": (lambda c: paddle.nn.Embedding(3, 2)(np.array([7])), "embedding: id: 7, must be in [0, 3)"),
    "embedding rows below": (lambda c: paddle.nn.Embedding(3, 2)(np.array([-1])), "embedding: id: -1, must be in"),
    "half of integers": (lambda c: c.ids * 0.5, "mul: 0.5 beside a tensor of dtype int64, must be a whole number"),
    "quotient of integers": (lambda c: c.ids / 2, "truediv: a tensor of dtype int64, must be of a float dtype"),
    "half of integers eagerly": (lambda c: Tensor.of(np.arange(3)) * 0.5, "mul: 0.5 beside a tensor of dtype int64"),
    "embedding floats eagerly": (lambda c: paddle.nn.Embedding(3, 2)(np.ones(2)), "Embedding: row numbers of dtype"),
    "embedding size eagerly": (lambda c: fluid.dygraph.Embedding(10), "Embedding: size = 10"),
    "values of no layer": (lambda c: c.linear.set_state_dict({}), "Linear: the state dict lacks 'linear_0.b_0'"),
    "values of another layer": (
        lambda c: c.linear.set_state_dict(c.linear.state_dict() | {"w": c.w.value}),
        "Linear: the state dict has 'w', which is not ours",
    ),
    "values of another shape": (
        lambda c: c.linear.set_state_dict(c.linear.state_dict() | {"linear_0.w_0": c.w.value}),
        "Linear: 'linear_0.w_0' in the state dict has shape (2,) and dtype float32, must be (3, 2) and float32",
    ),
    "values None": (lambda c: c.linear.set_state_dict(None), "Linear: state_dict = None, must be a dict"),
    "ragged values": (
        lambda c: c.linear.set_state_dict(c.linear.state_dict() | {"linear_0.w_0": [[1], [1, 2]]}),
        "Linear: 'linear_0.w_0' in the state dict cannot be made an array",
    ),
    "values list": (lambda c: c.linear.set_dict([1]), "Linear: state_dict = [1], must be a dict"),
    # learning rate and state
    "set_lr text": (lambda c: c.eager.set_lr("slow"), "momentum: value = 'slow'"),
    "set_lr scheduled": (lambda c: c.scheduled.set_lr(0.1), "sgd: set_lr(0.1) while StepDecay"),
    "set_lr fleeting": (lambda c: c.adam.set_lr(c.loss), "adam: value = Variable('mean"),
    "set_lr_scheduler": (lambda c: c.eager.set_lr_scheduler(0.1), "momentum: scheduler = 0.1"),
    "state None": (lambda c: c.adam.set_state_dict(None), "adam: state_dict = None"),
    "state list": (lambda c: c.eager.set_dict([1]), "momentum: state_dict = [1]"),
    "state of another": (lambda c: c.eager.set_state_dict(c.adam.state_dict()), "momentum: the state dict lacks"),
    "state of ema": (lambda c: c.ema.set_state_dict({"a": 1}), "ExponentialMovingAverage: the state dict lacks"),
    "state None of ema": (lambda c: c.ema.set_state_dict(None), "ExponentialMovingAverage: state_dict = None"),
    "file": (lambda c: paddle.load("no such file"), "load: path = 'no such file'"),
    "files": (lambda c: fluid.load_dygraph("no such file"), "load_dygraph: model_path = 'no such file'"),
    "save": (lambda c: fluid.save_dygraph(3, "x"), "save_dygraph: state_dict = 3"),
    "scope": (lambda c: fluid.scope_guard(3).__enter__(), "scope_guard: scope = 3"),
    "guard": (lambda c: fluid.dygraph.guard("cpu").__enter__(), "guard: place = 'cpu'"),
}


def test_there_are_many():
    assert len(CALLS) >= 80


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_is_named_and_changes_nothing(name):
    world = World()
    before = world.snapshot()
    call, text = CALLS[name]
    with pytest.raises(OptimetryError) as caught:
        call(world)
    assert text in str(caught.value)
    extra = naming.taken() - before[1]
    assert {key for key in extra if not key.startswith(("linear", "embedding"))} == set()  # layers made for the call
    after = world.snapshot()
    assert (after[0], *after[2:]) == (before[0], *before[2:])


def test_a_call_succeeds_after_it_has_failed():
    world = World()
    other = ref.SGD(0.1)
    with pytest.raises(OptimetryError):
        other.minimize(world.loss, grad_clip=3)
    other.minimize(world.loss)
    with pytest.raises(OptimetryError):
        ref.RecomputeOptimizer(ref.SGD(0.1)).minimize(world.loss)
    world.wrapped.minimize(world.loss)


def test_a_run_that_fails_late_has_changed_nothing():
    """The second operator that updates raises, behind the first."""
    world = World()
    clip = ref.GradientClipByValue(1.0)
    clip.clipped = lambda grads: [np.ones(99, np.float32) for _ in grads]
    ref.SGD(0.1, grad_clip=clip).minimize(world.loss)
    executor = started()
    before = {name: id(value) for name, value in executor.scope.values.items()}
    with pytest.raises(OptimetryError, match=r"sgd: the gradient of a\.w_0 has shape \(99,\)"):
        executor.run(feed=world.feed)
    assert {name: id(value) for name, value in executor.scope.values.items()} == before
