"""Review of a collection for a label: next document, judgements, estimate of missing documents and stopping rule.

Judgements are stored in the collection, each with how its document was drawn. Relevant documents get the label. A
review resumes where it ended. Documents that have the label at its start count as found.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Doubles
from topiarist.collection.classify.judgements import ACCEPT, MOVE, Judgement, Judgements
from topiarist.collection.review.reading_order import HAD_LABEL, TARGET, USER_CHOICE, ReadingOrder, ReviewProgress
from topiarist.collection.review.recall_bound import CONFIDENCE
from topiarist.collection.review.relevance_model import compute_features
from topiarist.collection.shape.history import ChangedError
from topiarist.errors import UsageError
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Generation
from topiarist.storage.review_table import ReviewEntry, ReviewTable
from topiarist.text.characters import to_storable

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

YES, NO, SKIP, UNDO = "y", "n", "skip", "undo"
ANSWERS = {YES: True, NO: False, SKIP: None}
N_LOTS = 1 << 62
LOCK_WAIT = 5.0  # seconds to wait for another write
OTHER_DOCUMENTS = 0  # number of documents of an entry that was drawn from a different set of documents


@dataclass(frozen=True)
class StartedReview:
    """Summary of a review with at least one judgement."""

    label: str
    judged: int
    found: int
    skipped: int


class Review:
    """Review of a collection for one label: ``next`` proposes, ``answer`` records, ``undo`` reverts."""

    def __init__(
        self,
        collection: Collection,
        label: str,
        *,
        query: str = "",
        target: float = TARGET,
        confidence: float = CONFIDENCE,
    ) -> None:
        self.collection, self.label = collection, " ".join(to_storable(label).split())
        if not self.label:
            raise UsageError("expected a label, got an empty one", hint="Pass a label for relevant documents.")
        for name, value in (("target", target), ("confidence", confidence)):
            if not 0.5 <= value < 1:
                raise UsageError(
                    f"expected {name} from 0.5 to below 1, got {value:g}", hint="Pass a value such as 0.95."
                )
        self.target, self.confidence = target, confidence
        self._features = compute_features(collection.counts, collection.encoder_vectors)
        self._strata = np.asarray(collection.shares.argmax(axis=1)).ravel() if collection.shares.nnz else None
        self._start = _score_by_query(collection, query) if query else None
        self._writing: Generation | None = None
        self._judgement_by_row: dict[int, int] = {}  # judgement made by the last answer for each row, 0 for none
        table = ReviewTable(collection.generation.database)
        self.entries = table.entries(self.label)
        lot = table.lot(self.label)
        self.lot = new_lot() if lot is None else lot
        rows = {entry.row for entry in self.entries}
        self._labelled_rows = [row for row in collection.documents.labelled_rows(self.label) if row not in rows]
        self._labelled_rows = [row for row in self._labelled_rows if row < len(collection)]
        self.order = self._replay_order()

    @property
    def starts_from_query(self) -> bool:
        return self._start is not None and bool(self._start.any())

    @property
    def progress(self) -> ReviewProgress:
        return self.order.progress

    def next(self) -> tuple[int, str] | None:
        """Return the row to judge next and how it was drawn, first an undone one; None if all were read."""
        undone_entry = _find_undone_entry(self.entries)
        if (
            undone_entry
            and undone_entry.drawn != USER_CHOICE
            and undone_entry.documents == self.order.n_docs
            and self.order.is_unread(undone_entry.row)
        ):
            return undone_entry.row, undone_entry.drawn
        return self.order.next()

    def skipped(self) -> list[int]:
        """Return the rows of skipped documents in the order of skipping."""
        return list(self.order.skipped)

    @property
    def number(self) -> int:
        """Number of the newest entry that this review has read or written."""
        return self.entries[-1].number if self.entries else 0

    @property
    def is_current(self) -> bool:
        return ReviewTable(self.collection.generation.database).last_number(self.label) == self.number

    @property
    def last(self) -> tuple[int, str] | None:
        """Row and answer that ``undo`` would revert; None without an answer."""
        entries = _list_judged_entries(_list_standing_entries(self.entries))
        return (entries[-1].row, entries[-1].answer) if entries else None

    @contextmanager
    def hold_lock(self, generation: Generation | None = None) -> Iterator[None]:
        """Hold the write lock for several answers; ``generation`` is an open generation of the caller."""
        opened = self.collection.folder.writing(wait=LOCK_WAIT) if generation is None else nullcontext(generation)
        with opened as self._writing:
            try:
                yield
            finally:
                self._writing = None

    def answer(self, row: int, answer: str, draw: str = USER_CHOICE) -> None:
        """Record an answer for a document: ``y``, ``n`` or ``skip``; a skipped document can be answered later."""
        if answer not in ANSWERS:
            raise UsageError(f"expected the answer y, n or skip, got {answer!r}", hint="Answer y, n or skip.")
        if row in self.order.answers:
            raise UsageError("this document has a judgement already", hint="Undo the last judgement first.")
        was_skipped = row in self.order.skipped
        self._write(row, answer, draw)
        if was_skipped:
            self.order = self._replay_order()
        else:
            self.order.judge(row, ANSWERS[answer], draw)

    def undo(self) -> int | None:
        """Revert the last answer in the database and return its row, or None; a label from another source stays."""
        if self.last is None:
            return None
        row = self.last[0]
        self._write(row, UNDO, USER_CHOICE)
        self.order = self._replay_order()
        return row

    def has_label(self, row: int) -> bool:
        return self.label in self.collection.documents.labels_of([row])[0]

    def _write(self, row: int, answer: str, draw: str) -> None:
        """Store an answer and its judgement under the write lock; raise ChangedError after another session."""
        if self._writing is None:
            with self.hold_lock():
                self._write(row, answer, draw)
            return
        database = self._writing.database
        table = ReviewTable(database)
        with database.transaction():
            table.begin(self.label, self.lot)
            if table.lot(self.label) != self.lot or table.last_number(self.label) != self.number:
                raise ChangedError("another session has added judgements for this label", hint="Open the review again.")
            n_docs = self.order.n_docs
            new_entries = [
                table.append(self.label, labelled_row, YES, HAD_LABEL, n_docs) for labelled_row in self._labelled_rows
            ]
            new_entries.append(table.append(self.label, row, answer, draw, n_docs))
            judgement = self._relabel(database, row, answer)
        self._judgement_by_row.pop(row, None)
        if answer != UNDO:
            self._judgement_by_row[row] = judgement
        self.entries, self._labelled_rows = [*self.entries, *new_entries], []

    def _relabel(self, database: Database, row: int, answer: str) -> int:
        """Add or remove the label after an answer; return the number of the new judgement, 0 without one."""
        judgements, is_relevant = Judgements(database), ANSWERS.get(answer)
        if answer == UNDO and self._is_own_judgement(judgements, row):
            judgements.undo_last(row, expected=judgements.last_number_of(row))
        if is_relevant is None:
            return 0
        labels = Documents(database).labels_of([row])[0]
        if is_relevant == (self.label in labels):
            if not is_relevant:
                return 0
            # the label came from another source, and undo must not remove it
            return judgements.judge(row, ACCEPT, labels, expected=judgements.last_number_of(row)).number
        others = tuple(label for label in labels if label != self.label)
        new_labels = (*others, self.label) if is_relevant else others
        return judgements.judge(row, MOVE, new_labels, expected=judgements.last_number_of(row)).number

    def _is_own_judgement(self, judgements: Judgements, row: int) -> bool:
        """Return whether the newest judgement of a document was made by the answer that is reverted.

        This is known for an answer of this session. For an earlier answer it is inferred: only one standing judgement
        set the label so, or no more judgements did than this review has answered so. In other cases the judgement
        stays.
        """
        newest = judgements.last_number_of(row)
        if row in self._judgement_by_row:
            return newest > 0 and self._judgement_by_row[row] == newest
        answer = "" if self.last is None else self.last[1]
        is_relevant = ANSWERS.get(answer)

        def equal_numbers(entries: list[Judgement]) -> list[int]:
            return [
                entry.number
                for entry in entries
                if entry.kind == MOVE
                and (self.label in entry.after) is is_relevant
                and (self.label in entry.before) is not is_relevant
            ]

        standing, numbers = equal_numbers(judgements.list_standing(row)), equal_numbers(judgements.all_of(row))
        n_answered = sum(entry.row == row and entry.answer == answer for entry in _list_judged_entries(self.entries))
        return newest in standing and (len(standing) == 1 or len(numbers) <= n_answered)

    def _replay_order(self) -> ReadingOrder:
        """Return the reading order after all stored entries, each document with its present answer."""
        n_docs = len(self.collection)
        order = ReadingOrder(
            self._features, np.random.default_rng([self.lot, n_docs]).permutation(n_docs), start=self._start,
            strata=self._strata, target=self.target, confidence=self.confidence,
        )  # fmt: skip
        standing = _list_standing_entries(self.entries)
        now = {entry.row: ANSWERS[entry.answer] for entry in standing}
        for entry in standing:
            # a draw from other documents is no evidence about the present ones
            order.judge(entry.row, now[entry.row], entry.drawn if entry.documents == n_docs else USER_CHOICE)
        for row in self._labelled_rows:
            order.judge(row, relevant=True)
        return order


def new_lot() -> int:
    """Draw the seed of a random order of the documents, unpredictable before the review."""
    return secrets.randbelow(N_LOTS)


def list_started_reviews(collection: Collection) -> list[StartedReview]:
    """Return the reviews of a collection by label, without reviews whose judgements were all reverted."""
    table, reviews = ReviewTable(collection.generation.database), []
    for label in sorted(table.labels()):
        answer_by_row = {entry.row: entry.answer for entry in _list_standing_entries(table.entries(label))}
        answers = list(answer_by_row.values())
        if answers:
            reviews.append(
                StartedReview(label, len(answers) - answers.count(SKIP), answers.count(YES), answers.count(SKIP))
            )
    return reviews


def carry_over(old: Database, new: Database) -> tuple[int, int]:
    """Transfer reviews to a replacement collection by document id; return the numbers of kept and of all entries.

    If the documents differ, judgements are kept, but random draws do not count for the bound. If the order of the
    documents differs, a new lot is drawn because the old one refers to other rows.
    """
    old_table, new_table = ReviewTable(old), ReviewTable(new)
    labels = old_table.labels()
    if not labels:
        return 0, 0
    old_ids, ids = Documents(old).ids(), Documents(new).ids()
    rows = {id: row for row, id in enumerate(ids)}
    n_documents = len(ids) if set(ids) == set(old_ids) else OTHER_DOCUMENTS
    n_kept = n_entries = 0
    for label in labels:
        lot = old_table.lot(label)
        new_table.begin(label, new_lot() if lot is None or ids != old_ids else lot)
        for entry in _list_standing_entries(old_table.entries(label)):
            n_entries += 1
            if old_ids[entry.row] in rows:
                n_drawn_from = n_documents if entry.documents == len(old_ids) else OTHER_DOCUMENTS
                new_table.append(label, rows[old_ids[entry.row]], entry.answer, entry.drawn, n_drawn_from)
                n_kept += 1
    return n_kept, n_entries


def _list_standing_entries(entries: list[ReviewEntry]) -> list[ReviewEntry]:
    """Return the entries that were not undone; each undo removes the last judgement of its document."""
    standing: list[ReviewEntry] = []
    for entry in entries:
        if entry.answer != UNDO:
            standing.append(entry)
            continue
        positions = (
            at
            for at in reversed(range(len(standing)))
            if standing[at].row == entry.row and standing[at].drawn != HAD_LABEL
        )
        last = next(positions, None)
        if last is not None:
            del standing[last]
    return standing


def _find_undone_entry(entries: list[ReviewEntry]) -> ReviewEntry | None:
    if not entries or entries[-1].answer != UNDO:
        return None
    entries_before = _list_judged_entries(_list_standing_entries(entries[:-1]))
    return entries_before[-1] if entries_before else None


def _list_judged_entries(entries: list[ReviewEntry]) -> list[ReviewEntry]:
    return [entry for entry in entries if entry.drawn != HAD_LABEL]


def _score_by_query(collection: Collection, query: str) -> Doubles:
    """Return a score for each document: 1 to 0.5 in the order of a search, 0 for other documents."""
    from topiarist.collection.search.search import Search

    rows = Search(collection, query).best_rows(len(collection))
    scores = np.zeros(len(collection))
    scores[rows] = np.linspace(1.0, 0.5, len(rows))
    return scores
