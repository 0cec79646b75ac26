"""The errors that optimetry raises on purpose: one family, each member named for its fault.

`optimetry.reports` imports nothing of the rules: its ``ResultsError`` is a `ValueError` outside this family.
"""

from typing import Any


class OptimetryError(Exception):
    """The base of the family; catch it to catch them all."""


class HyperparameterError(OptimetryError, ValueError):
    """A hyperparameter is outside its documented domain, NaN, of the wrong type, missing or unknown.

    The text names the optimizer, the argument, the value and what is allowed:
    ``adam: beta1 = 1.5, must be in [0, 1)``.
    """


class UnknownOptimizerError(OptimetryError, LookupError):
    """No rule of that name is declared; the text lists the names there are."""


class UsageError(OptimetryError):
    """The user asked for something that cannot be done: exit status 2 on the command line."""


class TargetError(UsageError):
    """A target could not be found, imported or built, or does not keep the target protocol."""


class LedgerError(UsageError):
    """An expected-verdict ledger cannot be read."""


class CampaignError(OptimetryError):
    """A campaign cannot go on: its scheduler is lost, or no worker can do a task. What is finished is kept."""


class TargetFault(OptimetryError):
    """The judged target broke the protocol while running: the verdict is *error*, with this text as the reason.

    Attributes:
        output: the end of what a target in its own process has printed since the last request; empty for others.
        case: what the run was fed, where that is known; a law makes others of the case that is tried.
    """

    output: str = ""
    case: Any = None


class TargetHung(TargetFault):
    """One run of the target took longer than the time limit."""


class TargetEnded(TargetFault):
    """The process of the target has ended, or was ended since it does not keep the protocol."""


class ArrayError(OptimetryError, ValueError):
    """An array cannot be used as it is: dtype, shape, layout, memory that is shared or read-only.

    The text names the optimizer, the array and what it must be. Nothing has been changed.
    """


class EngineUnavailableError(UsageError):
    """An engine was asked for that cannot work on this machine; the text says why."""


class ProgramError(OptimetryError, ValueError):
    """A program cannot be built or run as asked; the text names the variable, the value and what is allowed."""


class ArgumentError(OptimetryError, ValueError):
    """An argument of a documented class or method is not what the document allows; the text names it and its value."""


class SchedulerInUseError(OptimetryError, RuntimeError):
    """The learning rate was set by hand although a scheduler sets it."""


class StateError(OptimetryError, ValueError):
    """A state dict does not belong to this optimizer, average or layer, or is not whole; nothing was loaded."""
