"""Writes ``docs/protocol.md`` from the schema of the messages: ``python -m optimetry.conformance.harness.page``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from optimetry.conformance.harness.messages import schema

PAGE = Path("docs") / "protocol.md"

ABOUT = """\
# The protocol, version 1

Made from [the schema](../conformance/harness/messages.schema.json), which is in the wheel, by
`python -m optimetry.conformance.harness.page`. [Another language](another-language.md) is the way in; this page has the
details.

A target program reads requests on its standard input and writes answers to its standard output: **one line of JSON
each**, in UTF-8, and nothing else. Every request has a member `do` that says what is asked, and gets one answer before
the next request is sent, but for `bye`, which has none. What the program prints elsewhere belongs on standard error, of
which the last 8 KiB are kept with a verdict of *error*. A program ends when it is told `bye` or its input ends. One
that hangs, crashes or answers anything else is ended with all its children: that is one verdict, and it is started
again.

Answers may have no members beside those listed here. `optimetry harness check -- COMMAND` plays all requests and says
what is wrong with each answer."""

STATEFUL = """\
Only where `hello` says `stateful`. Runs that interleave, are saved and resumed can then be judged as well, and averages
at all. Answers repeat the number of the run."""

PACKED = """\
Only where `hello` says `packed`: most runs have many small arrays, which base64 and JSON take longer to read than a
library takes to train. Elements follow the line of a request, and that of its answer, with nothing before, between or
behind them. An answer that is `unsupported` or an `error` is a line alone."""

SEVERAL = """\
Only where `hello` says `several`: a step takes a library less time than two processes take to wake each other.
Where a program ends or hangs in the middle, each run that was among the requests is asked for again by itself."""

SECTIONS: Mapping[str, tuple[str, Sequence[str]]] = {
    "What every program answers": ("", ("hello", "run", "bye")),
    "Packed runs": (PACKED, ("run_packed",)),
    "What any answer may be instead": ("In place of what is asked for:", ("unsupported", "error")),
    "Arrays": ("", ("array",)),
    "Stateful sessions": (
        STATEFUL,
        ("start", "step", "state", "load", "end"),
    ),
    "Several requests at once": (SEVERAL, ("several",)),
    "Averages": (
        "In a stateful session, for runs of the kind `average`; `step` is `update`, `apply` and `restore` in one.",
        ("update", "apply", "restore"),
    ),
    "Steps of other kinds": (
        "In a stateful session, where the answer to `start` lists them under `takes`.",
        ("step_scaled", "step_accumulated"),
    ),
    "Groups of parameters": (
        "In a stateful session, where `hello` says that it `offers` groups.",
        ("start_groups", "add_group", "step_groups"),
    ),
}


NAMED = {"array": "[array](#array)", "number": "number", "value": "number, flag or list"}
"""What definitions are called that stand in no table of their own."""


def page() -> str:
    """Write the page."""
    parts = [ABOUT]
    for title, (text, names) in SECTIONS.items():
        parts += [f"## {title}", *([text] if text else [])]
        for name in names:
            parts += _message(name)
    return "\n\n".join(parts) + "\n"


def _message(name: str) -> Iterator[str]:
    """Write a request and its answer, or what stands alone."""
    definitions = schema()["$defs"]
    yield f"### `{name}`"
    yield from _described(definitions[name])
    answer = definitions.get(f"{name} answer")
    if answer is not None:
        yield "Answer: " + (_resolved(answer).get("description") or "the run, or an error.")
        yield from _described({k: v for k, v in _resolved(answer).items() if k != "description"})


def _described(definition: Mapping[str, Any]) -> Iterator[str]:
    """Write the description of a message, its members, and an example."""
    if "description" in definition:
        yield definition["description"]
    shape = next((each for each in definition.get("oneOf", ()) if "$ref" not in each), definition)
    required = shape.get("required", ())
    rows = [
        f"| `{member}` | {_kind(value)} | {'yes' if member in required else 'no'} | {_meaning(value)} |"
        for member, value in shape.get("properties", {}).items()
        if "const" not in value or member == "protocol"
    ]
    if rows:
        yield "\n".join(["| member | is | required | meaning |", "|---|---|---|---|", *rows])
    for example in definition.get("examples", ()):
        yield f"```json\n{json.dumps(example, ensure_ascii=False)}\n```"


def _resolved(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a reference; what stands beside it goes first."""
    if "$ref" not in value:
        return value
    definition: Mapping[str, Any] = schema()["$defs"][value["$ref"].rpartition("/")[2]]
    return {**_resolved(definition), **{name: each for name, each in value.items() if name != "$ref"}}


def _meaning(value: Mapping[str, Any]) -> str:
    return str(_resolved(value).get("description", "")).replace("|", "\\|")


def _kind(value: Mapping[str, Any]) -> str:
    """Say what a member is, in a few words."""
    name = str(value.get("$ref", "")).rpartition("/")[2]
    if name in NAMED:
        return NAMED[name]
    definition = _resolved(value)
    if "const" in definition:
        return f"`{json.dumps(definition['const'])}`"
    if "enum" in definition:
        return "one of " + ", ".join(f"`{each}`" for each in definition["enum"])
    if "oneOf" in definition:
        return " or ".join(dict.fromkeys(map(_kind, definition["oneOf"])))
    if definition.get("type") == "array":
        return f"list of {_kind(definition['items'])}" if "items" in definition else "list"
    if definition.get("type") == "object" and isinstance(definition.get("additionalProperties"), Mapping):
        return f"object: name to {_kind(definition['additionalProperties'])}"
    return {"integer": "whole number"}.get(str(definition.get("type")), str(definition.get("type")))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m optimetry.conformance.harness.page", description=__doc__)
    parser.add_argument("--out", type=Path, default=PAGE, help=f"file to write ({PAGE})")
    parser.parse_args(arguments).out.write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
