"""``topiarist topics``: what is this collection about?"""

from __future__ import annotations

import json as json_format
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from topiarist.app.cli.failures import INTERRUPTED
from topiarist.counts.corpus import Corpus
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.errors import UsageError
from topiarist.tasks.options import working_dtype
from topiarist.tasks.progress import prepare_kernels
from topiarist.tasks.topics import Topics, find_topics
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document, Problem
from topiarist.text.language import SAMPLE, Language, detect_language
from topiarist.text.readers import Columns, Counts, read
from topiarist.text.stems import has_stemmer
from topiarist.text.stop_words import has_stop_words, stop_words_from_file

DEMO = "demo"
PROBLEMS_SHOWN = 5
GENERAL_WORDS_SHOWN = 20
ROOMY = 120  # columns of a terminal from which on there is space for a document beside the words


@dataclass(frozen=True)
class ReadOptions:
    """What to read."""

    sources: tuple[str, ...]
    text_column: str | None = None
    title_column: str | None = None
    id_column: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    limit: int | None = None
    max_failures: float = 5.0

    @property
    def is_demo(self) -> bool:
        """The bundled collection, unless there is a folder of that name."""
        return self.sources == (DEMO,) and not os.path.exists(DEMO)


@dataclass(frozen=True)
class CountOptions:
    """What to count."""

    stop_words: str = "none"
    stem: str | None = None
    phrases: bool = False
    numbers: bool = False
    min_documents: int = 3


@dataclass(frozen=True)
class FitOptions:
    """What to find."""

    topics: int = 20
    words: int = 8
    seed: int = 0
    threads: int | None = None


def run(reading: ReadOptions, counting: CountOptions, fitting: FitOptions, *, json: bool, quiet: bool) -> None:
    """Read, count, fit, print."""
    notes = Console(stderr=True, quiet=quiet)
    began = time.perf_counter()
    corpus, counts, problems = _read(reading, counting, fitting, notes)
    least = counting.min_documents
    notes.print(f"  {corpus.n_tokens:,} words, {corpus.n_words:,} different ones (in at least {least} documents)")
    prepare_kernels(working_dtype(None, corpus.counts, fitting.topics), lambda text: notes.print(f"  {text} …"))
    draws = not quiet and notes.is_terminal
    if not draws:
        notes.print(f"Fitting {fitting.topics} topics …")
    found = find_topics(
        corpus,
        fitting.topics,
        n_words=fitting.words,
        seed=fitting.seed,
        n_threads=fitting.threads,
        verbose=draws,
    )
    seconds = time.perf_counter() - began
    if json:
        print(json_format.dumps(_as_json(found, counts, seconds), indent=2, ensure_ascii=not _speaks_unicode()))
    else:
        show(found, Console(), seconds, demo=reading.is_demo)
    _tell_problems(problems, Console(stderr=True))
    if found.stopped == "interrupted":
        Console(stderr=True).print("Stopped before the end: these are the best topics so far.")
        raise SystemExit(INTERRUPTED)
    if counts is not None and counts.failed > reading.max_failures / 100 * max(1, counts.failed + counts.read):
        raise SystemExit(1)


def _read(
    reading: ReadOptions, counting: CountOptions, fitting: FitOptions, notes: Console
) -> tuple[Corpus, Counts | None, list[Problem]]:
    if reading.is_demo:
        notes.print("Reading the demonstration collection: abstracts of arXiv, 2014")
        corpus = _counted_corpus(islice(demo_documents(), reading.limit), counting, fitting, notes)
        return corpus, None, []
    notes.print(f"Reading {', '.join(reading.sources)}", highlight=False)
    columns = Columns(text=reading.text_column, title=reading.title_column, id=reading.id_column)
    with read(
        reading.sources, columns, include=reading.include, exclude=reading.exclude, limit=reading.limit
    ) as stream:
        corpus = _counted_corpus(stream, counting, fitting, notes)
        notes.print(f"  {stream.counts}")
        return corpus, stream.counts, stream.problems


def _counted_corpus(
    documents: Iterable[Document], counting: CountOptions, fitting: FitOptions, notes: Console
) -> Corpus:
    with notes.status("  0 documents") as status:
        language, everything = _language(_counted(documents, status))
        settings = _settings(counting, language)
        corpus = Corpus.from_documents(everything, settings, keep_texts=False, n_jobs=fitting.threads)
    notes.print(f"  {corpus.n_docs:,} documents{_in_language(language)}")
    return corpus


def _counted(documents: Iterable[Document], status: Any) -> Iterator[Document]:
    for number, document in enumerate(documents, 1):
        if number % 200 == 0:
            status.update(f"  {number:,} documents")
        yield document


def _language(documents: Iterator[Document]) -> tuple[Language, Iterator[Document]]:
    """The language of the first documents, and all documents."""
    first = list(islice(documents, SAMPLE))
    return detect_language(document.text for document in first), chain(first, documents)


def _in_language(language: Language) -> str:
    if not language.judged:
        return ""
    return f", {language.name.title()} ({language.share:.0%} of {language.judged} looked at)"


def _settings(counting: CountOptions, language: Language) -> CountSettings:
    stop_words: str | tuple[str, ...] | None = counting.stop_words
    if stop_words == "none":
        stop_words = None
    elif stop_words == "auto":
        stop_words = language.code if has_stop_words(language.code) else None
    elif Path(counting.stop_words).is_file():
        stop_words = tuple(stop_words_from_file(counting.stop_words))
    elif os.sep in counting.stop_words or "." in counting.stop_words:
        raise UsageError(
            f"there is no file of stop words at {counting.stop_words}",
            hint="none, auto, a language such as en, or a file",
        )
    stem = counting.stem
    if stem == "auto":
        stem = language.code if has_stemmer(language.code) else None
    return CountSettings(
        min_documents=counting.min_documents,
        numbers=counting.numbers,
        stop_words=stop_words,
        stem=stem,
        phrases=PhraseSettings() if counting.phrases else None,
    )


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
        table.add_row(*cells, *([Text(_one_line(topic.documents[0]))] if roomy else []))
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
    typed = sys.argv[0]  # as it can be typed again: a path where the program is not on the search path
    command = typed if os.path.basename(typed) == "topiarist" else "topiarist"
    following = f"{command} topics YOUR-FOLDER --topics 30" if demo else f"{command} topics --help"
    console.print(f"\nNext: {following}", highlight=False)


def _one_line(text: str) -> str:
    """A title without line breaks or control characters: what a file says must not move the cursor."""
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _as_json(found: Topics, counts: Counts | None, seconds: float) -> dict[str, Any]:
    record = asdict(found) | {"coherence": found.coherence, "seconds": round(seconds, 3)}
    if counts is not None:
        record["reading"] = asdict(counts)
    return record


def _tell_problems(problems: list[Problem], notes: Console) -> None:
    if not problems:
        return
    notes.print(f"\nLeft out ({len(problems):,}):", highlight=False)
    for problem in problems[:PROBLEMS_SHOWN]:
        notes.print(Text(f"  {_one_line(problem.source)}: {_one_line(problem.reason)}"))
    if len(problems) > PROBLEMS_SHOWN:
        notes.print(f"  and {len(problems) - PROBLEMS_SHOWN:,} more")
