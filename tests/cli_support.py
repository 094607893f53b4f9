"""How the tests run the command: in this process, with what it must or must not do."""

import json

import pytest
from typer.testing import CliRunner

from setagree.cli import app as cli


def invoke(*words):
    """Run the command in this process."""
    return CliRunner().invoke(cli.app, list(map(str, words)))


def ok(*words):
    """Run the command, which must succeed, and return what it printed on stdout."""
    result = invoke(*words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def rows(*words):
    """Run the command for JSON and return its rows."""
    return json.loads(ok(*words, "--format", "json"), parse_constant=pytest.fail)


def refusal(*words):
    """Run the command, which must end with 2 and one sentence, and return the sentence."""
    result = invoke(*words)
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1, result.stderr
    assert "Traceback" not in result.stderr
    return lines[0]
