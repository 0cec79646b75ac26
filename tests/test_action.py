"""The steps of `examples/action/action.yml`, run in a shell as GitHub runs them."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[1]
ACTION = ROOT / "examples" / "action" / "action.yml"
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
QUICK = "--effort quick --optimizer sgd --dtype float32 -n 1"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the action's steps are for bash")


class Step(NamedTuple):
    """One step: whether it runs after one that failed, what its environment holds, and its lines of shell."""

    always: bool
    env: dict[str, str]
    run: str


def steps():
    """The steps as they stand in the file, whose form is fixed enough to be read line by line."""
    for text in ACTION.read_text().split("    - name: ")[1:]:
        env = dict(re.findall(r"^        ([A-Z]+): \$\{\{ (.*) \}\}$", text, re.MULTILINE))
        yield Step("!cancelled()" in text, env, textwrap.dedent(text.split("run: |\n")[1]))


def defaults():
    inputs = ACTION.read_text().split("inputs:\n")[1].split("\nruns:")[0]
    matches = re.findall(
        r"^  (\w+):\n(?:    description: .*\n)(?:    (required|default): (.*)\n?)", inputs, re.MULTILINE
    )
    return {name: value.strip('"') for name, kind, value in matches if kind == "default"}


def played(folder, **inputs):
    """Run the steps in a folder as a job would, and return the status, what was printed, and the job's summary."""
    bin_ = folder / "bin"
    bin_.mkdir()
    commands = {
        "optimetry": f'exec {sys.executable} -c "import sys; from optimetry.conformance.commands.cli import main; '
        'sys.exit(main())" "$@"',
        "python": 'echo "python $*"',  # nothing is installed here
    }
    for name, line in commands.items():
        (bin_ / name).write_text(f"#!/bin/sh\n{line}\n")
        (bin_ / name).chmod(0o755)
    known = {f"inputs.{name}": value for name, value in (defaults() | inputs).items()}
    known["github.action_path"] = str(ACTION.parent)
    summary, status, printed = folder / "summary.md", 0, ""
    for step in steps():
        if status and not step.always:
            continue
        variables = {name: known[expression] for name, expression in step.env.items()}
        paths = {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)}
        python = os.pathsep.join([str(ROOT / "tests" / "conformance"), *filter(None, sys.path)])
        ran = subprocess.run(
            [*BASH, step.run],
            check=False,
            cwd=folder,
            env=os.environ | variables | paths | {"PYTHONPATH": python},
            capture_output=True,
            text=True,
        )
        printed += ran.stdout + ran.stderr
        status = status or ran.returncode
    return status, printed, summary.read_text() if summary.exists() else ""


def cases(folder):
    return list(ET.parse(folder / "optimetry-results" / "junit.xml").getroot())


def test_the_file_is_read_as_it_stands():
    assert [sorted(step.env) for step in steps()] == [
        ["ACTION", "REQUIREMENT"],
        ["LEDGER", "OPTIONS", "OUT", "TARGET"],
        ["OUT"],
    ]
    assert sorted(defaults()) == ["ledger", "options", "out", "requirement"]


def test_a_pass(tmp_path):
    status, printed, summary = played(tmp_path, target="miniatures:Correct", options=QUICK)
    assert status == 0, printed
    assert f"python -m pip install --quiet {ACTION.parent}/../..\n" in printed
    assert "::error" not in printed
    assert summary.startswith("miniature computes 1 rule as documented.\n")
    assert "| sgd " in summary
    (case,) = cases(tmp_path)
    assert (case.get("classname"), case.get("name"), len(case)) == ("miniature.sgd", "float32 default", 0)
    badges = tmp_path / "optimetry-results" / "badges"
    assert json.loads((badges / "miniature-sgd-float32.json").read_text())["message"] == "conforms"
    assert "sgd float32: conforms" in (badges / "miniature-sgd-float32.svg").read_text()


def test_an_unexpected_verdict_and_a_stale_line(tmp_path):
    (tmp_path / "ledger.txt").write_text("# known\nsgd float32 diverges of old\n")
    status, printed, summary = played(tmp_path, target="miniatures:Raises", options=QUICK, ledger="ledger.txt")
    assert status == 1, printed
    assert "::error title=sgd float32 (engine default)::error: raised RuntimeError" in printed
    assert "::error title=stale,file=ledger.txt,line=2::ledger.txt, line 2: expects sgd float32 diverges" in printed
    assert "- unexpected: `sgd` float32 (engine default): **error**" in summary
    assert "- stale: ledger.txt, line 2" in summary
    verdict, line = cases(tmp_path)
    assert verdict[0].tag == line[0].tag == "failure"
    assert (verdict[0].get("type"), line[0].get("type")) == ("error", "stale")
    assert "error" in (tmp_path / "optimetry-results" / "badges" / "miniature-sgd-float32.svg").read_text()


def test_a_target_that_cannot_be_loaded_and_words_of_inputs_are_no_commands(tmp_path):
    target = 'nowhere:Target"; touch stolen; echo "'
    status, printed, summary = played(tmp_path, target=target, ledger="$(touch stolen)")
    assert status == 2
    assert "::error title=optimetry::" in printed
    assert summary == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]
