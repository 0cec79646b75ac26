"""The documented class PipelineOptimizer, with a deterministic schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from optimetry.reference.domains import whole
from optimetry.reference.errors import ArgumentError, UsageError
from optimetry.reference.optimizer import Optimizer, Pairs
from optimetry.reference.programs.executor import Executor
from optimetry.reference.programs.places import Place, checked_place
from optimetry.reference.programs.program import Operator, Program, Variable
from optimetry.reference.programs.recompute import RecomputeOptimizer
from optimetry.reference.programs.schedule import turns
from optimetry.reference.programs.sections import Section, check_cuts, split
from optimetry.reference.programs.traffic import Event, Trace, Traffic

OWNER = "PipelineOptimizer"


class PipelineOptimizer:
    """Trains a program that is cut into sections, each of which works on another micro-batch at the same time.

    Running the program itself is plain training. `train` is the pipeline, with a schedule that is always the same:
    ``queue_size`` scopes go round, each with one micro-batch in flight (see `schedule`). With one, the result is
    that of plain training, bit for bit. With more, sections see parameters that lack updates of micro-batches ahead of
    theirs, as the page says, and the trace tells which versions they saw. ``optimetry.accelerated.pipeline`` has
    threads.

    Args:
        optimizer: the optimizer that updates the parameters.
        cut_list: k lists of variables, the last one the loss alone. None means that nothing is cut.
        place_list: where each of the 2k-1 sections runs; every place, and None, means the CPU here.
        concurrency_list: how many scopes each of the 2k-1 sections works on at once; None means one.
        queue_size: how many scopes there are, and room for in the queue before each section.
        sync_steps: for several cards, accepted as documented: there is one.
        start_cpu_core_id: accepted as documented; not used.

    Raises:
        ArgumentError: an argument is of the wrong type, or a list has not as many entries as it must have.
        HyperparameterError: a number is outside its interval.

    Documented: fluid.optimizer.PipelineOptimizer (page 000).
    """

    def __init__(
        self,
        optimizer: Any,
        cut_list: Sequence[Sequence[Variable]] | None = None,
        place_list: Sequence[Place] | None = None,
        concurrency_list: Sequence[int] | None = None,
        queue_size: int = 30,
        sync_steps: int = 1,
        start_cpu_core_id: int = 0,
    ) -> None:
        if not isinstance(optimizer, Optimizer | RecomputeOptimizer):
            raise ArgumentError(f"{OWNER}: optimizer = {optimizer!r}, must be an optimizer")
        self._optimizer = optimizer
        self.cut_list = None if cut_list is None else _checked_cuts(cut_list)
        count = 1 if self.cut_list is None else 2 * len(self.cut_list) - 1
        self.place_list = [
            checked_place(OWNER, "an entry of place_list", entry)
            for entry in _checked_list("place_list", place_list, count)
        ]
        self.concurrency_list = [
            1 if entry is None else whole(OWNER, "an entry of concurrency_list", entry, "[1, inf)")
            for entry in _checked_list("concurrency_list", concurrency_list, count)
        ]
        self.queue_size = whole(OWNER, "queue_size", queue_size, "[1, inf)")
        self.sync_steps = whole(OWNER, "sync_steps", sync_steps, "[1, inf)")
        self.start_cpu_core_id = whole(OWNER, "start_cpu_core_id", start_cpu_core_id, "[0, inf)")
        self.program: Program | None = None
        self._cuts: list[list[Variable]] = []

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Iterable[Any] | None = None,
        no_grad_set: Iterable[Any] | None = None,
    ) -> tuple[list[Operator], Pairs]:
        """The optimizer's `minimize`, and the split of the program into sections.

        Raises:
            ArgumentError: the loss is no variable of a program, or not the last cut.
            ProgramError: a cut is not written by a forward operator of the program, or out of order; nothing was
                appended.
        """
        if not isinstance(loss, Variable):
            raise ArgumentError(f"{OWNER}: loss = {loss!r}, must be a variable of a program")
        cuts = self.cut_list or [[loss]]
        if cuts[-1] != [loss]:
            names = [variable.name for variable in cuts[-1]]
            raise ArgumentError(f"{OWNER}: the last cut is {names}, must be the loss, [{loss.name!r}]")
        check_cuts(loss.program, cuts)
        if loss.program.pipeline is not None:
            raise ArgumentError(f"{OWNER}: the program of {loss.name} has a pipeline already, must have one")
        result = self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)
        self.program, self._cuts = loss.program, cuts
        loss.program.pipeline = self
        return result

    @property
    def sections(self) -> list[Section]:
        """The sections of the program as it is, with what was appended behind `minimize`; none before it.

        Raises:
            ProgramError: a section reads what a later one writes.
        """
        return [] if self.program is None else split(self.program, self._cuts)

    def traffic(
        self, executor: Executor, feeds: Iterable[Mapping[str, Any]], fetch_list: Iterable[Variable | str] = ()
    ) -> Traffic:
        """The micro-batches of one run before the first section; see `Traffic`.

        Raises:
            UsageError: `minimize` has not been called.
        """
        if self.program is None:
            raise UsageError(f"{OWNER}: nothing to train: call minimize first")
        return Traffic(self.sections, self.program, executor, feeds, fetch_list)

    def train(
        self, executor: Executor, feeds: Iterable[Mapping[str, Any]], fetch_list: Iterable[Variable | str] = ()
    ) -> Trace:
        """Train on micro-batches in the reference schedule.

        Args:
            executor: whose parameters are trained.
            feeds: what is fed for each micro-batch: arrays by name of variable.
            fetch_list: the variables whose values are wanted of each micro-batch, or their names.
        """
        traffic = self.traffic(executor, feeds, fetch_list)
        for turn in turns(len(traffic.scopes), self.concurrency_list, self.queue_size):
            traffic.enter(turn)
            traffic.compute(turn)
            traffic.leave(turn)
        return traffic.trace()

    def repeat(
        self,
        executor: Executor,
        feeds: Iterable[Mapping[str, Any]],
        events: Iterable[Event],
        fetch_list: Iterable[Variable | str] = (),
    ) -> Trace:
        """Train on micro-batches that enter and leave the sections in a given order, such as that of threads."""
        traffic = self.traffic(executor, feeds, fetch_list)
        for event in events:
            if event.kind == "enter":
                traffic.enter(event.turn)
                traffic.compute(event.turn)
            else:
                traffic.leave(event.turn)
        return traffic.trace()

    def __repr__(self) -> str:
        cuts = [[variable.name for variable in cut] for cut in self.cut_list or []]
        return f"PipelineOptimizer({self._optimizer!r}, cut_list={cuts}, queue_size={self.queue_size})"


def _checked_cuts(cut_list: Any) -> list[list[Variable]]:
    is_list = isinstance(cut_list, list | tuple) and len(cut_list) > 0
    if not is_list or not all(isinstance(cut, list | tuple) and len(cut) > 0 for cut in cut_list):
        raise ArgumentError(f"{OWNER}: cut_list = {cut_list!r}, must be a list of lists of variables")
    variables = [variable for cut in cut_list for variable in cut]
    for variable in variables:
        if not isinstance(variable, Variable):
            raise ArgumentError(f"{OWNER}: {variable!r} in cut_list, must be a variable")
        if variables.count(variable) > 1:
            raise ArgumentError(f"{OWNER}: {variable.name} is twice in cut_list")
    return [list(cut) for cut in cut_list]


def _checked_list(name: str, entries: Any, count: int) -> list[Any]:
    """The entries of a list with one entry for each section; None where the list is."""
    if entries is None:
        return [None] * count
    if not isinstance(entries, list | tuple) or len(entries) != count:
        length = f"with {len(entries)} entries" if isinstance(entries, list | tuple) else ""
        raise ArgumentError(f"{OWNER}: {name} = {entries!r} {length}, must be a list with {count}: with k cuts 2k-1")
    return list(entries)
