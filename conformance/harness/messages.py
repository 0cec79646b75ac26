"""Reads the answers of a program: their members and arrays, with an error text for each thing that can be wrong."""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import jsonschema
import numpy as np

from optimetry.conformance.harness.python_harness import dtype_named, what_is_wrong
from optimetry.conformance.harness.wire import quoted
from optimetry.reference.errors import TargetFault

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = (*FLOATS, *INTEGERS, "bool")
"""The dtypes of arrays; a state may hold counts and flags."""

OVERHEAD = 128
"""Bytes of an array's message beside its elements."""

Array = np.ndarray[Any, Any]


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of all messages."""
    text = resources.files("optimetry.conformance.harness").joinpath("messages.schema.json").read_text(encoding="utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema()["$defs"]})


def violations(name: str, message: Any) -> Iterator[str]:
    """Yield where a message is not what the schema says of this kind, such as ``hello answer``."""
    for violation in _validator(name).iter_errors(message):
        for error in _narrowed(violation):
            where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
            yield f"{where.lstrip('.') or 'the answer'}: {error.message[:300]}"


def _narrowed(error: jsonschema.ValidationError) -> Iterator[jsonschema.ValidationError]:
    """Yield the violations of the one alternative whose members a message has; without such, the error itself."""
    alternatives: dict[Any, list[jsonschema.ValidationError]] = {}
    for each in error.context or ():
        alternatives.setdefault(each.schema_path[0], []).append(each)
    plausible = [errors for errors in alternatives.values() if all(each.validator != "required" for each in errors)]
    if error.validator == "oneOf" and len(plausible) == 1:
        for each in plausible[0]:
            yield from _narrowed(each)
    else:
        yield error


def said_of(hello: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """Return what a program says of one engine: what it says of itself, with the engine's own limits in its place."""
    return {**hello, **hello.get("limits", {}).get(engine, {})}


def member(answer: Mapping[str, Any], name: str, do: str) -> Any:
    """Return a member of an answer.

    Raises:
        TargetFault: it is not there.
    """
    if name not in answer:
        names = ", ".join(map(repr, answer)) or "nothing"
        others = "" if name == "state" else ", 'unsupported' or 'error'"
        raise TargetFault(f"answered `{do}` with {names}, must have {name!r}{others}")
    return answer[name]


def rows(answer: Mapping[str, Any], steps: int, do: str) -> list[Any]:
    """Return the rows of an answer, one for each step of a run.

    Raises:
        TargetFault: there are not as many steps.
    """
    after = member(answer, "after", do)
    if not isinstance(after, list):
        raise TargetFault(f"answered `{do}` with after = {quoted(json.dumps(after))}, must be a list with a row a step")
    if len(after) != steps:
        raise TargetFault(f"answered `{do}` with {len(after)} steps, must be {steps}")
    return after


def elements(after: Sequence[Any], parameters: Sequence[Array]) -> bytes:
    """Return the elements of the arrays after each step, which must be like the parameters.

    Raises:
        TargetFault: they are not; the text names the step and the parameter.
    """
    expected = [(param.dtype.name, list(param.shape), param.nbytes) for param in parameters]
    pieces = []
    for step, row in enumerate(after, 1):
        try:  # a message that is as it should be is read without further questions: there are millions
            for message, (dtype, shape, size) in zip(row, expected, strict=True):
                piece = binascii.a2b_base64(message["data"], strict_mode=True)
                if len(piece) != size or message["dtype"] != dtype or message["shape"] != shape or len(message) != 3:
                    raise ValueError
                pieces.append(piece)
        except (TypeError, ValueError, KeyError):
            prefix = f"step {step} returned"
            raise TargetFault(f"{prefix} {what_is_wrong(arrays(row, prefix), parameters)}") from None
    return b"".join(pieces)


def arrays(row: Any, prefix: str) -> list[Array]:
    """Return the arrays of a list of messages.

    Raises:
        TargetFault: it is no list, or one is no array; the text begins with ``prefix``.
    """
    if not isinstance(row, list):
        raise TargetFault(f"{prefix} {quoted(json.dumps(row))}, must be a list of arrays")
    return [array(message, f"{prefix} parameter {i} as") for i, message in enumerate(row)]


def array(message: Any, prefix: str) -> Array:
    """Return the array of a message.

    Raises:
        TargetFault: it is none; the text begins with ``prefix``.
    """
    if not isinstance(message, Mapping) or set(message) != {"dtype", "shape", "data"}:
        raise TargetFault(f"{prefix} {quoted(json.dumps(message))}, must be an object of dtype, shape and data")
    name, shape, data = message["dtype"], message["shape"], message["data"]
    if name not in DTYPES:
        raise TargetFault(f"{prefix} dtype {name!r}, must be one of {', '.join(DTYPES)}")
    if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
        raise TargetFault(f"{prefix} shape {shape!r}, must be a list of whole numbers")
    try:
        raw = binascii.a2b_base64(data, strict_mode=True)
    except (TypeError, ValueError) as error:
        raise TargetFault(f"{prefix} data {quoted(json.dumps(data))}, must be base64: {error}") from error
    dtype = dtype_named(name)
    needed = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if len(raw) != needed:
        raise TargetFault(f"{prefix} {len(raw)} bytes, must be {needed}: {name} of shape {tuple(shape)}")
    return np.frombuffer(raw, dtype).reshape(shape)


def sent_size(parameters: Sequence[Array]) -> int:
    """Return how many bytes arrays have as they are sent, at most."""
    return sum(OVERHEAD + 8 * param.ndim + param.nbytes * 4 // 3 for param in parameters)
