"""``topiarist duplicates``: what is there more than once?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import FolderOptions, examples, option, printing
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import and_more, counted, whole_percent
from topiarist.errors import UsageError

EPILOG = examples(
    "topiarist duplicates mail.topiary",
    "topiarist duplicates mail.topiary --number 100",
    "topiarist duplicates mail.topiary --by-meaning",
    "topiarist duplicates mail.topiary --json",
)
WRITES = ()
COPIES_SHOWN = 10  # of one document, unless all are wanted


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """List documents that are there more than once: the first of each kind, its copies, and its near-copies.

    Copies are counted once for growing, lie where the first of their kind does, and are folded in lists. With
    --by-meaning: pairs of one topic that are no copies, but whose vectors point the same way; nothing is folded for it.
    """

    number: Annotated[int, printing("Documents with copies to list.", "--number", "-n", min=1)] = 20
    all: Annotated[bool, printing("Every document, and every copy.", "--all")] = False
    by_meaning: Annotated[bool, option("Documents that are alike by their vectors, instead.", "--by-meaning")] = False
    least: Annotated[
        float, option("How near they are at least, with --by-meaning: a cosine.", "--least", min=0.5, max=1.0)
    ] = 0.9


def run(options: Options) -> None:
    """Look, print."""
    screen = Screen(options)
    if options.by_meaning:
        _by_meaning(screen, options)
        return
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


def _by_meaning(screen: Screen, options: Options) -> None:
    with door.Collection.open(options.folder) as collection:
        found = door.alike_by_meaning(collection, options.least)
    if found is None:
        raise UsageError(
            "the documents of this collection have no vectors", hint="topiarist grow … --encoder, or --vectors FILE"
        )
    if options.json:
        pairs = [
            {
                "first": one.first.id,
                "second": one.second.id,
                "cosine": round(one.cosine, 4),
                "shared": round(one.shared, 4),
            }
            for one in found.pairs
        ]
        screen.json({"least": found.least, "pairs": pairs, "number": found.number})
        return
    if not found.pairs:
        screen.print(f"No two documents of one topic, copies aside, are as near as {found.least:g} by their vectors.")
        return
    said = counted(found.number, "pair")
    screen.print(f"{said} alike by meaning: of one topic, cosine of their vectors at least {found.least:g}. No copies.")
    shown = found.pairs if options.all else found.pairs[: options.number]
    for one in shown:
        screen.print()
        screen.titled(f"  {one.cosine:.2f}  ", one.first.title, one.first.id)
        screen.titled("        ", one.second.title, one.second.id)
        screen.print((f"{whole_percent(one.shared)} of their words are in both", "dim"), indent=8)
    if len(shown) < found.number:
        more = "" if options.all else ": --all"
        screen.print((f"\nand {found.number - len(shown):,} more{more}", "dim"))
    screen.next(("show FOLDER {}", found.pairs[0].first.id), "duplicates FOLDER")


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
