"""Commands in this process, as a person would type them."""

import json

import pytest
from typer.testing import CliRunner

from tests.grown import collection, grown_once, path  # noqa: F401
from tests.review_draws import fixed_draws  # noqa: F401
from topiarist.cli.commands import app


@pytest.fixture
def typed(path, monkeypatch):  # noqa: F811
    """``typed("tree", "--depth", 1)``: the command with the collection as its first argument."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(path.parent)

    def run(command, *arguments, code=0, stdin=None):
        done = CliRunner().invoke(app, [command, path.name, *map(str, arguments)], input=stdin)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, f"{done.stdout}\n{done.stderr}"
        assert "\x1b" not in done.stdout
        if "--json" in arguments and code in (0, 1, 4):
            return json.loads(done.stdout)
        return done

    return run
