"""State and counts that are lost, mixed up between parameters, or leak from one run into the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.fault import Fault, Memory, enter
from optimetry.conformance.selftest.faults.hooks import Grads, alone, hooked, rounded
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.precision import Working
from optimetry.reference.rule import Rule, State


class RunWithMemory(RuleRun):
    """A run with the memory of its target; the class is itself a `Start`."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters)
        self.memory = memory

    def _initial(self, i: int) -> State:
        return self.training.rule.initial_state(self.training.parameters[i])


class FirstStateForAll(RunWithMemory):
    """Uses the state of the first parameter of a shape for all of that shape."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Update one parameter after the other."""
        training = self.training
        first: dict[Any, int] = {}
        for i, param in enumerate(training.parameters):
            first.setdefault(param.shape, i)
        for i in range(len(grads)):
            owner = first[training.parameters[i].shape]
            training.states[i], training.updates[i] = training.states[owner], training.updates[owner]
            super().step(alone(grads, i), learning_rate)
            training.states[owner], training.updates[owner] = training.states[i], training.updates[i]
        return [np.array(param) for param in training.parameters]


class OneCount(RunWithMemory):
    """Counts the updates of all parameters together."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Count for one parameter after the other."""
        for i in range(len(grads)):
            self.training.updates = [sum(self.training.updates[:1])] * len(grads)
            super().step(alone(grads, i), learning_rate)
            self.training.updates = [self.training.updates[i]] * len(grads)
        return [np.array(param) for param in self.training.parameters]


class _OneProduct(RunWithMemory):
    """Multiplies one product of momenta in every update of every parameter."""

    product = 1.0

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Update one parameter after the other."""
        for i, grad in enumerate(grads):
            if grad is not None:
                self.training.states[i] = State(**{**self.training.states[i], "mu_product": self.product})
                super().step(alone(grads, i), learning_rate)
                self.product = self.training.states[i]["mu_product"]
        return [np.array(param) for param in self.training.parameters]


class Forgetful(RunWithMemory):
    """Begins every step with a new state."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Forget, then step."""
        self.training.states = [self._initial(i) for i in range(len(grads))]
        return super().step(grads, learning_rate)


class _ForgetsAtNewRate(RunWithMemory):
    """Begins with a new state when the learning rate changes."""

    rate: float | None = None

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        if learning_rate != self.rate:
            self.training.states = [self._initial(i) for i in range(len(grads))]
        self.rate = learning_rate
        return super().step(grads, learning_rate)


class _WarmStart(RunWithMemory):
    """Takes over the state of the run before where the shapes agree."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        shapes = [param.shape for param in parameters]
        if memory.get("shapes") == shapes:
            self.training.states = memory["states"]
        memory.update(shapes=shapes, states=self.training.states)


class _Kernels(RunWithMemory):
    """Has three kernels whose last bit differs in the first element that moves."""

    kernel = 0

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        before = [np.array(param) for param in self.training.parameters]
        after = super().step(grads, learning_rate)
        for old, new in zip(before, after, strict=True):
            moved = np.flatnonzero(old != new)
            if moved.size and self.kernel:
                towards = np.asarray([0, np.inf, -np.inf][self.kernel], new.dtype)
                new.flat[moved[0]] = np.nextafter(new.flat[moved[0]], towards)
        return after


class _KernelOfTheRun(_Kernels):
    """Takes another kernel in every run."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        self.kernel = memory["runs"] = (memory.get("runs", 0) + 1) % 3


class _KernelOfTheCache(_Kernels):
    """Keeps its kernel for the parameters of the run before, and chooses anew for others."""

    def __init__(self, rule: Rule, parameters: list[Array], memory: Memory) -> None:
        super().__init__(rule, parameters, memory)
        key = [param.tobytes() for param in parameters]
        if memory.get("key") != key:
            memory.update(key=key, choices=memory.get("choices", 0) + 1)
        self.kernel = memory["choices"] % 3


class LoadsNothing(RunWithMemory):
    """Ignores a saved state."""

    def load(self, state: dict[str, list[Array]]) -> None:
        """Do nothing."""


class _LosesCount(RunWithMemory):
    """Begins to count anew after a saved state is loaded."""

    def load(self, state: dict[str, list[Array]]) -> None:
        super().load(state)
        self.training.updates = [0] * len(self.training.updates)


class LosesSlot(RunWithMemory):
    """Leaves the last slot out of the saved state."""

    def load(self, state: dict[str, list[Array]]) -> None:
        """Load, and start the last slot anew."""
        super().load(state)
        lost = self.training.rule.slots[-1]
        self.training.states = [
            State(**{**kept, lost: self._initial(i)[lost]}) for i, kept in enumerate(self.training.states)
        ]


class _SavesInHalf(RunWithMemory):
    """Saves the state in float16."""

    def state(self) -> dict[str, list[Array]]:
        saved = super().state()
        return {slot: [rounded(array, np.float16) for array in arrays] for slot, arrays in saved.items()}


class _LoadsInReverse(RunWithMemory):
    """Reads saved arrays from their end."""

    def load(self, state: dict[str, list[Array]]) -> None:
        super().load({slot: [x.reshape(-1)[::-1].reshape(x.shape) for x in arrays] for slot, arrays in state.items()})


class _VelocityIsTheGradient(RunWithMemory):
    """Begins the velocity with the first gradient's own array, not with a copy."""

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        after = super().step(grads, learning_rate)
        for i, grad in enumerate(grads):
            if grad is not None and self.training.updates[i] == 1:
                self.training.states[i] = State(velocity=grad.view(Working))
        return after


enter(
    Fault(
        name="first_state_for_all",
        optimizer="adam",
        defect="parameters of one shape share one state: a cache keyed by shape",
        start=FirstStateForAll,
        outcome="diverges: documented, but has one state for all parameters of one shape",
    ),
    Fault(
        name="one_count_for_all",
        optimizer="adamax",
        defect="one count is advanced by every parameter in turn",
        start=OneCount,
        outcome="diverges: documented, but counts the updates of all parameters in turn",
    ),
    *(
        Fault(
            name=f"{optimizer}_one_product",
            optimizer=optimizer,
            defect="one product of momenta, which every update of every parameter multiplies: MXNet's Nadam",
            start=_OneProduct,
            outcome="diverges: documented, but has one mu_product for all parameters",
        )
        for optimizer in ("torch.nadam", "papers.nadam")
    ),
    Fault(
        name="state_forgotten",
        optimizer="adadelta",
        defect="the state is created anew in every step",
        start=Forgetful,
        outcome="diverges: documented, but starts avg_squared_grad and avg_squared_update anew in every step",
    ),
    Fault(
        name="state_forgotten_at_a_new_rate",
        optimizer="momentum",
        defect="a new learning rate rebuilds the optimizer, and with it the velocity",
        start=_ForgetsAtNewRate,
        outcome="diverges: documented, but starts velocity anew where the learning rate changes",
    ),
    Fault(
        name="state_shared_between_runs",
        optimizer="adagrad",
        defect="state kept on the class: a run begins with the state of the run before",
        start=_WarmStart,
        outcome="diverges: documented, but starts with the state that the run before it ended with",
    ),
    Fault(
        name="kernel_chosen_by_the_run",
        optimizer="rmsprop",
        defect="the order of a sum depends on the run, as with atomic additions: the last bit differs",
        start=_KernelOfTheRun,
        rejected_by="repeatable",
    ),
    Fault(
        name="kernel_chosen_by_a_cache",
        optimizer="adadelta",
        defect="an autotuner with a cache of one entry: a run in between changes the kernel, and the last bit",
        start=_KernelOfTheCache,
        rejected_by="runs_are_independent",
    ),
    Fault(
        name="velocity_is_the_gradient_buffer",
        optimizer="momentum",
        defect="buf = grad without a copy: a caller that reuses its gradient arrays overwrites the velocity",
        start=_VelocityIsTheGradient,
        rejected_by="protocol",
        outcome="error",
        because="instead of its contents, where the next step's gradient is written",
    ),
    Fault(
        name="saved_state_ignored",
        optimizer="rmsprop",
        defect="a saved state is accepted and not used",
        start=LoadsNothing,
        rejected_by="resuming",
    ),
    Fault(
        name="saved_count_ignored",
        optimizer="adam",
        defect="a resumed run corrects the bias as if it began",
        start=_LosesCount,
        rejected_by="resuming",
    ),
    Fault(
        name="saved_slot_missing",
        optimizer="adadelta",
        defect="the average of squared updates is not saved",
        start=LosesSlot,
        rejected_by="resuming",
    ),
    Fault(
        name="saved_in_half_precision",
        optimizer="ftrl",
        defect="a checkpoint holds the state in float16",
        start=_SavesInHalf,
        rejected_by="resuming",
    ),
    Fault(
        name="saved_arrays_in_reverse",
        optimizer="lamb",
        defect="saved arrays are read from their end: elements of another order than they were saved in",
        start=_LoadsInReverse,
    ),
    Fault(
        name="nan_everywhere",
        optimizer="sgd",
        defect="every parameter becomes NaN",
        start=hooked(parameter=lambda before, after: np.full_like(after, np.nan)),
    ),
)
