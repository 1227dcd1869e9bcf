"""Command ``topiarist duplicates``: list duplicates and near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import FolderOptions, examples, number_option, option, printing
from topiarist.cli.terminal.screen import Screen, opened
from topiarist.display.formats import and_more, count_noun, one_line, whole_percent
from topiarist.errors import UsageError

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.copies import CopiesOf

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

    A copy has the same text. A near-copy has 95% of the words, and no number, date or name differs.

    Copies are counted once for growing, lie where the first of their kind does, and are folded in lists. With
    --by-meaning: pairs of one topic that are no copies, but whose vectors point the same way; nothing is folded for it.
    """

    number: int = number_option(20, "Documents with copies to list.")
    all: bool = printing(False, "Every document, and every copy.")
    by_meaning: bool = option(False, "Documents that are alike by their vectors, instead.")
    min_cosine: float = option(0.9, "Lowest cosine of two vectors, with --by-meaning.", "--least", min=0.5, max=1.0)


def run(options: Options) -> None:
    with opened(options) as (screen, collection):
        if options.by_meaning:
            _by_meaning(screen, options, collection)
        else:
            _copies(screen, options, collection)


def _copies(screen: Screen, options: Options, collection: Collection) -> None:
    from topiarist.collection.copies import list_duplicates

    groups = list_duplicates(collection, collection.copies)
    if options.json:
        documents = [
            {
                "id": group.id, "title": group.title,
                "copies": [
                    {
                        "id": copy.id, "title": copy.title, "shared": round(copy.shared, 4), "exact": copy.exact,
                        "only_here": copy.only_here, "only_original": copy.only_original,
                    }
                    for copy in group.copies
                ],
            }
            for group in groups
        ]  # fmt: skip
        screen.json({"copies": len(collection.copies), "originals": len(groups), "documents": documents})
        return
    _show(screen, options, groups, len(collection.copies))


def _describe_words(where: str, words: Sequence[str]) -> list[str]:
    return [f"{where}: {one_line(', '.join(words))}"] if words else []


def _by_meaning(screen: Screen, options: Options, collection: Collection) -> None:
    from topiarist.collection.alike import find_similar_pairs

    result = find_similar_pairs(collection, options.min_cosine)
    if result is None:
        raise UsageError(
            "the documents of this collection have no vectors", hint="topiarist grow … --encoder, or --vectors FILE"
        )
    if options.json:
        pairs = [
            {
                "first": pair.first.id, "second": pair.second.id, "cosine": round(pair.cosine, 4),
                "shared": round(pair.shared, 4),
            }
            for pair in result.pairs
        ]  # fmt: skip
        screen.json({"least": result.min_cosine, "pairs": pairs, "number": result.number})
        return
    if not result.pairs:
        screen.print(
            f"No two documents of one topic, copies aside, are as near as {result.min_cosine:g} by their vectors."
        )
        return
    number = count_noun(result.number, "pair")
    screen.print(
        f"{number} alike by meaning: of one topic, cosine of their vectors at least {result.min_cosine:g}. No copies."
    )
    listed_pairs = result.pairs if options.all else result.pairs[: options.number]
    for pair in listed_pairs:
        screen.print()
        screen.titled(f"  {pair.cosine:.2f}  ", pair.first.title, pair.first.id)
        screen.titled("        ", pair.second.title, pair.second.id)
        screen.print((f"{whole_percent(pair.shared)} of their words are in both", "dim"), indent=8)
    if len(listed_pairs) < result.number:
        hint = "" if options.all else ": --all"
        screen.print((f"\nand {result.number - len(listed_pairs):,} more{hint}", "dim"))
    screen.next(("show FOLDER {}", result.pairs[0].first.id), "duplicates FOLDER")


def _show(screen: Screen, options: Options, found: tuple[CopiesOf, ...], number: int) -> None:
    from topiarist.collection.grow.exclusions import describe_duplicates

    if not found:
        screen.print("No document is a copy or a near-copy of another.")
        return
    screen.print(f"{describe_duplicates(number, len(found))}.")
    shown = found if options.all else found[: options.number]
    for one in shown:
        exact = sum(copy.exact for copy in one.copies)
        near = len(one.copies) - exact
        kinds = [count_noun(exact, "copy", "copies")] * bool(exact) + [
            count_noun(near, "near-copy", "near-copies")
        ] * bool(near)
        screen.print()
        screen.titled("", one.title, one.id)
        screen.print((" and ".join(kinds), "dim"), indent=2)
        listed = one.copies if options.all else one.copies[:COPIES_SHOWN]
        for copy in listed:
            screen.titled(f"  {whole_percent(copy.shared):>5}  ", copy.title, copy.id)
            if words := _describe_words("only here", copy.only_here) + _describe_words(
                "only in the original", copy.only_original
            ):
                screen.print(("; ".join(words), "dim"), indent=9)
        if len(listed) < len(one.copies):
            screen.print((and_more(one.copies, len(listed)), "dim"), indent=2)
    if len(shown) < len(found):
        screen.print((f"\n{and_more(found, len(shown))}: --all", "dim"))
    screen.next(("show FOLDER {}", found[0].id), "explore FOLDER")
