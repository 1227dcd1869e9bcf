"""Command ``topiarist topics``: find and print flat topics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from topiarist.cli.options import examples, option, setting
from topiarist.cli.source_stream import MORE_SETTINGS, SourceOptions, Stream
from topiarist.cli.terminal.console import Console, print_json, typed_command
from topiarist.cli.terminal.failures import INTERRUPTED_EXIT
from topiarist.display.formats import DOT, and_more, count_noun, one_line
from topiarist.text.documents import Document
from topiarist.text.language import detect_or_parse_language

if TYPE_CHECKING:
    from topiarist.collection.describe.flat_topics import Topics
    from topiarist.counts.corpus import Corpus

EPILOG = examples(
    "topiarist topics demo",
    "TOPIARIST_STOP_WORDS=en topiarist topics ./mail --topics 30",
    "topiarist topics tickets.csv --text-column description --json > topics.json",
    "zcat news.jsonl.gz | topiarist topics -",
    MORE_SETTINGS,
)
WRITES = ()
GENERAL_WORDS_SHOWN, PROBLEMS_SHOWN = 20, 5
ROOMY = 120  # columns of a terminal from which on there is space for a document beside the words


@dataclass(frozen=True, kw_only=True)
class Options(SourceOptions):
    """Find flat topics and print them."""

    topics: int = option(20, "Number of topics.", "--topics", "-k", metavar="N", min=1)
    words: int = setting(8, "Number of words to print for each topic.", min=2, max=100)


def run(options: Options) -> None:
    """Read documents, fit flat topics and print them. Exit with a code if the run stopped or files failed."""
    from topiarist.collection.describe.flat_topics import find_topics
    from topiarist.estimators.common.options import working_dtype
    from topiarist.models.engine.compilation import prepare_kernels

    notes = Console(stderr=True, quiet=options.quiet)
    began = time.perf_counter()
    stream = Stream(options)
    corpus = _count_documents(stream, options, notes)
    prepare_kernels(working_dtype(None, corpus.counts, options.topics), notice=lambda text: notes.print(f"  {text} …"))
    draws = not options.quiet and notes.is_terminal
    if not draws:
        notes.print(f"Fitting {options.topics} topics …")
    topics = find_topics(
        corpus, options.topics, n_words=options.words, seed=options.seed, n_threads=options.threads, verbose=draws
    )
    seconds = time.perf_counter() - began
    if options.json:
        body = asdict(topics) | {"coherence": topics.coherence, "seconds": round(seconds, 3)}
        print_json(body | ({} if stream.counts is None else {"reading": asdict(stream.counts)}), allow_nan=True)
    else:
        show(topics, Console(), seconds, demo=options.is_demo)
    _exit_without_topics(stream, is_interrupted=topics.stopped == "interrupted")


def _count_documents(stream: Stream, options: Options, notes: Console) -> Corpus:
    """Read and count the documents with progress on standard error. Close the stream."""
    from topiarist.counts.corpus import Corpus

    title = "the demonstration collection: abstracts of arXiv, 2014"
    notes.print(Text(f"Reading {title if options.is_demo else ', '.join(map(one_line, options.shown_sources))}"))
    recipe = options.recipe()
    try:
        with notes.status("  0 documents") as status:
            language, documents = detect_or_parse_language(
                _watch_documents(stream.documents(), status), recipe.language
            )
            corpus = Corpus.from_documents(
                documents, recipe.counting(language), keep_texts=False, n_jobs=options.threads
            )
        sample = f", {language.name.title()} ({language.share:.0%} of {language.n_judged} looked at)"
        notes.print(f"  {count_noun(corpus.n_docs, 'document')}{sample if language.n_judged else ''}")
        if stream.counts is not None:
            notes.print(f"  {stream.counts}")
    finally:
        stream.close()
    min_documents = count_noun(corpus.settings.min_document_count(corpus.n_docs), "document")
    notes.print(f"  {count_noun(corpus.n_tokens, 'word')}, {corpus.n_words:,} different (in at least {min_documents})")
    return corpus


def _watch_documents(documents: Iterator[Document], status: Any) -> Iterator[Document]:
    """Yield the documents unchanged, and show their number every 200."""
    for number, document in enumerate(documents, 1):
        if number % 200 == 0:
            status.update(f"  {number:,} documents")
        yield document


def _exit_without_topics(stream: Stream, *, is_interrupted: bool) -> None:
    """Print skipped files. Exit if the fit was interrupted or too many files failed."""
    notes, problems = Console(stderr=True), stream.problems
    if problems:
        notes.print(f"\nLeft out ({len(problems):,}):", highlight=False)
    for problem in problems[:PROBLEMS_SHOWN]:
        notes.print(Text(f"  {one_line(problem.source)}: {one_line(problem.reason)}"))
    if len(problems) > PROBLEMS_SHOWN:
        notes.print(f"  {and_more(problems, PROBLEMS_SHOWN)}")
    if is_interrupted:
        notes.print("Stopped before the end: these are the best topics so far.")
        raise SystemExit(INTERRUPTED_EXIT)
    if stream.n_failed_of is not None:
        failed, n_tried = stream.n_failed_of
        allowed = f"max-failures allows {stream.options.max_failures:g}%"
        notes.print(f"Warning: {failed:,} of {n_tried:,} could not be read ({allowed})")
        raise SystemExit(1)


def show(topics: Topics, console: Console, seconds: float, *, demo: bool) -> None:
    """Print the topics as a table, then general words, figures and the next command."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("topic", ratio=3)
    if roomy := console.width >= ROOMY:
        table.add_column("typical document", style="dim", ratio=2, no_wrap=True, overflow="ellipsis")
    largest = max(topic.share for topic in topics.topics)
    general = [topic for topic in topics.topics if topic.general]
    for topic in topics.topics:
        if not topic.general:
            label = Text.assemble((DOT.join(topic.words[:3]), "bold"), *(DOT + word for word in topic.words[3:]))
            share_bar = Text("▇" * max(1, round(8 * topic.share / largest)), style="green")
            document = [Text(one_line(topic.documents[0]))] if roomy else []
            table.add_row(f"{topic.share:.1%}", share_bar, label, *document)
    console.print()
    console.print(table)
    console.print()
    for words in (topics.general_words, *(topic.words for topic in general)):
        if words:
            console.print(Text(f"General language: {' '.join(words[:GENERAL_WORDS_SHOWN])}", style="dim"))
    console.print(
        f"{len(topics.topics)} topics{f', {len(general)} of them general,' if general else ''} "
        f"in {topics.n_docs:,} documents · coherence {topics.coherence:.2f} · diversity {topics.diversity:.2f} · "
        f"{topics.steps} steps ({topics.stopped.replace('_', ' ')}) · {seconds:.1f} s",
        highlight=False,
    )
    command = typed_command()
    following = f"{command} topics YOUR-FOLDER --topics 30" if demo else f"{command} topics --help"
    console.print(f"\nNext: {following}", highlight=False)
