"""Command ``topiarist evaluate``: measure the quality of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import WritingOptions, examples, number_option, option
from topiarist.cli.terminal.console import PATIENCE, Console
from topiarist.cli.terminal.screen import open_collection
from topiarist.display.formats import count_noun, one_line, whole_percent
from topiarist.progress import RichReporter

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.grow.regrowth import TopicStability

EPILOG = examples("topiarist evaluate mail.topiary", "topiarist evaluate mail.topiary --stability")
STABILITY_HELP = "Grow five more trees from random halves, and print how much of each topic returns."
WRITES = ("stability",)
LEAST_SHOWN = 10  # topics that came back least


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Measure the quality of a tree. Labels of the documents are used if there are any."""

    number: int = number_option(10, "Labels to show.")
    stability: bool = option(False, STABILITY_HELP)


def run(options: Options) -> None:
    """Print the quality of the tree. On request, grow other trees and print the stability of its topics."""
    from topiarist.collection.classify.tree_quality import evaluate_tree, find_odd_headings
    from topiarist.collection.describe.statistics import Figures
    from topiarist.collection.grow.regrowth import load_stability

    with open_collection(options) as (screen, collection):
        with screen.waiting("Judging the tree"):
            quality, odd = evaluate_tree(collection), find_odd_headings(Figures(collection))
        steadiness = measure_stability(collection) if options.stability else load_stability(collection)
        if options.json:
            known = None if steadiness is None else {"shares": dict(steadiness.shares), "trees": steadiness.n_trees}
            screen.json(quality.to_dict() | {"steadiness": known, "odd_headings": odd.sentence})
            return
        for line in quality.lines(options.number):
            screen.cut(line)
        if odd.sentence:
            screen.print_hanging(odd.sentence)
        if steadiness is not None:
            screen.heading("How sure are the topics?")
            for line in describe_stability(collection, steadiness):
                screen.print_hanging(line)
    screen.print_next("tree FOLDER", "shape FOLDER --interactive")


def measure_stability(collection: Collection, n_threads: int | None = None) -> TopicStability | None:
    """Grow more trees with a progress bar. Return None if the user stops before the first is grown."""
    from topiarist.collection.grow.regrowth import N_TREES, check_steadiness

    title = "Growing trees from other halves of the documents"
    with RichReporter(title, Console(stderr=True), PATIENCE) as reporter:
        reporter.show_steps(0, N_TREES)
        return check_steadiness(collection, reporter=reporter, n_threads=n_threads)


def describe_stability(collection: Collection, found: TopicStability) -> Iterator[str]:
    """Yield lines: the number of topics of each stability, and the least stable topics."""
    told = ", ".join(f"{number:,} {word}" for word, number in found.counts().items())
    n_topics, n_headings = found.count_topics(collection.outline)
    nouns = f"{count_noun(n_topics, 'topic')} and {count_noun(n_headings, 'heading')}"
    yield (
        f"Of {nouns}, {told}: how much of each came back in {found.n_trees} trees grown from other halves of the "
        "documents."
    )
    least = sorted((share, topic) for topic, share in found.shares.items())[:LEAST_SHOWN]
    if least:
        yield "Topics with the lowest stability:"
    for share, topic in least:
        yield f"  {whole_percent(share):>5}  {one_line(collection.outline.name(topic))}  (topic {topic})"
