"""The messages of the protocol: what is sent is what the schema says, and each fault of what comes has words."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import ml_dtypes
import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.harness import python_harness
from optimetry.conformance.harness.messages import DTYPES, array, arrays, elements, rows, schema, violations
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.harness.python_harness import decoded, encoded, from_json
from optimetry.conformance.harness.starting import python_command
from optimetry.conformance.harness.wire import as_json
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import TargetFault

HARNESS = Path(python_harness.__file__)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    kinds = {each["$ref"].rpartition("/")[2] for each in schema()["oneOf"]}
    requests = {kind for kind in kinds if not kind.endswith("answer")}
    assert kinds == requests | {f"{kind} answer" for kind in requests - {"bye"}}
    assert all(schema()["$defs"][kind]["properties"]["do"] == {"const": kind} for kind in requests)


@pytest.fixture(scope="module")
def conversation() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """All messages while rules and an average are judged: requests, each with its answer.

    Once with a program that takes packed runs and several steps at once, and once with one that does not.
    """
    exchanges: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for left_out in ((), ("packed", "several")):
        program = ProtocolProgram(python_command(None, "numpy"))
        plain = program.ask

        def ask(
            do: str, request: bytes, *limits: Any, plain: Any = plain, left_out: Any = left_out
        ) -> tuple[dict[str, Any], bytes]:
            answer, behind = plain(do, request, *limits)
            answer = {name: value for name, value in answer.items() if name not in left_out}
            exchanges.append((json.loads(request.partition(b"\n")[0]), answer))
            return answer, behind

        program.ask = ask  # type: ignore[method-assign]
        target = ProgramTarget.started(program, Guard())
        effort = Effort("one", 2, 1)
        for optimizer in ("adam", "exponential_moving_average", "clip_by_norm"):
            (verdict,) = judge([target], optimizer, "float32", effort=effort, seed=0)
            assert verdict.verdict == "conforms"
        target.connection.next_run()
        program.close()
    return exchanges


def test_what_is_said_is_what_the_schema_says(conversation: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    for request, answer in conversation:
        assert list(violations(request["do"], request)) == []
        assert list(violations(f"{request['do']} answer", answer)) == []
    kinds = {each["$ref"].rpartition("/")[2] for each in schema()["oneOf"]}
    assert {request["do"] for request, _ in conversation} == {kind for kind in kinds if " " not in kind} - {"bye"}


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_comes_back_as_it_was_sent(dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    for shape in ((), (0,), (3,), (2, 0), (2, 3)):
        original = np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape).astype(kind)
        message = sent(original)
        for received in (array(message, "it is"), decoded(message)):
            assert (received.dtype, received.shape, received.tobytes()) == (
                original.dtype,
                original.shape,
                original.tobytes(),
            )
        assert list(violations("array", message)) == []
    turned = np.arange(6.0).reshape(2, 3).T
    assert array(sent(turned), "it is").tolist() == turned.tolist()


def sent(original: Any) -> dict[str, Any]:
    """An array as it arrives."""
    message: dict[str, Any] = json.loads(json.dumps(encoded(original)))
    return message


GOOD = sent(np.ones(2, np.float32))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (None, "it is 'null', must be an object of dtype, shape and data"),
        ([1.0], "it is '[1.0]', must be an object of dtype, shape and data"),
        (GOOD | {"more": 1}, "must be an object of dtype, shape and data"),
        (GOOD | {"dtype": "float128"}, "it is dtype 'float128', must be one of float16, bfloat16, "),
        (GOOD | {"dtype": ["float32"]}, "it is dtype ['float32'], must be one of"),
        (GOOD | {"shape": [-2]}, "it is shape [-2], must be a list of whole numbers"),
        (GOOD | {"shape": [2.0]}, "it is shape [2.0], must be a list of whole numbers"),
        (GOOD | {"shape": 2}, "it is shape 2, must be a list of whole numbers"),
        (GOOD | {"data": "AAA"}, "it is data '\"AAA\"', must be base64: "),
        (GOOD | {"data": "AA AAAA="}, "must be base64: "),
        (GOOD | {"data": 7}, "it is data '7', must be base64: "),
        (GOOD | {"shape": [3]}, "it is 8 bytes, must be 12: float32 of shape (3,)"),
        (GOOD | {"shape": [2**40, 2**40]}, f"it is 8 bytes, must be {4 * 2**80}: "),
    ],
)
def test_what_is_no_array_is_said(message: Any, reason: str) -> None:
    with pytest.raises(TargetFault) as caught:
        array(message, "it is")
    assert reason in str(caught.value)
    if not any(words in reason for words in ("bytes, must be", "[2.0]")):  # which no schema can say
        assert list(violations("array", message)) != []


def test_what_is_no_row_is_said() -> None:
    parameters = [np.ones(2, np.float32)]
    assert elements([[GOOD], [GOOD]], parameters) == np.ones(4, np.float32).tobytes()
    for after, reason in (
        ([[GOOD], [GOOD, GOOD]], "step 2 returned 2 parameters, must be 1"),
        ([[GOOD], "x"], "step 2 returned '\"x\"', must be a list of arrays"),
        ([[None]], "step 1 returned parameter 0 as 'null', must be an object"),
        (
            [[sent(np.ones(2))]],
            "step 1 returned parameter 0 as float64 of shape (2,), must be float32 of shape (2,)",
        ),
        (
            [[sent(np.ones((1, 2), np.float32))]],
            "parameter 0 as float32 of shape (1, 2), must be float32 of shape (2",
        ),
    ):
        with pytest.raises(TargetFault) as caught:
            elements(after, parameters)
        assert reason in str(caught.value)
    with pytest.raises(TargetFault, match=r"answered `run` with 1 steps, must be 2"):
        rows({"after": [[GOOD]]}, 2, "run")
    with pytest.raises(TargetFault, match="answered `run` with 'before', must have 'after', 'unsupported' or 'error'"):
        rows({"before": []}, 2, "run")
    with pytest.raises(TargetFault, match="must be a list of arrays"):
        arrays({}, "it is")


@pytest.mark.parametrize("value", [0.1, 1, True, [1.0], float("inf"), float("-inf"), float("nan"), 5e-324])
def test_a_number_comes_back_as_it_was_sent(value: Any) -> None:
    text = json.dumps(as_json(value), allow_nan=False)
    assert repr(from_json(json.loads(text))) == repr(value)
    assert list(violations("value", json.loads(text))) == []


def test_the_harness_is_one_file_of_python_3_7_that_needs_numpy_alone() -> None:
    tree = ast.parse(HARNESS.read_text(encoding="utf-8"), feature_version=(3, 7))
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    foreign = {name.partition(".")[0] for name in imported} - set(sys.stdlib_module_names)
    assert foreign == {"numpy", "ml_dtypes"}, "ml_dtypes is imported for bfloat16 alone"


def old_python() -> str | None:
    """A Python older than ours that has NumPy, if there is one."""
    for name in ("python3.7", "python3.8", "python3.9"):
        path = shutil.which(name)
        if path and subprocess.run([path, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
            return path
    return None


def test_the_harness_runs_under_an_old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    python = old_python()
    if python is None:
        pytest.skip("no Python 3.7 to 3.9 with NumPy on the PATH")
    monkeypatch.chdir(Path(__file__).parents[1])
    program = ProtocolProgram(python_command(python, "hostile:Honest"))
    (verdict,) = judge([ProgramTarget.started(program, Guard())], "sgd", "float32", effort=Effort("few", 9, 3), seed=0)
    program.close()
    assert (verdict.verdict, verdict.reason) == ("conforms", "")
