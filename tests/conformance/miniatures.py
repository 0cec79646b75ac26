"""Miniature targets: one that is correct, and one for each way of misbehaving."""

import os
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import ClassVar

import numpy as np

from optimetry.conformance.targets.numpy.target import NumpyTarget, RuleRun


class Correct(NumpyTarget):
    name = "miniature"
    version = "1.0"


class TwoEngines(Correct):
    def __init__(self, engine="plain"):
        self.engine = engine

    def engines(self):
        return [TwoEngines("plain"), TwoEngines("fast")]

    def unsupported(self, optimizer, hyper, dtype):
        return "not fast yet" if self.engine == "fast" else None


class Misbehaving(Correct):
    """A target whose steps do what `misbehave` says."""

    def start(self, optimizer, hyper, parameters):
        run = RuleRun.__new__(type("Run", (MisbehavingRun,), {"target": self}))
        RuleRun.__init__(run, super().start(optimizer, hyper, parameters).training.rule, parameters)
        return run

    def misbehave(self, grads, parameters):
        raise NotImplementedError


class MisbehavingRun(RuleRun):
    def step(self, grads, learning_rate):
        return self.target.misbehave(grads, super().step(grads, learning_rate))


class Raises(Misbehaving):
    def misbehave(self, grads, parameters):
        raise RuntimeError("out of\nluck")


class RaisesAtStart(Correct):
    def start(self, optimizer, hyper, parameters):
        raise RuntimeError("no start")


class Hangs(Misbehaving):
    def misbehave(self, grads, parameters):
        while True:
            time.sleep(0.01)


class HangsDeaf(Misbehaving):
    """Hangs as C code does: no signal gets through."""

    def misbehave(self, grads, parameters):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        while True:
            time.sleep(0.01)


class Exits(Misbehaving):
    def misbehave(self, grads, parameters):
        os._exit(7)


class Leaves(Misbehaving):
    def misbehave(self, grads, parameters):
        raise SystemExit(0)


class Crashes(Misbehaving):
    def misbehave(self, grads, parameters):
        os.kill(os.getpid(), signal.SIGSEGV)


class Shouts(Misbehaving):
    """Is correct, and disturbs."""

    def misbehave(self, grads, parameters):
        print("noise of a target")
        warnings.warn("noise of a target", RuntimeWarning, stacklevel=1)
        return parameters


class WrongShape(Misbehaving):
    def misbehave(self, grads, parameters):
        return [np.append(param.ravel(), param.dtype.type(0)) for param in parameters]


class WrongDtype(Misbehaving):
    def misbehave(self, grads, parameters):
        return [param.astype(np.float16) for param in parameters]


class DropsLast(Misbehaving):
    def misbehave(self, grads, parameters):
        return parameters[:-1]


class AllNaN(Misbehaving):
    def misbehave(self, grads, parameters):
        return [np.full_like(param, np.nan) for param in parameters]


class ChangesInputs(Misbehaving):
    def misbehave(self, grads, parameters):
        for grad in grads:
            if grad is not None:
                grad[...] = 0
        return parameters


class Uphill(Misbehaving):
    """Diverges: parameters grow by a tenth in every step, as in no formula near the documented one."""

    def misbehave(self, grads, parameters):
        return [np.asarray(param * 1.1, param.dtype) for param in parameters]


class OnlySgdCrashes(Correct):
    def start(self, optimizer, hyper, parameters):
        if optimizer == "sgd":
            os._exit(3)
        return super().start(optimizer, hyper, parameters)


class SlowAtFirst(Correct):
    """Takes its time with the first job, so that later ones are done before."""

    def start(self, optimizer, hyper, parameters):
        time.sleep(0.005 if optimizer == "sgd" else 0)
        return super().start(optimizer, hyper, parameters)


class Sleepy(Misbehaving):
    """Is correct, and takes its time in every run, though never much."""

    def misbehave(self, grads, parameters):
        time.sleep(0.003)
        return parameters


class BreaksTheJudge(Correct):
    """Makes the judge itself fail on SGD."""

    def __init__(self):
        from optimetry.conformance.judging import examine

        expected = examine.expected

        def planted(case, *others):
            if case.optimizer == "sgd":
                raise ZeroDivisionError("planted in the judge")
            return expected(case, *others)

        examine.expected = planted


class OffersLittle(Correct):
    cannot = frozenset({"missing gradients", "0-d parameters"})
    pinned: ClassVar = {"adam": {"epsilon": 1e-8}}
    dtypes = ("float32",)


class SaysItWrongly(Correct):
    cannot = frozenset({"0-d parameter"})


class NeedsHardware(Correct):
    def not_run(self):
        return {"cuda": "no CUDA device"}


class CountsLoads(Correct):
    """Leaves a file for every process that loads it."""

    def __init__(self):
        Path(os.environ["LOADS"], str(os.getpid())).touch()


class WrappersAlone:
    """Offers wrappers, and no rules: it has no method for them."""

    name = "wrappers alone"
    version = "1.0"

    def start_wrapper(self, wrapper, hyper, parameters):
        return NumpyTarget().start_wrapper(wrapper, hyper, parameters)


class NoStart:
    name = "half"
    version = "1.0"


class Nothing:
    pass


class FailsToBuild(Correct):
    def __init__(self):
        raise ValueError("no licence")


def factory():
    return Correct()


def factory_of_nothing():
    return None


def exits_when_made():
    sys.exit("bye")


class Nested:
    target = Correct


instance = Correct()
number = 42


class BeyondTheSearch(Correct):
    """Feeds every rule another gradient, which no two edits of a formula express."""

    def start(self, optimizer, hyper, parameters):
        run = super().start(optimizer, hyper, parameters)
        step = run.step

        def other(grads, learning_rate):
            return step([g if g is None else g + np.cbrt(g) * np.cos(g).astype(g.dtype) for g in grads], learning_rate)

        run.step = other
        return run


class NoEngine(Correct):
    def engines(self):
        return []


class EnginesOfOneName(Correct):
    def engines(self):
        return [Correct(), TwoEngines("fast"), Correct()]


class RaisesWhenAskedForEngines(Correct):
    def engines(self):
        raise RuntimeError("no list")


class ListsWrongly(Correct):
    def not_run(self):
        return 3
