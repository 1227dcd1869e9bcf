"""``topiarist grow``: which topics, and which of them belong together?"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.text import Text

from topiarist.app.cli import figures
from topiarist.app.cli.options import Common
from topiarist.app.cli.printing import counted, print_json, speaks_unicode, typed_command
from topiarist.app.cli.reading import collect, leave
from topiarist.counts.corpus import Corpus
from topiarist.tasks.options import working_dtype
from topiarist.tasks.outline import levels_within
from topiarist.tasks.progress import prepare_kernels
from topiarist.tasks.topic_tree import TopicTree, grow_tree
from topiarist.tasks.trees import TILE_COLUMNS

MOST_LINES = 100  # of a tree whose depth nobody asked for
NARROWEST = 32


@dataclass(frozen=True)
class Printing:
    """What to print and to draw."""

    words: int = 8
    depth: int | None = None
    figure: str | None = None
    curve: str | None = None


def run(common: Common, leaves: int | None, printing: Printing) -> None:
    """Read, count, grow, print."""
    figures.check(printing.figure)
    figures.check(printing.curve)
    notes = Console(stderr=True, quiet=common.quiet)
    began = time.perf_counter()
    collected = collect(common, notes)
    found = _grown(collected.corpus, common, leaves, printing.words, notes)
    seconds = time.perf_counter() - began
    if common.json:
        print_json(found.to_dict(), collected.counts, seconds)
    else:
        show(found, Console(), seconds, printing.depth)
        _say_next(found, Console(), common)
    if printing.figure:
        figures.save(found.draw, printing.figure)
        notes.print(Text(f"The tree is drawn in {printing.figure}"))
    if printing.curve and found.curve is not None:
        figures.save(found.curve.plot, printing.curve)
        notes.print(Text(f"The curve is drawn in {printing.curve}"))
    interrupted = found.stopped == "interrupted"
    leave(collected, common, interrupted="this is the best tree so far" if interrupted else "")


def _grown(corpus: Corpus, common: Common, leaves: int | None, n_words: int, notes: Console) -> TopicTree:
    kind = working_dtype(None, corpus.counts, TILE_COLUMNS)
    prepare_kernels(kind, "paths", notice=lambda text: notes.print(f"  {text} …"))
    draws = not common.quiet and notes.is_terminal
    if not draws:
        notes.print("Growing the tree …")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_clusters=", UserWarning)  # ``TopicTree.reason`` says it
        return grow_tree(corpus, leaves, n_words=n_words, seed=common.seed, n_threads=common.threads, verbose=draws)


def show(found: TopicTree, console: Console, seconds: float, depth: int | None = None) -> None:
    """Print what was found in a sentence, the tree, and why it has as many leaves as it has."""
    tree = found.tree
    size = f"{counted(found.n_docs, 'document')}, {counted(len(tree.leaves), 'leaf', 'leaves')}"
    levels = f", {counted(tree.depth, 'level')}" if tree.depth else ""
    coherence = np.mean([node.coherence for node in found.nodes])
    labels = "" if found.agreement is None else f"; agreement with the documents' labels (NMI) {found.agreement:.2f}"
    console.print(
        f"\n{size}{levels}; coherence {coherence:.2f}{labels}; {seconds:.1f} s\n",
        highlight=False,
        soft_wrap=not console.is_terminal,
    )
    width = max(NARROWEST, console.width) if console.is_terminal else None
    depth = levels_within(tree, MOST_LINES) if depth is None else depth
    for line in found.lines(width, depth=depth, ascii=not speaks_unicode()):
        parts = ((line.branch, "dim"), (line.first, "bold"), line.rest, line.space, (line.size, "dim"))
        console.print(Text.assemble(*parts), soft_wrap=True)
    console.print(f"\n{found.reason}", highlight=False, soft_wrap=not console.is_terminal)


def _say_next(found: TopicTree, console: Console, common: Common) -> None:
    """What to type next."""
    if common.reading.is_demo:
        following = f"{typed_command()} grow YOUR-FOLDER"
    elif len(found.tree.leaves) == 1:
        number = max(2, min(8, found.n_docs // 10))
        following = f"more documents, or the same with --leaves {number} to have them divided anyway"
    else:
        following = "the same with --figure tree.svg to draw it, or --leaves N for another size"
    console.print(f"\nNext: {following}", highlight=False)
