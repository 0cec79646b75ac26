"""Checks lines of a results file by their JSON Schema, ``schema.json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from optimetry.reports.parts import findings, lacking


def violation(fields: dict[str, Any], kind: str) -> str | None:
    """Return what is wrong with a line of some kind, None where nothing is."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(kind).iter_errors(fields))
    if error is None:
        return _lacking(fields["computes"].get("parts", ())) if kind == "verdict" else None
    where = f"{error.json_path[2:]}: " if error.path else ""
    return f"{where}{error.message}"


def _lacking(parts: Sequence[dict[str, Any]]) -> str | None:
    """Return what the first part lacks whose run cannot be written in words, None where all can."""
    found = (each for part in parts if part.get("run") for each in findings(part["run"]))
    lacks = ((each["finding"], lacking(each)) for each in found)
    return next((f"a part that is {finding!r} lacks {', '.join(names)}" for finding, names in lacks if names), None)


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator({"$defs": schema()["$defs"], "$ref": f"#/$defs/{kind}"})


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of a results file."""
    loaded: dict[str, Any] = json.loads(resources.files("optimetry.reports").joinpath("schema.json").read_text("utf-8"))
    return loaded


def object_of(text: str) -> dict[str, Any] | None:
    """Return the JSON object of a line, None where it is none or nested too deep; NaN and Infinity are not JSON."""
    try:
        fields = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
