"""``topiarist evaluate``: is the tree any good?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import FolderOptions, examples, printing
from topiarist.app.cli.terminal.screen import Screen

EPILOG = examples("topiarist evaluate mail.topiary", "topiarist evaluate mail.topiary --json")
WRITES = ()


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Judge the tree: by the labels of its documents where there are any, and by itself."""

    number: Annotated[int, printing("Labels to show.", "-n", "--number", min=1)] = 10


def run(options: Options) -> None:
    """Judge, print."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection, screen.waiting("Judging the tree"):
        quality = door.judged_tree(collection)
    if options.json:
        screen.json(quality.to_dict())
        return
    for line in quality.lines(options.number):
        screen.cut(line)
    screen.next("tree FOLDER", "shape FOLDER --interactive")
