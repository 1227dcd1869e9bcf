"""Read stage of a grow: documents go to the database; languages and lines are noted in the same pass."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import IO, Any

from topiarist.collection.describe.account import READING
from topiarist.collection.describe.collection_facts import TABLE_COLUMNS, summarise_tables
from topiarist.collection.grow import inheritance
from topiarist.collection.grow.allowed_folders import PLACES
from topiarist.collection.grow.read_as_grown import READ_WITH, get_reading_settings
from topiarist.collection.grow.recipe import ONE, Recipe
from topiarist.collection.grow.state import GrowState
from topiarist.collection.passages import PASSAGES, describe_passages
from topiarist.counts.languages import ScriptLanguages
from topiarist.errors import InputError
from topiarist.plurals import count_noun
from topiarist.progress import ProgressReporter
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Generation
from topiarist.text.documents import Document, Problem, as_documents
from topiarist.text.language import (
    AUTO,
    Language,
    LanguageCounts,
    detect_or_parse_language,
    detect_text_language,
    language_name,
)
from topiarist.text.passages import PassageSplitter
from topiarist.text.readers import Reading, read
from topiarist.text.readers.file_systems import is_url, remove_secret
from topiarist.text.repeated import LineCounter
from topiarist.text.titles import add_title


class WaitingDocuments:
    """Documents in a file, and the number of documents in each language."""

    def __init__(self, file: IO[str], documents: Iterable[Document]) -> None:
        self.file, self.tally = file, LanguageCounts()
        for document in documents:
            code = detect_text_language(document.text)
            self.tally.add(code, document.text)
            file.write(json.dumps([code, asdict(document)]) + "\n")

    @property
    def language(self) -> Language:
        """Language of most documents."""
        return self.tally.most_frequent

    @property
    def tie_note(self) -> str:
        """Sentence on languages with equally many documents and the reason for the choice; empty without a tie."""
        tied = self.tally.ties
        if not tied:
            return ""
        names = " and ".join(map(language_name, sorted(tied)))
        documents, chosen_name = count_noun(self.tally.texts[tied[0]], "document"), language_name(self.language.code)
        letters = sorted(self.tally.letters[code] for code in tied)
        reason = "has more text" if letters[-1] > letters[-2] else "came first and none has more text"
        return f'{names} have {documents} each; {chosen_name} is taken, for it {reason} (language = "CODE"). '

    def __iter__(self) -> Iterator[tuple[str, Document]]:
        self.file.seek(0)
        for line in self.file:
            code, body = json.loads(line)
            columns = tuple((name, value) for name, value in body.pop("columns"))
            yield code, Document(**{**body, "labels": tuple(body["labels"])}, columns=columns)


@contextmanager
def collect_documents(documents: Iterable[Document], folder: Path) -> Iterator[WaitingDocuments]:
    """Collect all documents in an unnamed file of a folder."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", dir=folder) as file:
        yield WaitingDocuments(file, documents)


def add_languages(documents: Iterable[Document]) -> Iterator[tuple[str, Document]]:
    """Yield documents with the language of each."""
    return ((detect_text_language(document.text), document) for document in documents)


@dataclass
class OtherLanguages:
    """Documents in other languages than the main one, which are excluded; short texts without a language stay."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    tie_note: str = ""

    def exclude(self, documents: Iterable[tuple[str, Document]], code: str) -> Iterator[Document]:
        """Yield the documents in the language ``code``; count the others and note each as a problem."""
        for language, document in documents:
            if not language or not code or language == code:
                yield document
                continue
            self.counts[language] += 1
            problem = f'in {language_name(language)}: left out by languages = "one"'
            self.problems.append(Problem(document.id, problem))

    def describe(self, code: str) -> str:
        """Return the numbers of excluded documents in a sentence; empty without any."""
        number = self.counts.total()
        if not number:
            return ""
        languages = ", ".join(f"{language_name(other)} {size:,}" for other, size in self.counts.most_common())
        subject = count_noun(number, "document is", "documents are")
        return f"{self.tie_note}{subject} not in {language_name(code)} and left out: {languages}"


REPORT_INTERVAL = 200  # documents between two progress events


@dataclass(frozen=True)
class SourceReading:
    """Documents in the database, and what their only pass through memory found.

    ``language`` is that of the first documents. ``removed`` are digests of documents that users removed.
    """

    language: Language
    lines: LineCounter
    scripts: ScriptLanguages
    problems: tuple[Problem, ...]
    removed: dict[str, bool]
    facts: dict[str, Any]  # settings of the collection
    unit: str  # document or passage


def read_sources(state: GrowState, source: Any) -> SourceReading:
    """Read the sources into the database, in place of earlier documents; note language, lines and problems."""
    recipe, generation, reporter = state.recipe, state.generation, state.options.reporter
    stored = Documents(generation.database)
    stored.clear()  # documents of a grow that was killed while it read
    lines, scripts = LineCounter(os.fspath(generation.folder)), ScriptLanguages()
    cutter, others = PassageSplitter(), OtherLanguages()
    reporter.begin_phase("Reading")
    with _open_documents(source) as documents, ExitStack() as stack:
        stack.callback(lines.finish)
        split = cutter.split if recipe.passages else iter
        language, selected = _select_language(recipe, documents, generation, others, stack)
        folder = os.fspath(state.growing.path)
        arriving = inheritance.IncomingDocuments(split(selected), folder, split, state.options.take_removed)
        stream = _note_texts(map(add_title, arriving), lines, scripts, reporter)
        stored.load(stream, index=False, dates=recipe.dates, columns=recipe.columns)
    counts = getattr(documents, "counts", None)
    reporter.add_note(str(counts) if counts is not None else f"{len(stored):,} documents")
    for sentence in filter(None, (others.describe(language.code), describe_passages(cutter.facts), *arriving.messages)):
        reporter.add_note(sentence)
    facts: dict[str, Any] = {
        TABLE_COLUMNS: summarise_tables(getattr(documents, "chosen", {})),
        READ_WITH: get_reading_settings(documents).to_dict(),
        inheritance.N_GROWN: arriving.n_sources,
    }
    facts |= {"languages_left_out": dict(others.counts)} if others.counts else {}
    facts |= {PASSAGES: cutter.facts} if recipe.passages else {}
    facts |= {READING: asdict(counts)} if is_dataclass(counts) and not isinstance(counts, type) else {}
    problems = (*getattr(documents, "problems", ()), *others.problems)
    unit = "passage" if cutter.passages else "document"
    return SourceReading(language, lines, scripts, problems, arriving.removed, facts, unit)


def name_sources(source: Any) -> dict[str, Any]:
    """Return the settings that name the files and folders of a source."""
    if isinstance(source, Reading):
        names = [*source.sources]
    elif isinstance(source, str | os.PathLike):
        names = [os.fspath(source)]
    else:
        return {}
    places = ["" if is_url(name) else os.path.abspath(name) for name in names]
    return {"sources": [*map(remove_secret, names)], PLACES: places}


@contextmanager
def _open_documents(source: Any) -> Iterator[Any]:
    """Yield the documents of a source within a context, which closes opened files."""
    if isinstance(source, Reading):
        with source as documents:
            yield documents
    elif isinstance(source, str | os.PathLike):
        with read([os.fspath(source)]) as documents:
            yield documents
    else:
        yield as_documents(source) if not hasattr(source, "problems") else source


def _select_language(
    recipe: Recipe, documents: Iterable[Document], generation: Generation, others: OtherLanguages, stack: ExitStack
) -> tuple[Language, Iterator[Document]]:
    """Return the detected or chosen language, and the documents to grow; others are noted in ``others``."""
    if recipe.languages != ONE:
        return detect_or_parse_language(iter(documents), recipe.language)
    if recipe.language != AUTO:
        language, selected = detect_or_parse_language(iter(documents), recipe.language)
        return language, others.exclude(add_languages(selected), language.code)
    waiting = stack.enter_context(collect_documents(documents, generation.folder))
    others.tie_note = waiting.tie_note
    return waiting.language, others.exclude(waiting, waiting.language.code)


def _note_texts(
    documents: Iterable[Document], lines: LineCounter, scripts: ScriptLanguages, reporter: ProgressReporter
) -> Iterator[Document]:
    """Yield the documents; note the lines and the script of each text, and report their number."""
    number = 0
    for number, document in enumerate(documents, 1):
        lines.add(document.text)
        scripts.add(document.text)
        if number % REPORT_INTERVAL == 0:
            reporter.show_read(number)
        yield document
    if not number:
        raise InputError("there are no documents", hint="Pass a folder or a file with text.")
    reporter.show_read(number)
