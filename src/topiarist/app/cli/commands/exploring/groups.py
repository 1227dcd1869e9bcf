"""``topiarist groups``: who speaks of what, more than the others?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from topiarist import collection as door
from topiarist.app.cli.options import FolderOptions, examples, option, printing
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted, one_line, percent, share_between, times_between, verb

EPILOG = examples(
    "topiarist groups mail.topiary",
    "topiarist groups mail.topiary sender",
    "topiarist groups mail.topiary sender --between ann --between bob",
    "topiarist groups mail.topiary label --json",
)
WRITES = ()
NAME = 34  # columns of the name of a topic


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Show of which topics one group of documents has more than the others, by a column, label, tag or type."""

    column: Annotated[
        str | None, typer.Argument(metavar="COLUMN", help="What to group by; without it, what there is.")
    ] = None
    between: Annotated[
        list[str] | None, option("One of two groups to compare with each other; give it twice.", metavar="GROUP")
    ] = None
    number: Annotated[int, printing("Groups, and topics of each, to show.", "-n", "--number", min=1)] = 8


def run(options: Options) -> None:
    """Compare, print."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        if options.column is None:
            known = door.groupings(door.Figures(collection))
            if options.json:
                screen.json({"folder": collection.folder.shown, "columns": list(known)})
                return
            screen.print("Documents can be grouped by:" if known else "There is nothing to group documents by.")
            for name, said in known.items():
                screen.cut(f"  {one_line(name):<{NAME}} ", (said, "dim"))
            screen.next(*([("groups FOLDER {}", next(iter(known)))] if known else ["tree FOLDER"]))
            return
        found = door.topics_by_group(door.Figures(collection), options.column, between=options.between or ())
        if options.json:
            screen.json({"folder": collection.folder.shown, **found.to_dict()})
            return
        _show(screen, found, options.number)
    screen.next(("find FOLDER {}", found.query(0)), f"groups FOLDER {one_line(options.column)} --json")


def _show(screen: Screen, found: door.ByGroup, number: int) -> None:
    if found.pair:
        first, second = map(one_line, found.names)
        screen.print(f"{first} and {second}, by {one_line(found.column)}: what each has more of than the other.")
        if found.both:
            of_both = f"{counted(found.both, 'document')} {verb(found.both, 'is', 'are')}"
            screen.print(f"{of_both} of both and {verb(found.both, 'counts', 'count')} on neither side.", indent=2)
    else:
        screen.print(f"{counted(len(found.names) + found.left_out, 'group')} by {one_line(found.column)}.")
    if found.without and not found.pair:
        screen.print(f"{counted(found.without, 'document')} {verb(found.without, 'has', 'have')} no value.", indent=2)
    if found.several:
        said = verb(found.several, "has several values and counts", "have several values and count")
        screen.print(f"{counted(found.several, 'document')} {said} under each.", indent=2)
    for group, name in enumerate(found.names[:number]):
        screen.print()
        screen.print((one_line(name), "bold"), f": {counted(found.documents[group], 'document')}")
        more, less = found.more(group), found.less(group)
        _topics(screen, "more", more, number)
        if not found.pair:  # of a pair it is what the other has more of
            _topics(screen, "less", less, number)
        if not more and (found.pair or not less):
            said = "has no more of anything" if found.pair else "speaks of the same as the others"
            screen.print(f"{said}, as far as can be told", indent=2)
    rest = len(found.names) + found.left_out - number
    if rest > 0 and not found.pair:
        screen.print(f"and {counted(rest, 'smaller group')}")


def _topics(screen: Screen, lead: str, topics: Sequence[door.GroupTopic], number: int) -> None:
    for one in topics[:number]:
        name = f"  {lead}  {screen.fits(one.name, NAME) if screen.width else one_line(one.name):<{NAME}}"
        said = f"{share_between(one.share, one.low, one.high)}, others {percent(one.others)}: "
        screen.cut(f"{name} {said}{times_between(one.times, one.times_low, one.times_high)}")
