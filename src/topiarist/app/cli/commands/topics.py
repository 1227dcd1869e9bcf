"""``topiarist topics``: what is this collection about?"""

from __future__ import annotations

import time
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from topiarist.app.cli.options import Common
from topiarist.app.cli.reading import collect, leave
from topiarist.app.cli.terminal.console import Console
from topiarist.app.cli.terminal.printing import one_line, print_json, typed_command
from topiarist.collection.describe.flat_topics import Topics, find_topics
from topiarist.estimators.common.options import working_dtype
from topiarist.models.engine.compilation import prepare_kernels

GENERAL_WORDS_SHOWN = 20
ROOMY = 120  # columns of a terminal from which on there is space for a document beside the words


def run(common: Common, topics: int, words: int) -> None:
    """Read, count, fit, print."""
    notes = Console(stderr=True, quiet=common.quiet)
    began = time.perf_counter()
    collected = collect(common, notes)
    corpus = collected.corpus
    prepare_kernels(working_dtype(None, corpus.counts, topics), notice=lambda text: notes.print(f"  {text} …"))
    draws = not common.quiet and notes.is_terminal
    if not draws:
        notes.print(f"Fitting {topics} topics …")
    found = find_topics(corpus, topics, n_words=words, seed=common.seed, n_threads=common.threads, verbose=draws)
    seconds = time.perf_counter() - began
    if common.json:
        print_json(asdict(found) | {"coherence": found.coherence}, collected.counts, seconds)
    else:
        show(found, Console(), seconds, demo=common.reading.is_demo)
    interrupted = found.stopped == "interrupted"
    leave(collected, common, interrupted="these are the best topics so far" if interrupted else "")


def show(found: Topics, console: Console, seconds: float, *, demo: bool) -> None:
    """Print the topics as a table, what is general, and what to type next."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("topic", ratio=3)
    roomy = console.width >= ROOMY
    if roomy:
        table.add_column("typical document", style="dim", ratio=2, no_wrap=True, overflow="ellipsis")
    largest = max(topic.share for topic in found.topics)
    for topic in found.topics:
        if topic.general:
            continue
        bar = "▇" * max(1, round(8 * topic.share / largest))
        head, rest = topic.words[:3], topic.words[3:]
        label = Text.assemble((" · ".join(head), "bold"), *(f" · {word}" for word in rest))
        cells: list[str | Text] = [f"{topic.share:.1%}", Text(bar, style="green"), label]
        table.add_row(*cells, *([Text(one_line(topic.documents[0]))] if roomy else []))
    console.print()
    console.print(table)
    console.print()
    for words in (found.general_words, *(topic.words for topic in found.topics if topic.general)):
        if words:
            console.print(Text(f"General language: {' '.join(words[:GENERAL_WORDS_SHOWN])}", style="dim"))
    general = sum(topic.general for topic in found.topics)
    console.print(
        f"{len(found.topics)} topics{f', {general} of them general,' if general else ''} "
        f"in {found.n_docs:,} documents · coherence {found.coherence:.2f} · diversity {found.diversity:.2f} · "
        f"{found.steps} steps ({found.stopped.replace('_', ' ')}) · {seconds:.1f} s",
        highlight=False,
    )
    command = typed_command()
    following = f"{command} topics YOUR-FOLDER --topics 30" if demo else f"{command} topics --help"
    console.print(f"\nNext: {following}", highlight=False)
