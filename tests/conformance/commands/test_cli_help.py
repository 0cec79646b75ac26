"""What the command says of itself: help, versions, targets."""

import importlib.metadata

import pytest

from optimetry.conformance.commands.cli import COMMANDS
from optimetry.conformance.targets.loading import builtin_names


def test_targets_lists_what_there_is(optimetry):
    status, out, _ = optimetry("targets")
    assert status == 0
    assert {row.split()[0] for row in out.splitlines()[2:] if row[:1].strip()} >= set(builtin_names())
    assert "module:object" in out


def test_help_has_examples_and_exit_statuses(optimetry):
    status, out, _ = optimetry("--help")
    assert status == 0
    assert "optimetry check mypackage.adapter:Target" in out
    assert "exit status" in out
    status, out, _ = optimetry("check", "--help")
    assert status == 0
    assert "--expect LEDGER" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_its_exit_statuses(optimetry, command):
    status, out, _ = optimetry(command, "--help")
    assert status == 0
    assert "exit status: 0" in out


def test_version(optimetry):
    assert optimetry("--version") == (0, f"optimetry {importlib.metadata.version('optimetry')}\n", "")
