"""Hostile targets: each does to its process what a broken library may, and must cost one verdict and no more.

The deed is done in the first step of momentum; sgd is as it should be. This file needs NumPy alone.
"""

import ctypes
import fcntl
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np

MIB = 2**20


class Hostile:
    name = "hostile"
    version = "1.0"

    def unsupported(self, optimizer, hyper, dtype):
        return None if optimizer in ("sgd", "momentum") else "not written yet"

    def start(self, optimizer, hyper, parameters):
        return Run(self.deed if optimizer == "momentum" else None, parameters)

    def deed(self):
        """What it does."""


class Run:
    def __init__(self, deed, parameters):
        self.deed, self.parameters = deed, [np.array(param) for param in parameters]

    def step(self, grads, learning_rate):
        if self.deed is not None:
            self.deed()
        for i, grad in enumerate(grads):
            if grad is not None:
                moved = self.parameters[i] - grad.dtype.type(learning_rate) * grad
                self.parameters[i] = np.asarray(moved, grad.dtype)
        return [param.copy() for param in self.parameters]


class Honest(Hostile):
    pass


class Segfault(Hostile):
    def deed(self):
        sys.stderr.write("about to read address 0\n")
        sys.stderr.flush()
        ctypes.string_at(0)


class LeavesQuietly(Hostile):
    def deed(self):
        os._exit(0)


class LoopsDeaf(Hostile):
    """Ignores signals, as a loop in C does, and leaves a child behind that waits."""

    def deed(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "600"])
        sys.stderr.write(f"child {child.pid}\n")
        sys.stderr.flush()
        while True:
            time.sleep(0.01)


class ForkBomb(Hostile):
    """Bounded: twenty processes, which wait."""

    def deed(self):
        for _ in range(20):
            child = os.fork()
            if child == 0:
                time.sleep(600)
                os._exit(0)
            sys.stderr.write(f"child {child}\n")
        sys.stderr.flush()
        os._exit(1)


class Allocates(Hostile):
    def deed(self):
        np.ones(64 * 1024 * MIB // 8)


class ClosesDescriptors(Hostile):
    def deed(self):
        os.closerange(0, 64)


class PrintsWithoutEnd(Hostile):
    """To standard output, which the harness keeps for the protocol."""

    def deed(self):
        while True:
            sys.stdout.write("noise of a target\n" * 1000)


class LineWithoutEnd(Hostile):
    def deed(self):
        while True:
            os.write(protocol_pipe(), b"x" * MIB)


class HalfALine(Hostile):
    def deed(self):
        os.write(protocol_pipe(), b'{"after": [[{"dtype": "float')
        time.sleep(600)


class RaisesFloatErrors(Hostile):
    def deed(self):
        np.seterr(all="raise")


class FlushesToZero(Hostile):
    """In every run."""

    def deed(self):
        library = ctypes.CDLL("libm.so.6")
        environment = (ctypes.c_uint32 * 64)()
        library.fegetenv(ctypes.byref(environment))
        environment[7] |= 0x8040  # MXCSR behind the seven words of the x87
        library.fesetenv(ctypes.byref(environment))


class FlushesOnce(FlushesToZero):
    """As a library that sets its process up with its first operation."""

    done = False

    def deed(self):
        if not FlushesOnce.done:
            FlushesOnce.done = True
            super().deed()


def protocol_pipe():
    """Find the descriptor on which the harness answers: a pipe to write to, and none of the standard ones."""
    standard = {os.fstat(number).st_ino for number in (0, 1, 2)}
    for number in range(3, 64):
        try:
            status, flags = os.fstat(number), fcntl.fcntl(number, fcntl.F_GETFL)
        except OSError:
            continue
        if stat.S_ISFIFO(status.st_mode) and status.st_ino not in standard and flags & os.O_WRONLY:
            return number
    raise RuntimeError("no pipe")
