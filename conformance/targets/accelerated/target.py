"""Our own accelerated backend as a target: each engine judged apart, with and without master copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from optimetry.accelerated.devices.device import device_of
from optimetry.accelerated.engines.engine import ENGINES
from optimetry.accelerated.kernels import offered
from optimetry.accelerated.optimizer import Accelerated
from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.targets.accelerated.wrappers import OFFERS
from optimetry.conformance.targets.protocol import Hyper
from optimetry.reference.errors import EngineUnavailableError

MASTER, FMAD = "-master", "-fmad"
"""What the engine is called with ``multi_precision`` (float32 copies of narrow parameters, none of wide ones) and, on
CUDA, with ``fmad`` (a product and a sum in one rounding)."""

ENDS = {"cuda": ("", FMAD)}
"""The suffix of an engine's name for each of its modes."""


class AcceleratedTarget:
    """The rules of our ``accelerated`` folder.

    ``engine`` is ``numba``, ``numpy``, ``cuda`` or ``cuda-fmad``, or one of them with ``-master``.
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
        """One target for each engine that can run here, without and with master copies."""
        missing = self.not_run()
        names = [engine + end for engine in ENGINES if engine not in missing for end in ENDS.get(engine, ("",))]
        return [AcceleratedTarget(name + suffix) for suffix in ("", MASTER) for name in names]

    def not_run(self) -> Mapping[str, str]:
        """Return the engines that cannot run here, each with the reason: CUDA without a device, a broken Numba."""
        obstacles = {engine: AcceleratedTarget(engine).obstacle() for engine in ENGINES}
        return {engine: obstacle for engine, obstacle in obstacles.items() if obstacle}

    def obstacle(self) -> str | None:
        """Return why this engine cannot run here; None if it can."""
        try:
            self._started("sgd", {}, [np.zeros(1, np.float32)])
        except EngineUnavailableError as error:
            return str(error)
        return None

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Return why this engine lacks a rule or wrapper, None if it has it; every dtype is supported."""
        if optimizer in OFFERS:
            return f"{optimizer} works without master copies" if self._master else None
        if optimizer in offered():
            return None
        return f"{self.name} has no kernel for {optimizer}"

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> AcceleratedRun:
        """Begin a run on copies of ``parameters``; raises ValueError where this engine has no such rule."""
        self._refuse(optimizer, hyper)
        return AcceleratedRun(self._started(optimizer, hyper, parameters))

    def start_wrapper(self, wrapper: str, hyper: Hyper, parameters: list[Array]) -> Any:
        """Begin a run of a clip, a regularizer, an average or compression; raises ValueError where it has none."""
        self._refuse(wrapper, hyper)
        return OFFERS[wrapper](wrapper, hyper, parameters, self._engine, self._fmad)

    def _refuse(self, optimizer: str, hyper: Hyper) -> None:
        reason = self.unsupported(optimizer, hyper, "float32")
        if reason is not None:
            raise ValueError(reason)

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
