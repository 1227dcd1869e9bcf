"""Account of a collection: documents that were read, skipped, repeated, duplicated or undated."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.collection.copies import list_duplicates
from topiarist.collection.describe.collection_facts import language_sizes
from topiarist.collection.describe.tables import write_spreadsheet
from topiarist.collection.describe.topic_tree import MIN_DOCUMENTS_TO_EVALUATE
from topiarist.collection.document_vectors import has_word_vectors
from topiarist.collection.grow.exclusions import find_exclusions
from topiarist.collection.grow.inheritance import describe_excluded
from topiarist.collection.passages import count_documents, count_passages, describe_passages
from topiarist.counts.validation import count_all_tokens
from topiarist.counts.vectors import find_rows_with_vectors
from topiarist.storage import facts
from topiarist.storage.sealed_folder import new_file, translate_write_errors
from topiarist.text.language import LANGUAGE, LANGUAGE_COLUMN, language_name
from topiarist.text.query import NO_VALUE

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

READING = "reading"  # setting: numbers of files and documents that were read, and of skipped ones by reason


@dataclass(frozen=True)
class AccountEntry:
    """Number of the account with its kind, a sentence, and the query that finds the documents, if one exists."""

    what: str
    number: int
    said: str
    query: str = ""


def build_account(collection: Collection) -> tuple[AccountEntry, ...]:
    """Return the account of a collection in its current state, without entries for zero numbers."""
    database, exclusions = collection.generation.database, find_exclusions(collection)
    size = count_documents(collection)
    entries = [AccountEntry("documents", size.documents, str(size))]
    if reading := collection.settings.get(READING):
        entries.append(AccountEntry("read", int(reading["read"]), describe_reading(reading)))
    passages = count_passages(collection)
    if passages["long"]:
        entries.append(AccountEntry("passages", passages["passages"], describe_passages(passages)))
    if problems := facts.n_problems(database):
        noun = "entry" if problems == 1 else "entries"
        entries.append(
            AccountEntry("left_out", problems, f"{problems:,} {noun} of what was left out or not read whole")
        )
    entries += _describe_languages(collection)
    if exclusions.repeated_said:
        entries.append(AccountEntry("repeated", exclusions.repeated_documents, exclusions.repeated_said))
    if exclusions.copies_said:
        sentence = f"{exclusions.copies_said}: each kind is counted once"
        entries.append(AccountEntry("copies", exclusions.n_copies, sentence))
    entries += _describe_dates(collection)
    if removed_ids := facts.removed(database):
        n_passages = sum(removed_ids.values())
        relative_clause = "that was removed" if len(removed_ids) == 1 else "that were removed"
        sentence = describe_excluded(len(removed_ids) - n_passages, n_passages, relative_clause)
        entries.append(AccountEntry("removed", len(removed_ids), f"{sentence} out when it is grown again"))
    entries += _describe_embeddings(collection)
    if (short_texts := find_short_texts(collection)) is not None:
        entries.append(AccountEntry("short", len(collection), short_texts.sentence))
    return tuple(entries)


def _describe_dates(collection: Collection) -> Iterator[AccountEntry]:
    """Yield entries on documents without a date, and with only the date of the file."""
    n_undated, n_unread = collection.dates.count_undated()
    if n_undated and n_undated < len(collection):
        unread_note = f", including {n_unread:,} with an unreadable date" if n_unread else ""
        size = count_documents(collection, collection.documents.undated_rows())
        verb = "has" if n_undated == 1 else "have"
        yield AccountEntry("undated", n_undated, f"{size} {verb} no date{unread_note}", f"date:{NO_VALUE}")
    if file_dated := collection.dates.file_dated_rows():
        size = count_documents(collection, file_dated)
        verb = "has" if size.rows == 1 else "have"
        yield AccountEntry("file_dated", len(file_dated), f"{size} {verb} only the date of the file")


def describe_reading(reading: dict[str, int]) -> str:
    """Return a sentence on the documents that were read and those that were skipped."""
    reasons = {
        "empty": "empty", "no_answer": "with only n/a, none, - or similar", "unknown": "of no known type",
        "failed": "failed", "partial": "not whole", "renamed": "with another id",
    }  # fmt: skip
    skipped_counts = [f"{reading[name]:,} {reason}" for name, reason in reasons.items() if reading.get(name)]
    files = reading.get("files", 0)
    ending = f": {', '.join(skipped_counts)}" if skipped_counts else ""
    return f"{reading['read']:,} read from {files:,} file{'s' * (files != 1)}{ending}"


def _describe_embeddings(collection: Collection) -> list[AccountEntry]:
    """Return an entry on the documents with embeddings; none without embeddings."""
    if collection.vectors is None:
        return []
    number, n_embedded = len(collection), int(np.count_nonzero(find_rows_with_vectors(collection.vectors)))
    origin = " from the bundled word vectors" if has_word_vectors(collection) else ""
    missing_note = f", {number - n_embedded:,} have none and are placed by their words" if n_embedded < number else ""
    return [AccountEntry("vectors", n_embedded, f"{n_embedded:,} documents have a vector{origin}{missing_note}")]


def _describe_languages(collection: Collection) -> Iterator[AccountEntry]:
    """Yield entries on the languages of documents and on excluded languages."""
    sizes, n_undetected = language_sizes(collection)
    has_column, noun = bool(collection.settings.get(LANGUAGE_COLUMN)), count_documents(collection)

    def make_entry(number: int, clause: str, value: str) -> AccountEntry:
        passages = f" passage{'s' * (number != 1)}" if noun.cut else ""
        return AccountEntry("language", number, f"{number:,}{passages} {clause}", f"{LANGUAGE}:{value}" * has_column)

    for name, size in sizes.items():
        yield make_entry(size, f"in {name}", f'"{name}"')
    if n_undetected and sizes:
        yield make_entry(n_undetected, "too short or too mixed to detect the language", NO_VALUE)
    for code, number in (collection.settings.get("languages_left_out") or {}).items():
        yield AccountEntry("language", int(number), f"{number:,} in {language_name(code)}, left out")


MIN_MEAN_WORDS = 15.0  # counted words of a document, on average: longer documents are never called short
MIN_GAIN = 3.0  # nats that the tree must gain for a document; with less, documents are reported as too short


@dataclass(frozen=True)
class ShortTexts:
    """Mean length of too short documents, and the gain in log-likelihood that topics bring to a document."""

    words: float
    gain: float  # nats per document, on held-out words

    @property
    def sentence(self) -> str:
        """Sentence on texts that are too short for topics from words alone."""
        times = math.exp(self.gain)
        times_text = f"{times:.1f}" if times < 10 else f"{times:.0f}"
        return (
            f"The documents are too short for reliable topics from words alone: {self.words:.1f} counted words on average."
            f" A topic makes the words of a document {times_text} times as likely, and reliable topics need"
            f" {math.exp(MIN_GAIN):.0f} times. Embeddings would help: grow with --encoder, --embed or --vectors"
        )


def find_short_texts(collection: Collection) -> ShortTexts | None:
    """Return the measures of too short documents; None for longer ones, with embeddings or without a curve."""
    tree = collection.tree
    if collection.vectors is not None or tree.curve is None or tree.n_docs < MIN_DOCUMENTS_TO_EVALUATE:
        return None
    curve, n_docs = tree.curve, len(collection)
    if int(curve.n_leaves[0]) != 1:
        return None
    words = count_all_tokens(collection.counts) / max(n_docs, 1)
    gain = words * math.log(float(curve.perplexity[0]) / float(curve.perplexity[curve.place]))
    return ShortTexts(words, max(gain, 0.0)) if words < MIN_MEAN_WORDS and gain < MIN_GAIN else None


PROBLEMS, ACCOUNT = "problems.csv", "(collection)"  # the table, and the source in its last rows
HEADER = ("source", "reason")


def write_problem_list(collection: Collection) -> None:
    """Write the table of problems into the folder; delete it if there are no problems."""
    path = collection.folder.path / PROBLEMS
    problems = [(entry.source, entry.reason) for entry in facts.problems(collection.generation.database)]
    uncounted_rows = list(_iter_uncounted(collection))
    if not problems and not uncounted_rows:
        path.unlink(missing_ok=True)
        return
    account = [(ACCOUNT, entry.said) for entry in build_account(collection)]
    with translate_write_errors(f"{collection.folder.display_path}/{PROBLEMS}"), new_file(path, sync=True) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        write_spreadsheet(text, HEADER, [*problems, *uncounted_rows, *account])
        text.detach()


def _iter_uncounted(collection: Collection) -> Iterator[tuple[str, str]]:
    """Yield each repeated line and each duplicate id, with the reason why it is not counted."""
    noun = count_documents(collection).noun
    for line, number in find_exclusions(collection).lines:
        yield line, f"a line of {number:,} {noun}{'s' * (number != 1)}, not counted"
    for duplicates in list_duplicates(collection, collection.copies):
        for copy in duplicates.copies:
            kind = "a copy" if copy.exact else f"a near-copy ({copy.shared:.0%} of the words)"
            yield copy.id, f"{kind} of {duplicates.id}, counted once"
