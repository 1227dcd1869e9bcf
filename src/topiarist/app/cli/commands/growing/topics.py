"""``topiarist topics``: what is this collection about?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from rich.table import Table
from rich.text import Text

from topiarist import collection as door
from topiarist.app.cli.options import SourceOptions, examples, option, printing
from topiarist.app.cli.source_stream import Stream
from topiarist.app.cli.terminal.console import Console, print_json, typed_command
from topiarist.app.cli.terminal.failures import INTERRUPTED
from topiarist.app.words import DOT, and_more, counted, one_line
from topiarist.text.documents import Document
from topiarist.text.language import language_of

if TYPE_CHECKING:
    from topiarist.counts.corpus import Corpus

EPILOG = examples(
    "topiarist topics demo",
    "topiarist topics ./mail --topics 30 --stop-words en",
    "topiarist topics tickets.csv --text-column description --json > topics.json",
    "zcat news.jsonl.gz | topiarist topics - --phrases",
)
WRITES = ()
GENERAL_WORDS_SHOWN, PROBLEMS_SHOWN = 20, 5
ROOMY = 120  # columns of a terminal from which on there is space for a document beside the words


@dataclass(frozen=True, kw_only=True)
class Options(SourceOptions):
    """Find flat topics and print them."""

    topics: Annotated[int, option("How many topics.", "--topics", "-k", metavar="N", min=1)] = 20
    words: Annotated[int, printing("Words per topic.", metavar="N", min=2, max=100)] = 8


def run(options: Options) -> None:
    """Read, count, fit, print."""
    from topiarist.estimators.common.options import working_dtype
    from topiarist.models.engine.compilation import prepare_kernels

    notes = Console(stderr=True, quiet=options.quiet)
    began = time.perf_counter()
    stream = Stream(options)
    corpus = _counted(stream, options, notes)
    prepare_kernels(working_dtype(None, corpus.counts, options.topics), notice=lambda text: notes.print(f"  {text} …"))
    draws = not options.quiet and notes.is_terminal
    if not draws:
        notes.print(f"Fitting {options.topics} topics …")
    found = door.find_topics(
        corpus, options.topics, n_words=options.words, seed=options.seed, n_threads=options.threads, verbose=draws
    )
    seconds = time.perf_counter() - began
    if options.json:
        body = asdict(found) | {"coherence": found.coherence, "seconds": round(seconds, 3)}
        print_json(body | ({} if stream.counts is None else {"reading": asdict(stream.counts)}), allow_nan=True)
    else:
        show(found, Console(), seconds, demo=options.is_demo)
    _leave(stream, interrupted=found.stopped == "interrupted")


def _counted(stream: Stream, options: Options, notes: Console) -> Corpus:
    """Read and count, saying so."""
    from topiarist.counts.corpus import Corpus

    title = "the demonstration collection: abstracts of arXiv, 2014"
    notes.print(Text(f"Reading {title if options.is_demo else ', '.join(map(one_line, options.shown_sources))}"))
    recipe = options.recipe()
    try:
        with notes.status("  0 documents") as status:
            language, documents = language_of(_passing(stream.documents(), status), recipe.language)
            corpus = Corpus.from_documents(
                documents, recipe.counting(language), keep_texts=False, n_jobs=options.threads
            )
        sample = f", {language.name.title()} ({language.share:.0%} of {language.judged} looked at)"
        notes.print(f"  {counted(corpus.n_docs, 'document')}{sample if language.judged else ''}")
        if stream.counts is not None:
            notes.print(f"  {stream.counts}")
    finally:
        stream.close()
    least = counted(corpus.settings.fewest(corpus.n_docs), "document")
    notes.print(f"  {counted(corpus.n_tokens, 'word')}, {corpus.n_words:,} different (in at least {least})")
    return corpus


def _passing(documents: Iterator[Document], status: Any) -> Iterator[Document]:
    for number, document in enumerate(documents, 1):
        if number % 200 == 0:
            status.update(f"  {number:,} documents")
        yield document


def _leave(stream: Stream, *, interrupted: bool) -> None:
    """Say what was left out, and leave with the exit code that says the same."""
    notes, problems = Console(stderr=True), stream.problems
    if problems:
        notes.print(f"\nLeft out ({len(problems):,}):", highlight=False)
    for problem in problems[:PROBLEMS_SHOWN]:
        notes.print(Text(f"  {one_line(problem.source)}: {one_line(problem.reason)}"))
    if len(problems) > PROBLEMS_SHOWN:
        notes.print(f"  {and_more(problems, PROBLEMS_SHOWN)}")
    if interrupted:
        notes.print("Stopped before the end: these are the best topics so far.")
        raise SystemExit(INTERRUPTED)
    if stream.n_failed_of is not None:
        failed, tried = stream.n_failed_of
        allowed = f"--max-failures allows {stream.options.max_failures:g} %"
        notes.print(f"Warning: {failed:,} of {tried:,} could not be read ({allowed})")
        raise SystemExit(1)


def show(found: door.Topics, console: Console, seconds: float, *, demo: bool) -> None:
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
        label = Text.assemble((DOT.join(head), "bold"), *(DOT + word for word in rest))
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
