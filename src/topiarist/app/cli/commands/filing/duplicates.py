"""``topiarist duplicates``: what is there more than once?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import FolderOptions, examples, printing
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import and_more, counted, whole_percent

EPILOG = examples(
    "topiarist duplicates mail.topiary",
    "topiarist duplicates mail.topiary --number 100",
    "topiarist duplicates mail.topiary --json",
)
WRITES = ()
COPIES_SHOWN = 10  # of one document, unless all are wanted


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """List documents that are there more than once: the first of each kind, its copies, and its near-copies.

    Copies are counted once for growing, lie where the first of their kind does, and are folded in lists.
    """

    number: Annotated[int, printing("Documents with copies to list.", "--number", "-n", min=1)] = 20
    all: Annotated[bool, printing("Every document, and every copy.", "--all")] = False


def run(options: Options) -> None:
    """Look, print."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        copies = door.found_copies(collection)
        found = door.listed_copies(collection, copies)
    if options.json:
        screen.json(
            {
                "copies": len(copies),
                "originals": len(found),
                "documents": [
                    {
                        "id": one.id,
                        "title": one.title,
                        "copies": [
                            {"id": copy.id, "title": copy.title, "shared": round(copy.shared, 4), "exact": copy.exact}
                            for copy in one.copies
                        ],
                    }
                    for one in found
                ],
            }
        )
        return
    _show(screen, options, found, len(copies))


def _show(screen: Screen, options: Options, found: tuple[door.CopiesOf, ...], number: int) -> None:
    if not found:
        screen.print("No document is a copy or a near-copy of another.")
        return
    screen.print(f"{door.copies_in_words(number, len(found))}.")
    shown = found if options.all else found[: options.number]
    for one in shown:
        exact = sum(copy.exact for copy in one.copies)
        near = len(one.copies) - exact
        kinds = [counted(exact, "copy", "copies")] * bool(exact) + [counted(near, "near-copy", "near-copies")] * bool(
            near
        )
        screen.print()
        screen.titled("", one.title, one.id)
        screen.print((" and ".join(kinds), "dim"), indent=2)
        listed = one.copies if options.all else one.copies[:COPIES_SHOWN]
        for copy in listed:
            screen.titled(f"  {whole_percent(copy.shared):>5}  ", copy.title, copy.id)
        if len(listed) < len(one.copies):
            screen.print((and_more(one.copies, len(listed)), "dim"), indent=2)
    if len(shown) < len(found):
        screen.print((f"\n{and_more(found, len(shown))}: --all", "dim"))
    screen.next(("show FOLDER {}", found[0].id), "explore FOLDER")
