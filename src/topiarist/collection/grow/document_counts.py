"""Inspect and count stages of a grow: languages, repeated lines, counts, general words and duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.collection import contents
from topiarist.collection.contents import Counting
from topiarist.collection.copies import make_text_reader, save_duplicates
from topiarist.collection.describe.collection_facts import TABLE_COLUMNS, describe_columns
from topiarist.collection.describe.flat_topics import set_general_words_aside
from topiarist.collection.grow import language_trees
from topiarist.collection.grow.exclusions import (
    COPIES,
    REPEATED,
    RepeatedLineFilter,
    describe_duplicates,
    describe_repeated_lines,
)
from topiarist.collection.grow.made_with import MADE_WITH
from topiarist.collection.grow.recipe import ONE, Recipe
from topiarist.collection.grow.sources import SourceReading
from topiarist.collection.grow.state import GrowState
from topiarist.collection.state import COUNTS, MINIMA
from topiarist.counts.corpus import Corpus, LookupSequence, build_counted_text
from topiarist.counts.counting import tokenise_texts
from topiarist.counts.duplicates import N_HASHES, find_duplicates
from topiarist.counts.languages import Languages, detect_languages
from topiarist.counts.scratch import ScratchArray
from topiarist.counts.settings import CountSettings
from topiarist.storage import edit_log, facts
from topiarist.storage.column_table import ColumnTable
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Generation, new_part
from topiarist.text.fields import ALL
from topiarist.text.language import (
    AUTO,
    LANGUAGE,
    LANGUAGE_COLUMN,
    SAMPLE,
    Language,
    describe_languages,
    detect_language,
    language_name,
)
from topiarist.text.repeated import Repeated
from topiarist.text.segmenters import get_extra

READ, READ_MINIMA = "read", "read_minima"  # settings: the parts of a grow that has read and counted everything
CHUNK = 200  # documents between two progress events


@dataclass(frozen=True)
class Inspection:
    """Decisions that precede the count: the language, the settings of counting, and the repeated lines."""

    language: Language
    settings: CountSettings
    repeated: Repeated


def inspect_documents(state: GrowState, reading: SourceReading) -> Inspection:
    """Return the main language, the counting rules and the repeated lines of the stored documents."""
    recipe, reporter, documents = state.recipe, state.options.reporter, Documents(state.database)
    reporter.show_detail("lines that many documents share")
    language = find_main_language(recipe, documents, reading.language)
    repeated = reading.lines.find_repeated(lambda rows: [document.text for document in documents.load_many(rows)])
    return Inspection(language, recipe.counting(language), repeated)


def find_main_language(recipe: Recipe, documents: Documents, first: Language) -> Language:
    """Return the language of a sample of all documents, or ``first`` if it is fixed or none is detected."""
    if recipe.language != AUTO or recipe.languages == ONE or len(documents) <= SAMPLE:
        return first
    rows = range(0, len(documents), -(-len(documents) // SAMPLE))
    language = detect_language([document.text for document in documents.load_many(rows)])
    return language if language.code else first


def count_documents(state: GrowState, reading: SourceReading, inspection: Inspection) -> None:
    """Count the documents and find duplicates; afterwards a grow can be resumed without its sources."""
    generation, database, reporter = state.generation, state.database, state.options.reporter
    documents = Documents(database)
    lines = RepeatedLineFilter(inspection.repeated, keep=state.recipe.keep_repeated)
    corpus, languages, signatures = _count_texts(state, reading, inspection, lines)
    repeated = Repeated() if lines.keep else inspection.repeated
    if sentence := describe_repeated_lines(lines.facts, reading.unit):
        reporter.add_note(sentence)
    for sentence in describe_columns(database, reading.facts[TABLE_COLUMNS]):
        reporter.add_note(sentence)
    for sentence in describe_words(state.recipe, corpus, inspection.language, languages):
        reporter.add_note(sentence)
    n_docs = corpus.n_docs
    count_facts: dict[str, Any] = {"n_tokens": corpus.n_tokens, "n_words": corpus.n_words}
    language_words = language_trees.find_language_words(corpus.counts, languages)
    reporter.show_detail("writing the counts")
    special, general = set_general_words_aside(corpus, language_words if language_words.any() else None, state.scratch)
    counting = Counting(special.vocabulary, special.settings, general, repeated)
    with new_part(generation, COUNTS) as counts:
        contents.write_rows(counts.folder, COUNTS, special.counts)
        contents.write_counting(counts.folder, counting)
        contents.write_languages(counts.folder, languages)
    del special, corpus  # later stages map the counts
    minima = contents.write_part(generation, MINIMA, signatures.array())
    reporter.show_detail("copies, and texts that are nearly the same")
    stored_minima = contents.read_rows(generation.folder / minima.name, MINIMA)
    duplicates = find_duplicates(stored_minima, make_text_reader(documents, counting))
    if len(duplicates):
        reporter.add_note(describe_duplicates(len(duplicates), duplicates.n_originals, reading.unit))
    count_facts |= {
        "language": inspection.language.code,
        "languages": dict(zip(languages.codes, languages.sizes, strict=True)),
        "languages_unknown": languages.n_unknown,
        MADE_WITH: {**state.settings[MADE_WITH], "documents": n_docs},
        REPEATED: lines.facts,
        COPIES: {"copies": len(duplicates), "originals": duplicates.n_originals},
    }
    reporter.show_detail(f"{n_docs:,} documents")
    with database.transaction():
        save_duplicates(database, duplicates)
        facts.add_languages(database, ((row, languages.of(row)) for row in range(n_docs)))
        count_facts[LANGUAGE_COLUMN] = _add_language_column(state.recipe, generation, languages)
        edit_log.keep(database, [counts.part, minima])
        facts.add_problems(database, reading.problems)
        if reading.removed:
            facts.add_removed_digests(database, reading.removed)
        parts = {READ: counts.name, READ_MINIMA: minima.name}
        facts.change_settings(database, {**state.settings, **reading.facts, **count_facts, **parts})


def _count_texts(
    state: GrowState, reading: SourceReading, inspection: Inspection, lines: RepeatedLineFilter
) -> tuple[Corpus, Languages, ScratchArray]:
    """Return the counts, the language and the signature of each document; every text is tokenised once."""
    settings, scratch = inspection.settings, state.scratch
    signatures = ScratchArray(scratch, np.uint32, (N_HASHES,))

    def iter_texts() -> Iterator[str]:
        for number, document in enumerate(lines.iter_documents(Documents(state.database))):
            if number % CHUNK == 0:
                state.options.reporter.show_detail(f"counting the words of {number:,} documents")
            yield build_counted_text(document, settings.titles)

    texts = tokenise_texts(iter_texts(), settings, n_jobs=state.options.jobs, minima=signatures, scratch=scratch)
    languages = None
    if settings.stop_words is not None:  # function words on a stop list still tell the language
        counts, vocabulary = texts.count(replace(settings, stop_words=None, phrases=None), np.float32)
        languages = detect_languages(counts, vocabulary.words, reading.scripts)
        del counts
    counts, vocabulary = texts.count(settings, np.float32)
    del texts
    if languages is None:
        languages = detect_languages(counts, vocabulary.words, reading.scripts)
    corpus = Corpus(LookupSequence.numbers(counts.shape[0]), counts, vocabulary, settings=settings)
    return corpus, languages, signatures


def describe_words(recipe: Recipe, corpus: Corpus, language: Language, languages: Languages) -> Iterator[str]:
    """Yield the languages with their documents and the numbers of words, in sentences."""
    start = "" if recipe.language == AUTO else f"Taken as {language.name.title()}, as asked for. "
    if languages.codes:
        start += f"{describe_languages(languages.codes, languages.sizes, languages.n_unknown)}. "
    fewest = corpus.settings.min_document_count(corpus.n_docs)
    rare = f", with at least {fewest:,} documents" if fewest > corpus.settings.min_documents else ""
    yield f"{start}{corpus.n_tokens:,} words, {corpus.n_words:,} different ones kept{rare}"
    extra = get_extra(language.code)
    if extra and not corpus.settings.segmenter:
        yield (
            f"{language.name.title()} has no spaces between words: pairs of letters are counted in their place;"
            f" pip install 'topiarist[{extra}]' and grow again to have words"
        )


def _add_language_column(recipe: Recipe, generation: Generation, languages: Languages) -> bool:
    """Store the language of each document as a column if there are several; return whether it was stored."""
    if len(languages.codes) < 2 or recipe.columns != ALL:
        return False
    names = [language_name(code) for code in languages.codes]
    cells = ((row, names[place]) for row, place in enumerate(languages.places.tolist()) if place >= 0)
    return ColumnTable(generation.database).add_category(LANGUAGE, cells)
