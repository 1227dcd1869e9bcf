"""The door to the explorer: what it names by a string is there, and takes what the command hands over."""

import inspect
from importlib import import_module

import pytest

from topiarist.app import explorer_door
from topiarist.errors import TopiaristError


def test_serving_reaches_the_server_and_takes_what_the_command_hands_over(tmp_path):
    options = {"port": 0, "browser": False, "read_only": True, "remote": None, "beside": (), "token": True}
    options["token_file"] = options["language"] = None
    with pytest.raises(TopiaristError):  # not ModuleNotFoundError: it has looked for the collection
        explorer_door.serve(str(tmp_path / "none.topiary"), **options)
    serve = import_module(f"{explorer_door.EXPLORER}.web.serving").serve
    assert set(options) == set(inspect.signature(serve).parameters) - {"folder"}
