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
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import numpy as np

from optimetry.accelerated.dtypes import Array
from optimetry.reference.distributed.dgc_momentum import DGCMomentum, count_sent

Tensor = Any
"""A torch.Tensor; torch is not imported with this module."""

TIMEOUT = timedelta(seconds=60)
"""How long a worker waits for the others before it gives up."""


@dataclass(frozen=True)
class Report:
    """What one worker has at the end.

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
        rule: the declaration; only its hyperparameters and its schedule are used.
        parameters: the same in every worker, float32 or float64, any shapes; copied.
    """

    def __init__(self, rule: DGCMomentum, parameters: Sequence[Array]) -> None:
        import torch

        self.torch = torch
        self.rule = rule
        self.parameters = [torch.from_numpy(param.copy()) for param in parameters]
        self.velocity, self.u, self.v = ([torch.zeros_like(param) for param in self.parameters] for _ in range(3))
        self.steps = 0
        self.sent: list[int] = []

    def step(self, grads: Sequence[Array], lr: float) -> None:
        """Exchange this worker's gradients, shaped like the parameters, with the others and update the parameters."""
        sparsity = self.rule.sparsity_at(self.steps)
        self.steps += 1
        own = [self.torch.from_numpy(np.ascontiguousarray(grad)) for grad in grads]
        if sparsity is None:
            self._dense_step([self._regularized(i, grad) for i, grad in enumerate(own)], lr)
        else:
            self._sparse_step(own, lr, sparsity)

    def _dense_step(self, grads: list[Tensor], lr: float) -> None:
        of_workers = self._exchange([grad.reshape(-1) for grad in grads])
        mu = self.rule.momentum
        for i, grad in enumerate(grads):
            mean = self._sum([of_worker[i] for of_worker in of_workers]).div(len(of_workers)).reshape(grad.shape)
            self.velocity[i] = self.velocity[i].mul(mu).add(mean)
            direction = mean.add(self.velocity[i].mul(mu)) if self.rule.use_nesterov else self.velocity[i]
            self.parameters[i] = self.parameters[i].sub(direction.mul(lr))

    def _sparse_step(self, grads: list[Tensor], lr: float, sparsity: float) -> None:
        parts: list[Tensor] = []
        for i, grad in enumerate(grads):
            parts += self._compress(i, self._regularized(i, self._clipped(grad)), sparsity)
        of_workers = self._exchange(parts)
        for i, param in enumerate(self.parameters):
            total = self.torch.zeros_like(param).reshape(-1)
            for of_worker in of_workers:
                indices, values = of_worker[2 * i : 2 * i + 2]
                total[indices.long()] += values
            self.parameters[i] = param.sub(total.div(len(of_workers)).reshape(param.shape).mul(lr))

    def _compress(self, i: int, grad: Tensor, sparsity: float) -> tuple[Tensor, Tensor]:
        """Indices and values to send of one parameter; what is sent leaves both residuals."""
        mu = self.rule.momentum
        if self.rule.use_nesterov:
            self.u[i] = self.u[i].add(grad).mul(mu)
            self.v[i] = self.v[i].add(self.u[i].add(grad))
        else:
            self.u[i] = self.u[i].mul(mu).add(grad)
            self.v[i] = self.v[i].add(self.u[i])
        flat = self.v[i].reshape(-1)
        order = self.torch.sort(flat.abs(), descending=True, stable=True).indices  # NaN comes first
        chosen = order[: count_sent(flat.numel(), sparsity)].sort().values
        values = flat[chosen]
        for residual in (self.u[i], self.v[i]):
            residual.view(-1)[chosen] = 0
        return chosen.int(), values

    def _regularized(self, i: int, grad: Tensor) -> Tensor:
        regularizer = self.rule.regularizer
        return grad if regularizer is None else grad.add(regularizer.term(self.parameters[i]))

    def _clipped(self, grad: Tensor) -> Tensor:
        clip, workers = self.rule.local_grad_clip_norm, self.rule.num_trainers
        if clip is None or workers is None:
            return grad
        limit = clip / workers**0.5
        size = float(np.sqrt(np.sum(np.square(grad.numpy()))))  # NumPy's order of summation is the simulation's
        return grad.mul(limit).div(size) if size > limit else grad

    def _exchange(self, parts: Sequence[Tensor]) -> list[list[Tensor]]:
        """Every worker's parts, in the order of the ranks; all workers send parts of the same sizes and dtypes."""
        buffer = self.torch.cat([part.contiguous().view(self.torch.uint8) for part in parts])
        received = [self.torch.empty_like(buffer) for _ in range(self.torch.distributed.get_world_size())]
        self.torch.distributed.all_gather(received, buffer)
        self.sent.append(buffer.nbytes)
        sizes = [part.nbytes for part in parts]
        dtypes = [part.dtype for part in parts]
        return [
            [piece.clone().view(dtype) for piece, dtype in zip(other.split(sizes), dtypes, strict=True)]
            for other in received
        ]

    @staticmethod
    def _sum(tensors: Sequence[Tensor]) -> Tensor:
        total = tensors[0]
        for tensor in tensors[1:]:
            total = total.add(tensor)
        return total


def run_workers(
    rule: DGCMomentum, parameters: Sequence[Array], gradients: Sequence[Sequence[Sequence[Array]]], lr: float
) -> list[Report]:
    """Train with one new process for each worker, and report what each of them has.

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
    """How processes start: from one that has imported torch once, where the system can fork, else from nothing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "torch.distributed"])
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
    """One process: join the others, take every step, report."""
    import torch

    torch.set_num_threads(1)
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")]  # all workers are on this machine
    os.environ.setdefault("GLOO_SOCKET_IFNAME", ",".join(loopback[:1]))
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=workers, timeout=TIMEOUT)
    try:
        worker = DGCWorker(rule, parameters)
        for grads in gradients:
            worker.step(grads, lr)
        after = [param.numpy() for param in worker.parameters]
        return Report(after, worker.sent, sum(param.nbytes for param in parameters))
    finally:
        torch.distributed.destroy_process_group()
