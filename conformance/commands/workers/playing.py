"""Loads the target of a command, or starts the program that plays it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from optimetry.conformance.commands.workers.launching import Launch
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.targets.loading import hold_name, load_target
from optimetry.conformance.targets.own_loading import load
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.protocol import Target
from optimetry.conformance.targets.session import Guard


@contextmanager
def playing(launch: Launch, guard: Guard) -> Iterator[Target]:
    """Load the target, and end the program that plays it, if there is one, behind its last run.

    Raises:
        TargetError: as for `loaded`.
    """
    program = player_of(launch)
    try:
        yield loaded(launch, program, guard)
    finally:
        if program is not None:
            program.end()


def player_of(launch: Launch) -> ProtocolProgram | None:
    """Return the program that plays the target, which has not started; None where the target is of this process."""
    command = launch.command
    if command is None:
        return None
    ours = command[0] == sys.executable and not launch.program
    path = os.pathsep.join(filter(None, sys.path)) if ours else None  # it can import what this process can
    return ProtocolProgram(command, memory=launch.memory, path=path)


def loaded(launch: Launch, program: ProtocolProgram | None, guard: Guard) -> Target:
    """Load the target, or greet the program that plays it.

    Raises:
        TargetError: there is none; the text says why.
    """
    if program is None:
        return load(launch.spec, launch.own)
    if launch.own is None and not launch.program:
        hold_name(launch.spec)
    target = ProgramTarget.started(program, guard, launch.spec)
    if not launch.program and target.connection.hello.get("recorded", False):
        program.end()  # it plays back what a library has computed elsewhere, and runs none
        return load_target(launch.spec)
    return target
