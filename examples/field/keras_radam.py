"""keras-rectified-adam: RAdam over the older optimizers that TensorFlow has of Keras itself."""

from __future__ import annotations

from examples.field.helpers import without_init
from examples.field.keras_legacy import EpsilonAboveZero, Run
from examples.field.tf_keras_optimizers import betas, epsilon

without_init("keras_radam")  # it imports what TensorFlow's own Keras has no more

from tensorflow import python  # noqa: E402
from tensorflow.python.framework import ops  # noqa: E402
from tensorflow.python.ops import control_flow_ops, math_ops, state_ops  # noqa: E402

# It takes these from where TensorFlow once had them.
vars(python).update(ops=ops, control_flow_ops=control_flow_ops, math_ops=math_ops, state_ops=state_ops)

from keras_radam.optimizer_v2 import RAdam  # noqa: E402


def radam(hyper, parameters):
    return Run(parameters, RAdam(**betas(hyper)))  # with its threshold and its epsilon


def torch_radam(hyper, parameters):
    return Run(parameters, RAdam(**betas(hyper), **epsilon(hyper), weight_decay=hyper["weight_decay"]))


class Target(EpsilonAboveZero):
    distribution = "keras-radam"
    rules = {"papers.radam": radam, "torch.radam": torch_radam}
    pinned = {"torch.radam": {"decoupled_weight_decay": True, "maximize": False}}
