"""The example programs of `docs/another-language.md`, and the page of the protocol, are what they say."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.commands.cli import main
from optimetry.conformance.commands.harness.command import Rehearsal
from optimetry.conformance.harness.messages import schema, violations
from optimetry.conformance.harness.page import page
from optimetry.conformance.harness.program import ProtocolProgram
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.targets.program import ProgramTarget
from optimetry.conformance.targets.session import Guard

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "programs"
HARNESS = ROOT / "conformance" / "harness"
GUIDE = (ROOT / "docs" / "another-language.md").read_text(encoding="utf-8")


def program(language: str, folder: Path) -> list[str]:
    """Return the command of an example, compiled if need be; skip where the language is not there."""
    if language == "bash":
        if shutil.which("bash") is None or shutil.which("awk") is None:
            pytest.skip("bash or awk is not installed")
        return ["bash", str(EXAMPLES / "harness.sh")]
    if language == "JavaScript":
        if shutil.which("node") is None:
            pytest.skip("Node is not installed")
        return ["node", str(EXAMPLES / "harness.js")]
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    command = ["g++", "-O1", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{HARNESS}", "-o", str(folder / "harness")]
    subprocess.run([*command, str(EXAMPLES / "harness.cpp")], check=True)
    return [str(folder / "harness")]


@pytest.mark.parametrize(("language", "optimizers"), [("JavaScript", ["sgd", "adam"]), ("C++", ["sgd", "adagrad"])])
def test_an_example_speaks_the_protocol_and_conforms(
    language: str, optimizers: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = program(language, tmp_path)
    assert main(["harness", "check", "--", *command]) == 0
    asked = [word for name in optimizers for word in ("--optimizer", name)]
    assert main(["check", "--effort", "quick", "--dtype", "float32", "-n", "1", *asked, "--", *command]) == 0
    out = capsys.readouterr().out
    assert "6 answers, all as the protocol says" in out
    assert "2 verdicts: 2 conforms" in out
    if language == "JavaScript":  # what the guide prints is what came
        shown = re.findall(r"^ok +(?:run|bye).*$|^(?:adam|sgd) .*$", out, re.MULTILINE)
        assert [line for line in shown if line not in GUIDE] == []


@pytest.mark.slow
def test_an_example_in_bash_conforms(tmp_path: Path) -> None:
    started = ProtocolProgram(program("bash", tmp_path))
    assert [finding.problems for finding in Rehearsal(started, 30.0).played()] == [()] * 3
    target = ProgramTarget.started(started, Guard())
    (verdict,) = judge([target], "sgd", "float64", effort=Effort("few", 12, 1), seed=0)
    started.close()
    assert (verdict.verdict, verdict.cases) == ("conforms", 12)


def test_the_guide_shows_the_whole_example() -> None:
    blocks = re.findall(r"^```js\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    assert "\n".join(blocks) == (EXAMPLES / "harness.js").read_text(encoding="utf-8")


def test_the_page_of_the_protocol_is_what_the_schema_gives() -> None:
    assert (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8") == page()


def test_every_message_is_on_the_page_with_an_example_that_is_valid() -> None:
    headings = set(re.findall(r"^### `(\w+)`$", page(), re.MULTILINE))
    kinds = {each["$ref"].rpartition("/")[2] for each in schema()["oneOf"]}
    assert headings == {kind for kind in kinds if " " not in kind} | {"unsupported", "error", "array"}
    for kind in [*kinds, "unsupported", "error", "array"]:
        (example,) = schema()["$defs"][kind]["examples"]
        assert list(violations(kind, example)) == []
