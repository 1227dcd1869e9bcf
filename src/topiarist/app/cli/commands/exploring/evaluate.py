"""``topiarist evaluate``: is the tree any good?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import WritingOptions, examples, flag, printing
from topiarist.app.cli.terminal.screen import Screen

EPILOG = examples("topiarist evaluate mail.topiary", "topiarist evaluate mail.topiary --stability")
STABILITY_HELP = "Grow five more trees from other halves of the documents: how much of each topic comes back?"
WRITES = ("stability",)


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Judge the tree: by the labels of its documents where there are any, and by itself."""

    number: Annotated[int, printing("Labels to show.", "-n", "--number", min=1)] = 10
    stability: Annotated[bool, flag(STABILITY_HELP, "--stability")] = False


def run(options: Options) -> None:
    """Judge, print."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        with screen.waiting("Judging the tree"):
            quality, odd = door.judged_tree(collection), door.odd_headings(door.Figures(collection))
        if options.stability:
            from topiarist.app.cli.terminal import steadiness_lines

            steadiness = steadiness_lines.checked(collection)
        else:
            steadiness = door.known_steadiness(collection)
        if options.json:
            known = None if steadiness is None else {"shares": dict(steadiness.shares), "trees": steadiness.n_trees}
            screen.json(quality.to_dict() | {"steadiness": known, "odd_headings": odd.sentence})
            return
        for line in quality.lines(options.number):
            screen.cut(line)
        if odd.sentence:
            screen.hanging(odd.sentence)
        if steadiness is not None:
            from topiarist.app.cli.terminal import steadiness_lines

            screen.heading("How sure are the topics?")
            for line in steadiness_lines.lines(collection, steadiness):
                screen.hanging(line)
    screen.next("tree FOLDER", "shape FOLDER --interactive")
