"""Our own accelerated backend as a target: each engine judged apart, with and without master copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata

import numpy as np

from optimetry.accelerated.devices.device import device_of
from optimetry.accelerated.engines.engine import ENGINES
from optimetry.accelerated.formats import FORMATS
from optimetry.accelerated.optimizer import Accelerated
from optimetry.conformance.targets.target import Array, AverageRun, GradientRun, Hyper
from optimetry.conformance.targets.wrapped import accelerated as wrapped
from optimetry.conformance.wrappers import WRAPPERS
from optimetry.reference.errors import EngineUnavailableError

MASTER, FMAD = "-master", "-fmad"
"""What the engine is called with ``multi_precision`` (float32 copies of narrow parameters, none of wide ones) and, on
CUDA, with ``fmad`` (a product and a sum in one rounding)."""


class AcceleratedTarget:
    """The rules of our ``accelerated`` folder.

    ``engine`` is ``numba``, ``numpy``, ``cuda`` or ``cuda-fmad``, or one of them with ``-master``. Where there is no
    CUDA device, the last two say so and are not run.
    """

    name = "accelerated"
    version = metadata.version("optimetry")

    def __init__(self, engine: str = ENGINES[0]) -> None:
        self.engine = engine
        self._master = engine.endswith(MASTER)
        name = engine.removesuffix(MASTER)
        self._fmad = name.endswith(FMAD)
        self._engine = name.removesuffix(FMAD)

    def engines(self) -> Sequence[AcceleratedTarget]:
        """One target for each engine, without and with master copies."""
        names = [*ENGINES, *(f"{name}{FMAD}" for name in ENGINES if name == "cuda")]
        return [AcceleratedTarget(name + suffix) for suffix in ("", MASTER) for name in names]

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Why this engine does not run here, or not in this dtype, or not this wrapper."""
        if optimizer in WRAPPERS and (reason := wrapped.unsupported(optimizer, self.engine)):
            return reason
        try:
            self._started("sgd", {}, [np.zeros(1, FORMATS[dtype].dtype)])
        except EngineUnavailableError as error:
            return f"not run: {error}"
        return None

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> AcceleratedRun:
        """Begin a run on copies of ``parameters``."""
        return AcceleratedRun(self._started(optimizer, hyper, parameters))

    def start_wrapper(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> GradientRun | AverageRun:
        """Begin a run of a clip, a regularizer or an average; raises ValueError where this engine has none."""
        return wrapped.start(wrapper, hyper, parameters, self.engine)

    def _started(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> Accelerated:
        device = device_of(self._engine, ())
        return Accelerated(
            optimizer,
            [device.given(np.array(parameter, order="C")) for parameter in parameters],
            hyper,
            engine=self._engine,
            multi_precision=self._master,
            fmad=self._fmad,
        )


class AcceleratedRun:
    """One accelerated optimizer over its own copies of the parameters."""

    def __init__(self, optimizer: Accelerated) -> None:
        self._optimizer = optimizer

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One update in place; the arrays returned are copies."""
        device = self._optimizer.device
        self._optimizer.step([None if grad is None else device.given(grad) for grad in grads], learning_rate)
        return [device.copied(parameter) for parameter in self._optimizer.parameters]

    def state(self) -> dict[str, list[Array]]:
        """The state of all parameters, master copies and numbers of updates included."""
        return self._optimizer.state_dict()

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        self._optimizer.load_state_dict(state)


target = AcceleratedTarget()
