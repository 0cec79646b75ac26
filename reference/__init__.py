"""What the documents say, in NumPy: one readable declaration per optimizer, behind the documented API.

Here are the names that the documents' users know: the optimizers with their aliases, the wrappers, regularizers, clips
and schedulers (`optimetry.reference.documented` lists them). They are imported when first used, so that
`optimetry.reference.rules`, the update rules alone, needs no more than NumPy. Where a rule and an optimizer share a
name, this package holds the optimizer (``optimetry.reference.Adam``), and the rule is in its module
(``optimetry.reference.rules.adam.Adam``).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optimetry.reference.documented import *  # noqa: F403 - its list is the one list


def __getattr__(name: str) -> Any:
    """Import a documented name when it is first used; all of them are classes, which begin with a capital."""
    if name != "__all__" and not name[0].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module("optimetry.reference.documented"), name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    """The documented names, and what every module has."""
    return sorted({*globals(), *__getattr__("__all__")})
