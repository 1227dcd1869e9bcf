"""The door of the collection: every name that it offers is there, is typed, and hides no room."""

from __future__ import annotations

import ast
import pkgutil
from importlib import import_module
from pathlib import Path

from topiarist import collection


def test_every_name_of_the_door_is_there_and_typed() -> None:
    source = ast.parse(Path(str(collection.__file__)).read_text("utf-8"))
    imports = [node for node in ast.walk(source) if isinstance(node, ast.ImportFrom) and node.module]
    typed = {
        name.asname or name.name: (str(node.module).removeprefix("topiarist.collection."), name.name)
        for node in imports
        if str(node.module).startswith("topiarist.collection.")
        for name in node.names
    }
    assert typed == collection._HOMES
    for outside, (module, inside) in typed.items():
        assert getattr(collection, outside) is getattr(import_module(f"topiarist.collection.{module}"), inside)


def test_no_name_of_the_door_is_that_of_a_room() -> None:
    rooms = {module.name for module in pkgutil.iter_modules(collection.__path__)}
    assert not rooms & collection._HOMES.keys()
