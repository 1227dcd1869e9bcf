"""Command ``topiarist terms``: a tree of terms by the words around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import FolderOptions, argument, examples, number_option, option
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import count_noun, one_line, percent

if TYPE_CHECKING:
    from topiarist.collection.describe.term_tree import TermTree

EPILOG = examples(
    "topiarist terms mail.topiary",
    "topiarist terms mail.topiary cell network",
    "topiarist terms mail.topiary --leaves 20 --json",
)
WRITES = ()
LEAF_TERMS = 8  # terms of a sense


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Group terms by the words around them, and list terms with several senses."""

    terms: list[str] | None = argument(None, "Terms whose senses are listed.", "[TERM…]")
    leaves: int | None = option(None, "Number of groups; by default up to 40.", min=2, max=500)
    number: int = number_option(12, "Terms with several senses to show.")


def run(options: Options) -> None:
    """Grow a tree of terms, then print it with ambiguous terms, or the senses of named terms."""
    from topiarist.collection.describe.term_tree import grow_term_tree

    with open_collection(options) as (screen, collection):
        with screen.waiting("Reading the words around terms, and growing a tree"):
            terms = grow_term_tree(collection, options.leaves)
        for term in options.terms or ():
            terms.find_senses(term.casefold())
        if options.json:
            screen.json({"folder": collection.folder.display_path, **terms.to_dict()})
            return
        if not options.terms:
            number = count_noun(len(terms.tree.leaves), "group")
            screen.print(f"{count_noun(len(terms.terms), 'term')} in {number} by the words around them\n")
            screen.print(terms.tree.render(width=screen.width))
            screen.heading("Terms with several senses")
        for term in options.terms or terms.list_ambiguous(options.number):
            _show_senses(screen, terms, term.casefold(), n_terms=LEAF_TERMS if options.terms else 3)
    screen.print_next("terms FOLDER TERM", "find FOLDER TERM")


def _show_senses(screen: Screen, terms: TermTree, term: str, n_terms: int) -> None:
    """Print a term and for each sense its share and related terms."""
    screen.print((one_line(term), "bold"))
    for leaf, share in terms.find_senses(term):
        others = [other for other in terms.list_terms(leaf, n_terms + 1) if other != term][:n_terms]
        screen.cut(f"  {percent(share):>4}  {' · '.join(map(one_line, others))}")
