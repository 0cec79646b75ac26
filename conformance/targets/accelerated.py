"""Our own accelerated backend as a target: each engine judged apart, with and without master copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata

import numpy as np

from optimetry.accelerated.engines.engine import ENGINES
from optimetry.accelerated.formats import FORMATS
from optimetry.accelerated.optimizer import Accelerated
from optimetry.conformance.targets.target import Array, Hyper
from optimetry.reference.errors import EngineUnavailableError

WITH_MASTER = "-master"
"""What the engine is called with ``multi_precision``: float32 copies of narrow parameters, no more of wide ones."""


class AcceleratedTarget:
    """The rules of our ``accelerated`` folder. ``engine`` is ``numba``, ``numpy``, or one of them with ``-master``."""

    name = "accelerated"
    version = metadata.version("optimetry")

    def __init__(self, engine: str = ENGINES[0]) -> None:
        self.engine = engine
        self._engine = engine.removesuffix(WITH_MASTER)
        self._master = engine.endswith(WITH_MASTER)

    def engines(self) -> Sequence[AcceleratedTarget]:
        """One target for each engine, without and with master copies."""
        return [AcceleratedTarget(name + suffix) for suffix in ("", WITH_MASTER) for name in ENGINES]

    def unsupported(self, optimizer: str, hyper: Hyper, dtype: str) -> str | None:
        """Why this engine does not run here, or not in this dtype."""
        try:
            Accelerated("sgd", [np.zeros(1, FORMATS[dtype].dtype)], engine=self._engine)
        except EngineUnavailableError as error:
            return f"not run: {error}"
        return None

    def start(self, optimizer: str, hyper: Hyper, parameters: list[Array]) -> AcceleratedRun:
        """Begin a run on copies of ``parameters``."""
        return AcceleratedRun(
            Accelerated(
                optimizer,
                [np.array(parameter, order="C") for parameter in parameters],
                hyper,
                engine=self._engine,
                multi_precision=self._master,
            )
        )


class AcceleratedRun:
    """One accelerated optimizer over its own copies of the parameters."""

    def __init__(self, optimizer: Accelerated) -> None:
        self._optimizer = optimizer

    def step(self, grads: list[Array | None], learning_rate: float) -> list[Array]:
        """One update in place; the arrays returned are copies."""
        self._optimizer.step(grads, learning_rate)
        return [parameter.copy() for parameter in self._optimizer.parameters]

    def state(self) -> dict[str, list[Array]]:
        """The state of all parameters, master copies and numbers of updates included."""
        return self._optimizer.state_dict()

    def load(self, state: Mapping[str, list[Array]]) -> None:
        """Continue from what ``state()`` returned."""
        self._optimizer.load_state_dict(state)


target = AcceleratedTarget()
