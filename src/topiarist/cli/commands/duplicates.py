"""Command ``topiarist duplicates``: list duplicates and near-duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topiarist.cli.options import FolderOptions, examples, number_option, option, printing
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import count_copies, count_noun, one_line, whole_percent
from topiarist.errors import UsageError

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.copies import CopiesOf, Copy

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
    """List documents with their copies and near-copies.

    A copy has the same text. A near-copy has 95% of the words, and no number, date or name differs. Growing counts
    copies once, and lists show the first of them. `--by-meaning` lists other pairs with similar embeddings.
    """

    number: int = number_option(20, "Number of documents to list.")
    all: bool = printing(False, "List all documents and all copies.")
    by_meaning: bool = option(False, "List pairs of one topic with similar embeddings instead.")
    min_cosine: float = option(0.9, "Lowest cosine of two embeddings, with --by-meaning.", "--least", min=0.5, max=1.0)


def run(options: Options) -> None:
    with open_collection(options) as (screen, collection):
        (_list_similar_pairs if options.by_meaning else _list_copies)(screen, options, collection)


def _list_copies(screen: Screen, options: Options, collection: Collection) -> None:
    """Print the originals with their copies, or all of them as JSON."""
    from topiarist.collection.copies import list_duplicates
    from topiarist.collection.grow.exclusions import describe_duplicates

    groups = list_duplicates(collection, collection.copies)
    if options.json:
        screen.json({
            "copies": len(collection.copies),
            "originals": len(groups),
            "documents": [
                {"id": group.id, "title": group.title, "copies": [_describe_copy(copy) for copy in group.copies]}
                for group in groups
            ],
        })  # fmt: skip
        return
    if not groups:
        screen.print("No document is a copy or a near-copy of another.")
        return
    screen.print(f"{describe_duplicates(len(collection.copies), len(groups))}.")
    number = len(groups) if options.all else options.number
    screen.list_items(groups, number, lambda group: _print_group(screen, group, is_complete=options.all), "\n{}: --all")
    screen.print_next(("show FOLDER {}", groups[0].id), "explore FOLDER")


def _describe_copy(copy: Copy) -> dict[str, Any]:
    """Return a copy as JSON data, with the words that only one of the two texts has."""
    return {
        "id": copy.id, "title": copy.title, "shared": round(copy.shared, 4), "exact": copy.exact,
        "only_here": copy.only_here, "only_original": copy.only_original,
    }  # fmt: skip


def _print_group(screen: Screen, group: CopiesOf, *, is_complete: bool) -> None:
    """Print an original and its copies, all of them or the first few."""
    exact = sum(copy.exact for copy in group.copies)
    screen.print()
    screen.print_titled("", group.title, group.id)
    screen.print((count_copies(exact, len(group.copies) - exact), "dim"), indent=2)
    number = len(group.copies) if is_complete else COPIES_SHOWN
    screen.list_items(group.copies, number, lambda copy: _print_copy(screen, copy))


def _print_copy(screen: Screen, copy: Copy) -> None:
    """Print a copy with its share of common words and the differing words."""
    screen.print_titled(f"  {whole_percent(copy.shared):>5}  ", copy.title, copy.id)
    words = {"only here": copy.only_here, "only in the original": copy.only_original}
    if differences := [f"{where}: {one_line(', '.join(there))}" for where, there in words.items() if there]:
        screen.print(("; ".join(differences), "dim"), indent=9)


def _list_similar_pairs(screen: Screen, options: Options, collection: Collection) -> None:
    """Print pairs of documents with similar vectors. Raise UsageError without vectors."""
    from topiarist.collection.alike import find_similar_pairs

    result = find_similar_pairs(collection, options.min_cosine)
    if result is None:
        raise UsageError(
            "the documents of this collection have no vectors",
            hint="Grow the collection again with --encoder or --vectors FILE.",
        )
    if options.json:
        pairs = [
            {"first": pair.first.id, "second": pair.second.id}
            | {"cosine": round(pair.cosine, 4), "shared": round(pair.shared, 4)}
            for pair in result.pairs
        ]
        screen.json({"least": result.min_cosine, "pairs": pairs, "number": result.number})
        return
    if not result.pairs:
        screen.print(
            f"No two documents of one topic have vectors with a cosine of {result.min_cosine:g}, copies aside."
        )
        return
    number = count_noun(result.number, "pair")
    screen.print(
        f"{number} alike by meaning: of one topic, cosine of vectors at least {result.min_cosine:g}. No copies."
    )
    listed_pairs = result.pairs if options.all else result.pairs[: options.number]
    for pair in listed_pairs:
        screen.print()
        screen.print_titled(f"  {pair.cosine:.2f}  ", pair.first.title, pair.first.id)
        screen.print_titled("        ", pair.second.title, pair.second.id)
        screen.print((f"{whole_percent(pair.shared)} of their words are in both", "dim"), indent=8)
    if len(listed_pairs) < result.number:
        hint = "" if options.all else ": --all"
        screen.print((f"\nand {result.number - len(listed_pairs):,} more{hint}", "dim"))
    screen.print_next(("show FOLDER {}", result.pairs[0].first.id), "duplicates FOLDER")
