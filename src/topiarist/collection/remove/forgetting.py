"""Forgetting documents for good: a new generation is written without them, fitted without them, and looked through.

Nothing is erased in place: what stays is copied, so that no free page, no index, no log and no earlier state of the new
generation ever held a word of what is gone; then every other generation is deleted. Sums over documents (counts, sizes,
frequencies of words) are taken over those that stay; what is no sum, the tree's words and the models of the search, is
fitted again from where the documents are.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Bools
from topiarist.collection import contents
from topiarist.collection.contents import Counting
from topiarist.collection.copies import fitted_rows, kept_copies
from topiarist.collection.describe.problem_list import write_problem_list
from topiarist.collection.find import index_part
from topiarist.collection.find.saved_searches import keep_searches
from topiarist.collection.grow.fit_description import corpus_of
from topiarist.collection.remove import kept_rows, traces
from topiarist.collection.remove.mentions import Mentions
from topiarist.collection.remove.removal import Removal, chosen, keeping, preview, remembered
from topiarist.collection.shape.changes import FORGET, check_expected, fitted
from topiarist.collection.state import CATEGORIES, COUNTS, FLAT, MINIMA, SHARES, TREE, VECTORS, State
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import UsageError
from topiarist.store import edit_log, facts
from topiarist.store.collection_folder import GROWING, sweep, sweep_parts
from topiarist.store.document_table import Documents
from topiarist.store.generation import Part, new_part
from topiarist.store.marks import PassageNotes
from topiarist.store.succession import Succession, copy_log, copy_tables, same_part, succession
from topiarist.text.documents import Document, Problem
from topiarist.text.passages import whole_id
from topiarist.text.query import parse
from topiarist.text.repeated import Repeated, plain_line

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SOME_ROWS = 2_000  # documents that are looked at at once
SOME = "an edit of documents that were forgotten"  # what the log calls it


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten, what there is to say of it, and what a look through the folder has found."""

    removal: Removal
    n_words: int  # that no other document had
    traces: traces.Found
    told: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data, without a word of the documents."""
        return {
            "forgotten": len(self.removal), "left": self.removal.n_left,
            "whole_documents": self.removal.extent.complete, "said": str(self.removal.extent), "words": self.n_words,
            "traces": self.traces.left, "shared_sequences": self.traces.shared, "files": self.traces.n_files,
            "bytes": self.traces.n_bytes, "told": list(self.told),
        }  # fmt: skip


def forget(collection: Collection, ids: Sequence[str], *, wait: float = 0.0, expected: str | None = None) -> Forgotten:
    """Forget documents for good; it cannot be undone, nor anything before it."""
    told: list[str] = []
    with succession(collection.folder, wait=wait) as following:
        collection.refresh()
        check_expected(collection, expected)
        removal = preview(collection, chosen(collection, ids))
        keep = keeping(collection, removal)
        gone = collection.documents.many(removal.rows)
        texts = [text for one in gone for text in (one.text, one.title, one.id)]
        texts += _beside(collection, removal.rows)
        told += _copy(collection, following, removal, gone, traces.Sequences(texts))
        kept_rows.keep_tables(collection, following, keep)
        facts.add_removed(following.new.database, *remembered(collection, removal))
        n_words = _fit(collection, following, keep, removal)
        if collection.categories is not None:
            told.append("The categories were learned from these documents too, and are gone: topiarist learn")
        following.publish()
        unfinished = collection.folder.path / GROWING
        if unfinished.exists():
            shutil.rmtree(unfinished)
            told.append("An unfinished grow was thrown away: it may have held them")
        sweep(collection.folder.path, collection.folder.manifest)
    collection.refresh()
    write_problem_list(collection)
    found = traces.look(collection.folder.path, texts, _staying(collection))
    told += [_words_told(n_words), *_told(found)]
    return Forgotten(removal, n_words, found, tuple(told))


def _copy(
    collection: Collection, following: Succession, removal: Removal, gone: list[Document], known: traces.Sequences
) -> Iterator[str]:
    """Tables and log of the documents that stay, without what speaks of the others; what there is to say of that."""
    old, new = following.old.database, following.new.database
    copy_tables(old, new, removal.rows)
    copy_log(old, new)
    named = Mentions((name for one in gone for name in (one.id, whole_id(one.id), one.title)), known)
    entries = edit_log.rewrite(new, SOME, named.in_value)
    searches = keep_searches(new, lambda one: not any(map(named.in_text, (one.name, one.query, *_liked(one.query)))))
    notes = PassageNotes(new).take_words_out(named.in_text)
    staying = set(Documents(new).sources())
    sources = {one.source for one in gone if one.source not in staying} | {one.id for one in gone}
    quoted = [f"“{text[:80]}”" for text in collection.dates.only_of(removal.rows).values()]

    def stays(one: Problem) -> bool:
        if one.source in sources or named.in_text(one.source) or named.in_text(one.reason):
            return False
        return not any(text in one.reason for text in quoted)

    facts.keep_problems(new, stays)
    if entries:
        shown, tell = ("entry", "tells") if entries == 1 else ("entries", "tell")
        yield f"{entries:,} {shown} of the log spoke of them, and {tell} nothing more"
    if notes:
        shown, tell = ("entry", "tells") if notes == 1 else ("entries", "tell")
        yield f"{notes:,} {shown} of the notes on passages of other documents spoke of them, and {tell} nothing more"
    if searches:
        yield f"{searches:,} saved search{'es' * (searches != 1)} spoke of them, and {_are(searches)} gone"


def _liked(query: str) -> list[str]:
    """The ids of documents that a query points at."""
    return [one.value for one in parse(query).likes]


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _fit(collection: Collection, following: Succession, keep: Bools, removal: Removal) -> int:
    """Parts of the documents that stay, fitted without the others; how many words are known no more."""
    new, parts = following.new, list[Part]()
    counting, used = _counting(collection, following, keep)
    shape = kept_rows.unpinned(collection, keep)
    with new_part(new, COUNTS) as counts:
        contents.write_matrix(counts.folder, collection.all_counts[keep][:, used])
        contents.write_counting(counts.folder, counting)
    with new_part(new, SHARES) as shares:
        contents.write_matrix(shares.folder, collection.shares[keep])
    tree = same_part(following, collection.state.parts[TREE], TREE)
    corpus = corpus_of(new, contents.read_matrix(counts.folder), counting)
    once = fitted_rows(kept_copies(new.database), corpus.n_docs)
    flat = index_part.write_flat(new, corpus, rows=once)
    told_apart = kept_rows.minima(collection, following, keep)
    parts = [counts.part, shares.part, tree, flat, told_apart]
    begun = State(shape, {TREE: tree.name, FLAT: flat.name}, int(keep.sum()), collection.state.model)
    begun = begun.with_pieces(COUNTS, [counts.name]).with_pieces(SHARES, [shares.name])
    begun = begun.with_pieces(MINIMA, [told_apart.name])
    if collection.vectors is not None:
        pointed = kept_rows.vectors(collection, following, keep)
        parts.append(pointed)
        begun = begun.with_pieces(VECTORS, [pointed.name])
    settings = kept_rows.settings(collection, keep, begun)
    facts.change_settings(new.database, settings | {kept_rows.STEADINESS: None, "n_words": int(used.sum())})
    told = {"documents": len(removal), "said": str(removal.extent)}
    edit_log.record(new.database, FORGET, told, begun.to_dict(), parts=parts)
    with type(collection)(collection.folder.at_generation(new.folder.name)) as between:
        state, made, _ = fitted(between, new, shape, anew=True)
    edit_log.replace_last(new.database, state.with_part(CATEGORIES, None).to_dict(), made)
    sweep_parts(new)
    return int((~used).sum())


def _counting(collection: Collection, following: Succession, keep: Bools) -> tuple[Counting, Bools]:
    """How texts become counts of words that documents which stay have, and which columns these are."""
    known, old = collection.counting, collection.counting.vocabulary
    counts = collection.all_counts[keep]
    frequency = np.bincount(counts.indices[counts.data > 0], minlength=len(old))
    used = frequency > 0
    if not used.any():
        raise UsageError("no word would be left", hint="remove the folder itself")
    totals = np.asarray(counts.sum(axis=0)).ravel().round().astype(np.int64)
    documents = Documents(following.new.database)
    words = index_part.all_words(documents, known.settings)
    chosen = np.flatnonzero(used).tolist()
    vocabulary = Vocabulary(
        tuple(old.words[column] for column in chosen), frequency[used], totals[used],
        tuple(tuple(form for form in old.forms[column] if form in words or form == old.words[column])
              for column in chosen) if old.forms else (),
        tuple(phrase for phrase in old.phrases if all(word in words for word in phrase.split())),
    )  # fmt: skip
    general = tuple(word for word in known.general if all(one in words for one in word.split()))
    lines = Repeated(tuple(_lines(documents, known.repeated)))
    return replace(known, vocabulary=vocabulary, general=general, repeated=lines, map=None), used


def _lines(documents: Documents, repeated: Repeated) -> Iterator[tuple[str, int]]:
    """The lines that many documents share and one that stays has, with the number of documents that have them."""
    forms = repeated.forms
    times: Counter[str] = Counter()
    for one in documents.iterate() if forms else ():
        times.update({plain_line(line) for line in one.text.splitlines()} & forms)
    yield from ((form, times[form]) for form, _ in repeated.lines if times[form])


def _staying(collection: Collection) -> Iterator[str]:
    """Whatever may be in the folder: the documents that stay, and how the collection was grown."""
    for start in range(0, len(collection), SOME_ROWS):
        rows = range(start, min(start + SOME_ROWS, len(collection)))
        for one in collection.documents.many(rows):
            yield from (one.text, one.title, one.id, one.source, *one.labels)
            yield f"{one.title}\n{one.text}"
        yield from _beside(collection, rows)


def _beside(collection: Collection, rows: Sequence[int]) -> list[str]:
    """What else is known of some documents in words: values of columns, dates as they were given, notes of people."""
    cells = collection.columns.of(rows).values()
    return [text for one in cells for values in one.values() for text in values] + [
        *collection.dates.given(rows).values(),
        *(text for own in collection.passage_notes.of(rows).values() for one in own for text in (one.quote, one.note)),
    ]


def _words_told(number: int) -> str:
    return f"Words that no other document has, and that are known no more: {number:,}"


def _told(found: traces.Found) -> Iterator[str]:
    """What the look through the folder has found."""
    shared = ""
    if found.shared:
        shared = f"; {found.shared:,} such sequences also stand in documents that stay"
    size = f"{found.n_files:,} files, {found.n_bytes / 1e6:,.1f} MB"
    if not found:
        yield f"Looked through the folder ({size}): {traces.LETTERS} letters in a row of them are nowhere in it{shared}"
        return
    where = ", ".join(f"{name} ({number:,})" for name, number in list(found.left.items())[:5])
    yield f"STILL THERE: sequences of {traces.LETTERS} letters of them are in {where}{shared}"
