"""``topiarist compare``: what is different in two trees?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from topiarist import collection as door
from topiarist.app.cli.options import FolderOptions, examples, option, printing
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import one_line
from topiarist.errors import UsageError

EPILOG = examples("topiarist compare mail.topiary older.topiary", "topiarist compare mail.topiary --before")
WRITES = ()


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Compare the trees of two collections, or a tree with what it was before the last step."""

    other: Annotated[str | None, typer.Argument(metavar="OTHER", help="Another collection of the same documents.")] = (
        None
    )
    before: Annotated[bool, option("Compare with the tree before the last step.", "--before")] = False
    number: Annotated[int, printing("Changes of each kind to show.", "-n", "--number", min=1)] = 5


def run(options: Options) -> None:
    """Open both, compare, print."""
    from topiarist.measures.comparison import compare

    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        if (options.other is None) != options.before:
            raise UsageError(
                "compare with what? Another collection, or --before", hint=f"compare {options.folder} --before"
            )
        if options.before:
            other, entry = door.before_last(collection)
            titles = ("before the last step", f"now, after: {one_line(door.step_text(entry))}")
            with other:
                found = compare(other.placed, collection.placed)
        else:
            titles = (options.folder, str(options.other))
            with door.Collection.open(str(options.other)) as other:
                found = compare(collection.placed, other.placed)
    if options.json:
        screen.json({"a": titles[0], "b": titles[1], **found.to_dict()})
        return
    screen.print(("A  ", "dim"), one_line(titles[0]))
    screen.print(("B  ", "dim"), one_line(titles[1]))
    for line in found.lines(options.number):
        screen.hanging(line)
    screen.next("shape FOLDER --undo" if options.before else ("tree {}", options.other), "evaluate FOLDER")
