"""From the options to a corpus, and a word about what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from typing import Any

from rich.text import Text

from topiarist.app.cli.options import Common, CountOptions
from topiarist.app.cli.terminal.console import Console
from topiarist.app.cli.terminal.failures import INTERRUPTED
from topiarist.app.cli.terminal.printing import counted, one_line
from topiarist.collection.grow.recipe import AUTO, Recipe
from topiarist.counts.corpus import Corpus
from topiarist.counts.settings import CountSettings
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document, Problem
from topiarist.text.language import SAMPLE, Language, detect_language, language_code
from topiarist.text.readers import Columns, Counts, read

PROBLEMS_SHOWN = 5


@dataclass(frozen=True)
class Collected:
    """The corpus, and what reading said: nothing about the bundled collection."""

    corpus: Corpus
    counts: Counts | None = None
    problems: list[Problem] = field(default_factory=list)


def collect(common: Common, notes: Console) -> Collected:
    """Read and count, saying so."""
    collected = _read(common, notes)
    corpus, least = collected.corpus, common.counting.min_documents
    tokens = counted(corpus.n_tokens, "word")
    notes.print(f"  {tokens}, {corpus.n_words:,} different (in at least {counted(least, 'document')})")
    return collected


def leave(collected: Collected, common: Common, *, interrupted: str = "") -> None:
    """Say what was left out, and leave with the exit code that says the same."""
    notes = Console(stderr=True)
    _tell_problems(collected.problems, notes)
    if interrupted:
        notes.print(f"Stopped before the end: {interrupted}.")
        raise SystemExit(INTERRUPTED)
    counts = collected.counts
    if counts is not None and counts.failed > common.reading.max_failures / 100 * max(1, counts.failed + counts.read):
        allowed = f"--max-failures allows {common.reading.max_failures:g} %"
        notes.print(f"Warning: {counts.failed:,} of {counts.failed + counts.read:,} could not be read ({allowed})")
        raise SystemExit(1)


def _read(common: Common, notes: Console) -> Collected:
    reading = common.reading
    if reading.is_demo:
        notes.print("Reading the demonstration collection: abstracts of arXiv, 2014")
        return Collected(_counted_corpus(islice(demo_documents(), reading.limit), common, notes))
    notes.print(Text(f"Reading {', '.join(map(one_line, reading.sources))}"))
    columns = Columns(text=reading.text_column, title=reading.title_column, id=reading.id_column)
    with read(
        reading.sources, columns, include=reading.include, exclude=reading.exclude, limit=reading.limit
    ) as stream:
        corpus = _counted_corpus(stream, common, notes)
        notes.print(f"  {stream.counts}")
        return Collected(corpus, stream.counts, stream.problems)


def _counted_corpus(documents: Iterable[Document], common: Common, notes: Console) -> Corpus:
    with notes.status("  0 documents") as status:
        language, everything = _language(_passing(documents, status), common.counting.language)
        settings = _settings(common.counting, language)
        corpus = Corpus.from_documents(everything, settings, keep_texts=False, n_jobs=common.threads)
    notes.print(f"  {counted(corpus.n_docs, 'document')}{_in_language(language)}")
    return corpus


def _passing(documents: Iterable[Document], status: Any) -> Iterator[Document]:
    for number, document in enumerate(documents, 1):
        if number % 200 == 0:
            status.update(f"  {number:,} documents")
        yield document


def _language(documents: Iterator[Document], given: str) -> tuple[Language, Iterator[Document]]:
    """The language as it was given, or that of the first documents; and all documents."""
    if given != AUTO:
        return Language(language_code(given), 1.0, 0), documents
    first = list(islice(documents, SAMPLE))
    return detect_language(document.text for document in first), chain(first, documents)


def _in_language(language: Language) -> str:
    if not language.judged:
        return ""
    return f", {language.name.title()} ({language.share:.0%} of {language.judged} looked at)"


def _settings(counting: CountOptions, language: Language) -> CountSettings:
    return Recipe(**asdict(counting)).counting(language)


def _tell_problems(problems: list[Problem], notes: Console) -> None:
    if not problems:
        return
    notes.print(f"\nLeft out ({len(problems):,}):", highlight=False)
    for problem in problems[:PROBLEMS_SHOWN]:
        notes.print(Text(f"  {one_line(problem.source)}: {one_line(problem.reason)}"))
    if len(problems) > PROBLEMS_SHOWN:
        notes.print(f"  and {len(problems) - PROBLEMS_SHOWN:,} more")
