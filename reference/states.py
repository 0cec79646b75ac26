"""Checks a state dict before anything of it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from optimetry.reference.errors import StateError


def check_mapping(owner: str, state_dict: Any) -> None:
    """Check that a state dict is a mapping.

    Raises:
        StateError: it is no mapping.
    """
    if not isinstance(state_dict, Mapping):
        raise StateError(f"{owner}: state_dict = {state_dict!r}, must be a dict that state_dict() returned")


def check_state(owner: str, state_dict: Any, wanted: Mapping[str, Any]) -> None:
    """Check that a state dict has the wanted keys, with values of the wanted shapes and dtypes.

    Raises:
        StateError: it is no mapping, a key is missing or unknown, or a value has another shape or dtype.
    """
    check_mapping(owner, state_dict)
    missing, foreign = sorted(wanted.keys() - state_dict.keys()), sorted(map(str, state_dict.keys() - wanted.keys()))
    if missing:
        raise StateError(f"{owner}: the state dict lacks {missing[0]!r}{_and_more(missing)}")
    if foreign:
        raise StateError(f"{owner}: the state dict has {foreign[0]!r}, which is not ours{_and_more(foreign)}")
    for key, value in wanted.items():
        want = np.asarray(value)
        try:
            have = np.asarray(state_dict[key])
        except (ValueError, TypeError) as error:
            raise StateError(f"{owner}: {key!r} in the state dict cannot be made an array: {error}") from None
        if (have.shape, have.dtype) != (want.shape, want.dtype):
            raise StateError(
                f"{owner}: {key!r} in the state dict has shape {have.shape} and dtype {have.dtype}, "
                f"must be {want.shape} and {want.dtype}"
            )


def _and_more(keys: list[str]) -> str:
    return f" (and {len(keys) - 1} more such keys)" if len(keys) > 1 else ""
