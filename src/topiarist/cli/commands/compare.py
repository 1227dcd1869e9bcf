"""Command ``topiarist compare``: list the differences between two trees."""

from __future__ import annotations

from dataclasses import dataclass

from topiarist.cli.options import FolderOptions, argument, examples, number_option, option
from topiarist.cli.terminal.screen import open_collection
from topiarist.display.formats import one_line
from topiarist.errors import UsageError

EPILOG = examples("topiarist compare mail.topiary older.topiary", "topiarist compare mail.topiary --before")
WRITES = ()


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Compare the trees of two collections, or a tree before and after the last edit."""

    other: str | None = argument(None, "Another collection of the same documents.", "OTHER")
    before: bool = option(False, "Compare with the tree before the last edit.")
    number: int = number_option(5, "Changes of each kind to show.")


def run(options: Options) -> None:
    """Compare two trees, or a tree before and after its last edit, and print the differences."""
    from topiarist.collection.collection import Collection
    from topiarist.collection.shape.history import summarise_step
    from topiarist.collection.state import open_state_before_last
    from topiarist.metrics.comparison import compare

    with open_collection(options) as (screen, collection):
        if options.before and options.other is None:
            other, entry = open_state_before_last(collection)
            titles = ("before the last step", f"now, after: {one_line(summarise_step(entry))}")
            with other:
                comparison = compare(other.assignments, collection.assignments)
        elif options.other is not None and not options.before:
            titles = (options.folder, options.other)
            with Collection.open(options.other) as other:
                comparison = compare(collection.assignments, other.assignments)
        else:
            hint = f"Run topiarist compare {options.folder} --before, or name another collection."
            raise UsageError("expected another collection or --before", hint=hint)
    if options.json:
        screen.json({"a": titles[0], "b": titles[1], **comparison.to_dict()})
        return
    for side, title in zip("AB", titles, strict=True):
        screen.print((f"{side}  ", "dim"), one_line(title))
    for line in comparison.lines(options.number):
        screen.print_hanging(line)
    screen.print_next("shape FOLDER --undo" if options.before else ("tree {}", options.other), "evaluate FOLDER")
