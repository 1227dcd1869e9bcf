"""Erasure of documents: a new generation without their words, and a search for traces in the folder."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Bools
from topiarist.collection import contents
from topiarist.collection.contents import Counting
from topiarist.collection.copies import load_duplicates, select_fitted_rows
from topiarist.collection.grow.fit_description import open_corpus
from topiarist.collection.remove import kept_rows, traces
from topiarist.collection.remove.removal import (
    DIGESTS,
    EarlierRemovals,
    Removal,
    choose_documents,
    compute_digests,
    find_removed,
    list_excluded_ids,
    make_keep_mask,
    preview_removal,
    read_further_texts,
    reducing,
)
from topiarist.collection.remove.traces import Sequences
from topiarist.collection.search import index_part
from topiarist.collection.search.saved_searches import SavedSearch, delete_stale_searches, list_saved_searches
from topiarist.collection.shape.history import FORGET, fit_tree
from topiarist.collection.state import CATEGORIES, COUNTS, FLAT, TREE, State
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import UsageError
from topiarist.plurals import count_noun, list_some, verb
from topiarist.storage import edit_log, facts
from topiarist.storage.collection_folder import GROWING, sweep, sweep_parts
from topiarist.storage.document_table import Documents
from topiarist.storage.marks import PassageNotes
from topiarist.storage.succession import ReducedGeneration, copy_log, copy_tables, copy_whole_part
from topiarist.text.documents import Document, Problem
from topiarist.text.passages import get_parent_id
from topiarist.text.query import parse
from topiarist.text.repeated import Repeated, plain_line
from topiarist.text.tokens import Tokenizer, has_unspaced

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MAX_PLACES = 10  # in a note for the user
BLOCK_ROWS = 2_000  # documents that are read at once
FORGOTTEN_EDIT = "an edit of documents that were forgotten"  # description of a rewritten entry of the log


@dataclass(frozen=True)
class ErasureReport:
    """Result of an erasure: documents, notes for the user and the scan of the folder for traces."""

    removal: Removal
    earlier: EarlierRemovals
    n_words: int  # words that no other document had
    traces: traces.ScanResult
    places: tuple[str, ...]  # places where users wrote words that only these documents had
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data without any word of the documents."""
        return {
            "forgotten": len(self.removal) + len(self.earlier.ids), "removed_before": len(self.earlier.ids),
            "left": self.removal.n_left, "whole_documents": self.removal.extent.complete,
            "said": describe_extent(self.removal, self.earlier), "words": self.n_words, "places": list(self.places),
            "traces": self.traces.left, "shared_sequences": self.traces.shared, "files": self.traces.n_files,
            "bytes": self.traces.n_bytes, "told": list(self.notes),
        }  # fmt: skip


def preview_forgetting(
    collection: Collection, ids: Iterable[str] = (), query: str = ""
) -> tuple[Removal, EarlierRemovals]:
    """Return the documents to erase: present documents, and documents removed earlier."""
    names = list(ids)
    if not names or query:
        rows = choose_documents(collection, names, query)
        names = [document.id for document in collection.documents.load_many(rows, texts=False)]
    earlier = find_removed(collection, names)
    present = [id for id in names if id not in earlier.ids]
    rows = choose_documents(collection, present) if present else []
    return preview_removal(collection, rows), earlier


def describe_extent(removal: Removal, earlier: EarlierRemovals) -> str:
    extents = [str(removal.extent)] if len(removal) else []
    return " and ".join([*extents, *([str(earlier)] if earlier.ids else [])])


def forget_documents(
    collection: Collection, ids: Sequence[str], *, wait: float = 0.0, expected: str | None = None
) -> ErasureReport:
    """Erase documents permanently, including documents removed earlier; earlier edits cannot be undone."""
    notes: list[str] = []
    with reducing(collection, wait, expected) as reduced:
        removal, earlier = preview_forgetting(collection, ids)
        keep = make_keep_mask(collection, removal)
        removed = [*collection.documents.load_many(removal.rows), *earlier.documents]
        texts = [text for document in removed for text in (document.text, document.title, document.id)]
        texts += [*read_further_texts(collection, removal.rows), *earlier.texts, *earlier.ids]
        notes += _copy_database(collection, reduced, removal, earlier, removed, traces.Sequences(texts))
        kept_rows.update_tables(collection, reduced, keep)
        facts.add_removed(reduced.new.database, *list_excluded_ids(collection, removal))
        n_words = _write_parts(collection, reduced, keep, describe_extent(removal, earlier), len(removal))
        if collection.categories is not None:
            notes.append(
                "The categories were learned from these documents too and were deleted. Run topiarist learn again"
            )
        reduced.publish()
        checkpoint = collection.folder.path / GROWING
        if checkpoint.exists():
            shutil.rmtree(checkpoint)
            notes.append("The checkpoint of an unfinished grow was deleted, because it may contain the documents")
        sweep(collection.folder.path, collection.folder.manifest)
    result = traces.scan_folder(collection.folder.path, texts, _iter_remaining_texts(collection))
    places = find_places_of_texts(collection, texts, lambda: _iter_document_texts(collection))
    notes += [
        f"Words deleted from the vocabulary, because no other document has them: {n_words:,}",
        *_describe_places(places, earlier),
        *_describe_traces(result),
    ]
    return ErasureReport(removal, earlier, n_words, result, tuple(places), tuple(notes))


def _copy_database(
    collection: Collection,
    reduced: ReducedGeneration,
    removal: Removal,
    earlier: EarlierRemovals,
    removed: list[Document],
    sequences: traces.Sequences,
) -> Iterator[str]:
    """Copy tables and log without the erased documents; yield sentences on lost searches and edits."""
    old, new = reduced.old.database, reduced.new.database
    copy_tables(old, new, removal.rows)
    copy_log(old, new)
    ids = {*removal.ids, *earlier.ids, *(document.id for document in removed)}
    mentions = Mentions({*ids, *map(get_parent_id, ids), *(document.title for document in removed)}, sequences)
    digests = set(compute_digests(ids))

    def has_mention(body: Any) -> bool:
        return not digests.isdisjoint(body.get(DIGESTS, ())) or has_matching_text(body, mentions.in_text)

    entries = edit_log.rewrite(new, FORGOTTEN_EDIT, has_mention)

    def is_kept(search: SavedSearch) -> bool:
        likes = [like.value for like in parse(search.query).likes]
        return not any(map(mentions.in_text, (search.name, search.query, *likes)))

    searches = delete_stale_searches(new, is_kept)
    notes = PassageNotes(new).take_words_out(mentions.in_text)
    sources_left = set(Documents(new).sources())
    sources = {document.source for document in removed if document.source not in sources_left} | ids
    quoted = [f"“{text[:80]}”" for text in (*collection.dates.only_of(removal.rows).values(), *earlier.dates)]

    def is_kept_problem(problem: Problem) -> bool:
        if problem.source in sources or mentions.in_text(problem.source) or mentions.in_text(problem.reason):
            return False
        return not any(text in problem.reason for text in quoted)

    facts.filter_problems(new, is_kept_problem)
    for number, place in ((entries, "the log"), (notes, "the notes on passages of other documents")):
        if number:
            subject, ending = count_noun(number, "entry", "entries"), verb(number, "was", "were")
            yield f"{subject} of {place} mentioned the documents and {ending} cleared"
    if searches:
        subject, ending = count_noun(searches, "saved search", "saved searches"), verb(searches, "was", "were")
        yield f"{subject} mentioned the documents and {ending} deleted"


def _write_parts(collection: Collection, reduced: ReducedGeneration, keep: Bools, extent: str, n_gone: int) -> int:
    """Write and refit the parts of the remaining documents; return the number of words that are lost."""
    new, shape = reduced.new, kept_rows.drop_pins(collection, keep)
    counting, used = _reduce_counting(collection, reduced, keep)
    next_state = State(shape, {}, int(keep.sum()), collection.state.model)
    next_state, parts = kept_rows.write_rows(collection, reduced, keep, next_state, counting, used)
    counts = contents.read_matrix(new.folder / next_state.pieces(COUNTS)[0])
    corpus = open_corpus(new, counts, counting)
    flat = index_part.write_flat(new, corpus, rows=select_fitted_rows(load_duplicates(new.database), corpus.n_docs))
    tree = copy_whole_part(reduced, collection.state.parts[TREE], TREE)
    next_state, parts = next_state.with_part(TREE, tree.name).with_part(FLAT, flat.name), [*parts, tree, flat]
    settings = kept_rows.change_settings(collection, keep, next_state)
    facts.change_settings(new.database, settings | {kept_rows.STEADINESS: None, "n_words": int(used.sum())})
    body = {"documents": n_gone, "said": extent}
    edit_log.record(new.database, FORGET, body, next_state.to_dict(), parts=parts)
    with type(collection)(collection.folder.at_generation(new.folder.name)) as intermediate:
        state, new_parts, _ = fit_tree(intermediate, new, shape, from_start=True)
    edit_log.replace_last(new.database, state.with_part(CATEGORIES, None).to_dict(), new_parts)
    sweep_parts(new)
    return int((~used).sum())


def _reduce_counting(collection: Collection, reduced: ReducedGeneration, keep: Bools) -> tuple[Counting, Bools]:
    """Return the rules of counting without lost words, and the mask of the words that remain."""
    counting, old = collection.counting, collection.counting.vocabulary
    counts = collection.all_counts[keep]
    frequency = np.bincount(counts.indices[counts.data > 0], minlength=len(old))
    used = frequency > 0
    if not used.any():
        raise UsageError("the remaining documents have no word", hint="Delete the folder of the collection instead.")
    totals = np.asarray(counts.sum(axis=0)).ravel().round().astype(np.int64)
    documents = Documents(reduced.new.database)
    words = index_part.all_words(documents, counting.settings)
    columns = np.flatnonzero(used).tolist()
    vocabulary = Vocabulary(
        tuple(old.words[column] for column in columns), frequency[used], totals[used],
        tuple(tuple(form for form in old.forms[column] if form in words or form == old.words[column])
              for column in columns) if old.forms else (),
        tuple(phrase for phrase in old.phrases if all(word in words for word in phrase.split())),
    )  # fmt: skip
    general = tuple(word for word in counting.general if all(part in words for part in word.split()))
    lines = Repeated(tuple(_count_repeated_lines(documents, counting.repeated)))
    return replace(counting, vocabulary=vocabulary, general=general, repeated=lines, map=None), used


def _count_repeated_lines(documents: Documents, repeated: Repeated) -> Iterator[tuple[str, int]]:
    """Yield the repeated lines that still occur, with their new numbers of documents."""
    forms = repeated.forms
    times: Counter[str] = Counter()
    for document in documents.iterate() if forms else ():
        times.update({plain_line(line) for line in document.text.splitlines()} & forms)
    yield from ((form, times[form]) for form, _ in repeated.lines if times[form])


def _iter_remaining_texts(collection: Collection) -> Iterator[str]:
    """Yield all texts that may be in the folder: remaining documents with their column values, dates and notes."""
    for rows in _iterate_blocks(collection):
        for document in collection.documents.load_many(rows):
            yield from (document.text, document.title, document.id, document.source, *document.labels)
            yield f"{document.title}\n{document.text}"
        yield from read_further_texts(collection, rows)


def _iter_document_texts(collection: Collection) -> Iterator[str]:
    """Yield texts, titles, labels and column values of all documents."""
    for rows in _iterate_blocks(collection):
        for document in collection.documents.load_many(rows):
            yield from (document.text, document.title, *document.labels)
        for cells in collection.columns.of(rows).values():
            yield from (value for values in cells.values() for value in values)


def _iterate_blocks(collection: Collection) -> Iterator[range]:
    return (range(start, min(start + BLOCK_ROWS, len(collection))) for start in range(0, len(collection), BLOCK_ROWS))


def _describe_places(places: Sequence[str], earlier: EarlierRemovals) -> Iterator[str]:
    """Yield notes on words that remain in names, notes or searches, and on texts that could not be searched."""
    if places:
        rest = f" and {len(places) - MAX_PLACES:,} more places"
        yield f"Words that only these documents had remain in {list_some(places, MAX_PLACES, rest=rest)}"
    if earlier.n_unread:
        yield f"No text of {count_noun(earlier.n_unread, 'removed document')} was left to search for its words"


def _describe_traces(result: traces.ScanResult) -> Iterator[str]:
    """Yield a sentence on the traces that remain, or on a scan without traces."""
    shared = f"; {result.shared:,} such sequences also occur in remaining documents" if result.shared else ""
    sequences = f"of {traces.LETTERS} letters from the documents"
    if result:
        where = ", ".join(f"{name} ({number:,})" for name, number in list(result.left.items())[:5])
        yield f"TRACES REMAIN: sequences {sequences} are in {where}{shared}"
    else:
        size = f"{result.n_files:,} files, {result.n_bytes / 1e6:,.1f} MB"
        yield f"Scanned the folder ({size}): no sequence {sequences} remains{shared}"


MIN_NAME_LETTERS = 5  # a shorter name, or one without a letter, may occur anywhere by chance


class Mentions:
    """Search for document names and for long letter sequences of their texts."""

    def __init__(self, names: Iterable[str], sequences: Sequences) -> None:
        self.names, self.sequences = {name.strip().casefold() for name in names} - {""}, sequences
        self.findable_names = [
            name for name in self.names if len(name) >= MIN_NAME_LETTERS and any(map(str.isalpha, name))
        ]

    def in_text(self, text: str) -> bool:
        """Return whether a text mentions an erased id or title, or has a sequence of an erased text."""
        lower_text = text.casefold()
        if lower_text.strip() in self.names or any(
            name in lower_text and _stands_alone(name, lower_text) for name in self.findable_names
        ):
            return True
        return bool(self.sequences.find_in_bytes(text.encode("utf-8", "surrogatepass")))


def has_matching_text(value: Any, matches: Callable[[str], bool]) -> bool:
    """Return whether any text of JSON data matches; keys are matched with a sign appended."""
    if isinstance(value, str):
        return matches(value)
    if isinstance(value, Mapping):
        keys = any(matches(f"{key} …") for key in value)
        return keys or any(has_matching_text(item, matches) for item in value.values())
    return isinstance(value, list | tuple) and any(has_matching_text(item, matches) for item in value)


def _stands_alone(name: str, text: str) -> bool:
    """Return whether a name occurs as separate words; as any substring in scripts without spaces."""
    if has_unspaced(name):
        return True
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


_TOKENS = Tokenizer(numbers=True)


def words_of(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _TOKENS(text)}


def find_places_of_texts(
    collection: Collection, texts: Iterable[str], others: Callable[[], Iterable[str]]
) -> list[str]:
    """Return where words occur that ``texts`` have, but no text of ``others`` and not the vocabulary.

    ``others`` is only read if needed.
    """
    vocabulary = collection.counting.vocabulary
    words = words_of(texts).difference(vocabulary.words, *vocabulary.forms)
    if not find_places(collection, words):
        return []
    for text in others():
        words.difference_update(_TOKENS(text))
    return find_places(collection, words)


def find_places(collection: Collection, words: AbstractSet[str]) -> list[str]:
    """Return descriptions of the topics, notes, tags, searches and log entries with any of the words.

    A description does not contain the words.
    """

    def has_word(text: str) -> bool:
        return not words_of([text]).isdisjoint(words)

    searches = (_find_in_topics, _find_in_documents, _find_in_records)
    return [place for find in searches for place in find(collection, has_word)]


def _find_in_topics(collection: Collection, has_word: Callable[[str], bool]) -> Iterator[str]:
    """Yield the names, notes and word edits of topics that contain a matching word."""
    shape = collection.outline
    for topic, name in zip(shape.topics, shape.tree.names, strict=True):
        if has_word(name):
            yield f"the name of topic {topic}"
        if has_word(shape.notes.get(topic, "")):
            yield f"the note on topic {topic}"
        if any(map(has_word, shape.seeds.get(topic, ()))):
            yield f"the seed words of topic {topic}"
    if any(map(has_word, shape.ignored)):
        yield "the ignored words"
    if any(map(has_word, (*shape.united, *shape.united.values()))):
        yield "the united words"


def _find_in_documents(collection: Collection, has_word: Callable[[str], bool]) -> Iterator[str]:
    """Yield the notes and tags that contain a matching word."""
    documents = collection.documents
    for row in sorted({note.row for note in collection.passage_notes.all() if has_word(note.note)}):
        yield f"a note on a passage of {documents.load_many([row], texts=False)[0].id}"
    for tag, number in collection.marks.tags().items():
        if has_word(tag):
            first = documents.load_many(collection.marks.rows_with(tag)[:1], texts=False)[0].id
            yield f"a tag of {count_noun(number, 'document')}, first {first}"


def _find_in_records(collection: Collection, has_word: Callable[[str], bool]) -> Iterator[str]:
    """Yield the saved searches and log entries that contain a matching word."""
    for number, search in enumerate(list_saved_searches(collection), 1):
        if any(map(has_word, (search.name, search.query, search.topic, search.lost))):
            yield f"saved search {number} in the order of names"
    for entry in edit_log.walk(collection.generation.database):
        if has_matching_text(entry.body, has_word):
            yield f"entry {entry.number} of the log"
