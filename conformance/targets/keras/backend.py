"""Talks to the process of one Keras backend: Keras settles its backend when it is imported, so each has its own."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

HARNESS = Path(__file__).parents[2] / "harness"
FAR_END = f"""
import sys
sys.path.insert(0, {str(HARNESS)!r})
from python_harness import lend_targets
del sys.path[0]
lend_targets()
from optimetry.conformance.targets.keras.process import serve
serve()
"""
"""What a backend's process runs: `serve`, also where optimetry is not installed."""

ON_THE_CPU = {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "KERAS_TORCH_DEVICE": "cpu"}

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3"}
"""TensorFlow writes of the processor it finds otherwise."""

WIDE_JAX = {"JAX_ENABLE_X64": "1"}
"""JAX has no float64 unless this is set. Setting it changes no update of Keras."""


class Backend:
    """Starts and asks the process of one backend.

    Raises:
        RuntimeError: the process is gone or did not start, or what was asked for raised there.
    """

    running: dict[str, Backend] = {}  # noqa: RUF012  # shared on purpose: one process for each backend

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._started = 0
        self.over: list[int] = []
        """The numbers of runs that are no longer used; the next request lists them."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", FAR_END],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ON_THE_CPU, **WIDE_JAX, **QUIET, "KERAS_BACKEND": engine},
        )
        atexit.register(self.end)
        self._answer()

    @classmethod
    def of(cls, engine: str) -> Backend:
        """Return the process of this backend, started if there is none."""
        if engine not in cls.running:
            cls.running[engine] = cls(engine)
        return cls.running[engine]

    def begin(self, verb: str, *arguments: Any) -> int:
        """Begin a run there, and return its number."""
        self._started += 1
        self.ask(verb, self._started, arguments)
        return self._started

    def ask(self, verb: str, number: int, arguments: tuple[Any, ...]) -> Any:
        """Call a method of a run in the process, and return its result."""
        over = self.over[:]
        del self.over[: len(over)]
        request = pickle.dumps((verb, number, arguments, over), protocol=pickle.HIGHEST_PROTOCOL)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except (OSError, ValueError):  # a broken pipe, or one that `end` has closed
            raise RuntimeError(self._loss()) from None
        return self._answer()

    def end(self) -> None:
        """End the process, and forget it: the next run starts another."""
        if self.running.get(self._engine) is self:
            del self.running[self._engine]
        atexit.unregister(self.end)
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        try:
            done, content = pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            raise RuntimeError(self._loss()) from None
        except BaseException:  # such as the alarm of a time limit: an answer that comes later must find no reader
            self.end()
            raise
        if not done:
            raise RuntimeError(content)
        return content

    def _loss(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        self.end()
        return f"keras: the process of its {self._engine} backend ended with status {self._process.returncode}"


class Near:
    """The client side of one run: every call is one request to the backend's process.

    Args:
        engine: the backend.
        verb: ``start`` of an optimizer, or ``start_wrapper`` of a wrapper.
        arguments: what it is started with in the process.
    """

    def __init__(self, engine: str, verb: str, *arguments: Any) -> None:
        self._backend = Backend.of(engine)
        self._number = self._backend.begin(verb, *arguments)
        weakref.finalize(self, self._backend.over.append, self._number)

    def _ask(self, verb: str, *arguments: Any) -> Any:
        return self._backend.ask(verb, self._number, arguments)
