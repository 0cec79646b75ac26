"""Deep gradient compression with one operating-system process for each worker, over torch.distributed and gloo.

The sparse entries of all parameters travel as one buffer a worker and step. Every worker adds the buffers up in the
order of the ranks, so all of them, and the simulation in `optimetry.reference.distributed.training`, get the same bits.

Needs the extra ``torch``, which is imported when a worker starts.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from multiprocessing.context import BaseContext
from pathlib import Path

import numpy as np

from optimetry.accelerated.compression import Compression
from optimetry.accelerated.dtypes import Array
from optimetry.accelerated.optimizer import Accelerated
from optimetry.reference.distributed.dgc_momentum import DGCMomentum, Message, mean

TIMEOUT = timedelta(seconds=60)
"""How long a worker waits for the others before it fails."""


@dataclass(frozen=True)
class Report:
    """The results of one worker.

    Attributes:
        parameters: after the last step, the same in every worker.
        sent: bytes of the buffer it sent in each step, indices and values.
        dense: bytes that its uncompressed gradients have in one step.
    """

    parameters: list[Array]
    sent: list[int]
    dense: int


class DGCWorker:
    """One worker of a process group that is already initialized: its parameters, residuals and exchange.

    Args:
        rule: the declaration.
        parameters: the same in every worker, float32 or float64, any shapes; copied.
    """

    def __init__(self, rule: DGCMomentum, parameters: Sequence[Array]) -> None:
        self.rule = rule
        self.parameters = [np.array(param, order="C") for param in parameters]
        self.steps = 0
        self.sent: list[int] = []
        self._dense = Accelerated(rule.dense(), self.parameters, threads=1)
        self._compression = Compression(self.parameters, rule.momentum, rule.use_nesterov, threads=1)

    def step(self, grads: Sequence[Array], lr: float) -> None:
        """Exchange this worker's gradients, shaped like the parameters, with the others and update the parameters."""
        sparsity = self.rule.sparsity_at(self.steps)
        self.steps += 1
        local = [self.rule.local(*pair, sparsity) for pair in zip(self.parameters, grads, strict=True)]
        if sparsity is None:
            of_workers = self._exchange(local)
            self._dense.step([reduce(np.add, parts) / float(len(parts)) for parts in zip(*of_workers, strict=True)], lr)
            return
        messages = self._compression.compress(local, sparsity)
        of_workers = self._exchange([part for message in messages for part in (message.indices, message.values)])
        for i, param in enumerate(self.parameters):
            np.subtract(param, lr * mean([Message(*parts[2 * i : 2 * i + 2]) for parts in of_workers], param), param)

    def _exchange(self, parts: Sequence[Array]) -> list[list[Array]]:
        """Return every worker's parts, in the order of the ranks; all send parts of the same shapes and dtypes."""
        import torch

        buffer = torch.from_numpy(np.concatenate([part.reshape(-1).view(np.uint8) for part in parts]))
        received = [torch.empty_like(buffer) for _ in range(torch.distributed.get_world_size())]
        torch.distributed.all_gather(received, buffer)
        self.sent.append(buffer.nbytes)
        ends = np.cumsum([part.nbytes for part in parts])[:-1]
        return [
            [
                piece.copy().view(part.dtype).reshape(part.shape)
                for piece, part in zip(np.split(other.numpy(), ends), parts, strict=True)
            ]
            for other in received
        ]


def run_workers(
    rule: DGCMomentum, parameters: Sequence[Array], gradients: Sequence[Sequence[Sequence[Array]]], lr: float
) -> list[Report]:
    """Train with one new process for each worker, and return the results of each.

    Args:
        rule: the declaration.
        parameters: before the first step.
        gradients: ``gradients[worker][step][parameter]``, arrays of the parameters' shapes and dtypes.
        lr: the learning rate.
    """
    workers = len(gradients)
    with tempfile.TemporaryDirectory() as folder:
        meeting = (Path(folder) / "meeting").as_uri()
        with ProcessPoolExecutor(workers, _new_processes()) as pool:
            tasks = [
                pool.submit(_work, rule, list(parameters), of_worker, lr, rank, workers, meeting)
                for rank, of_worker in enumerate(gradients)
            ]
            return [task.result() for task in tasks]


def _new_processes() -> BaseContext:
    """Choose how processes start: from one that has imported torch, where the system can fork, else from nothing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "optimetry.accelerated.engines.numba", "torch.distributed"])
    return context


def _work(
    rule: DGCMomentum,
    parameters: list[Array],
    gradients: Sequence[Sequence[Array]],
    lr: float,
    rank: int,
    workers: int,
    meeting: str,
) -> Report:
    """Run one worker in its process: join the others, take every step, report."""
    import torch

    torch.set_num_threads(1)
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")]  # all workers are on this machine
    os.environ.setdefault("GLOO_SOCKET_IFNAME", ",".join(loopback[:1]))
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=workers, timeout=TIMEOUT)
    try:
        worker = DGCWorker(rule, parameters)
        for grads in gradients:
            worker.step(grads, lr)
        return Report(worker.parameters, worker.sent, sum(param.nbytes for param in parameters))
    finally:
        torch.distributed.destroy_process_group()
