"""Reviewing a collection for a label: what to read next, what was judged, how much is unfound, and when to stop.

Judgements are kept with the collection, each with how its document was drawn; what is relevant gets the label. An
earlier review is taken up where it ended. Documents that have the label when it begins count as found.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Doubles
from topiarist.collection.judge.judgements import ACCEPT, MOVE, Judgement, Judgements
from topiarist.collection.judge.reading_order import GIVEN, LABELLED, TARGET, Progress, ReadingOrder
from topiarist.collection.judge.recall_bound import CONFIDENCE
from topiarist.collection.judge.relevance_model import features
from topiarist.collection.shape.changes import ChangedError
from topiarist.errors import UsageError
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation
from topiarist.store.review_table import ReviewEntry, ReviewTable
from topiarist.text.readers.making import storable

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

YES, NO, SKIP, UNDONE = "y", "n", "skip", "undo"
ANSWERS = {YES: True, NO: False, SKIP: None}
LOTS = 1 << 62
PATIENCE = 5.0  # seconds to wait for another who writes
CHANGED = 0  # of how many documents an entry was drawn, where the documents are not those that it was drawn from


@dataclass(frozen=True)
class Begun:
    """A review that has begun: its label, and what was said so far."""

    label: str
    judged: int
    found: int
    skipped: int


class Review:
    """A review of a collection for one label. ``next`` proposes, ``answer`` keeps a judgement, ``undo`` the last back.

    ``query`` says where to begin while nothing is found; ``target`` and ``confidence`` when it is enough.
    """

    def __init__(
        self,
        collection: Collection,
        label: str,
        *,
        query: str = "",
        target: float = TARGET,
        confidence: float = CONFIDENCE,
    ) -> None:
        self.collection, self.label = collection, " ".join(storable(label).split())
        if not self.label:
            raise UsageError("a review needs a label for what is relevant", hint="--label relevant")
        for name, value in (("target", target), ("confidence", confidence)):
            if not 0.5 <= value < 1:
                raise UsageError(f"the {name} of a review is from 0.5 to below 1, got {value:g}", hint="0.95")
        self.target, self.confidence = target, confidence
        self._features = features(collection.counts, collection.vectors)
        self._strata = np.asarray(collection.shares.argmax(axis=1)).ravel() if collection.shares.nnz else None
        self._start = _scores(collection, query) if query else None
        self._writing: Generation | None = None
        self._written: dict[int, int] = {}  # by rows: the judgement that the last answer given here made, 0 for none
        table = ReviewTable(collection.generation.database)
        self.entries = table.entries(self.label)
        known = table.lot(self.label)
        self.lot = new_lot() if known is None else known
        read = {entry.row for entry in self.entries}
        self._given = [row for row in collection.documents.with_label(self.label) if row not in read]
        self._given = [row for row in self._given if row < len(collection)]
        self.order = self._replayed()

    @property
    def starts_from_query(self) -> bool:
        """Whether the query found something to begin with."""
        return self._start is not None and bool(self._start.any())

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self.order.progress

    def next(self) -> tuple[int, str] | None:
        """The row of the document to judge next, and how it is drawn; None where all were read.

        What was just taken back comes again: a model that is fitted anew might rank another first.
        """
        back = _taken_back(self.entries)
        if back and back.drawn != GIVEN and back.documents == self.order.n_docs and self.order.is_unread(back.row):
            return back.row, back.drawn
        return self.order.next()

    def skipped(self) -> list[int]:
        """The rows of documents that were skipped, the first first."""
        return list(self.order.skipped)

    @property
    def number(self) -> int:
        """The number of the newest answer that is known here."""
        return self.entries[-1].number if self.entries else 0

    @property
    def is_current(self) -> bool:
        """Whether nobody else has answered since."""
        return ReviewTable(self.collection.generation.database).last_number(self.label) == self.number

    @property
    def last(self) -> tuple[int, str] | None:
        """The row and the answer that ``undo`` takes back; None where there is none."""
        judged = _judged(_standing(self.entries))
        return (judged[-1].row, judged[-1].answer) if judged else None

    @contextmanager
    def together(self, generation: Generation | None = None) -> Iterator[None]:
        """Several answers at once: the collection is kept from other writers meanwhile.

        ``generation``: the collection as somebody has opened it to write.
        """
        opened = self.collection.folder.writing(wait=PATIENCE) if generation is None else nullcontext(generation)
        with opened as self._writing:
            try:
                yield
            finally:
                self._writing = None

    def answer(self, row: int, answer: str, drawn: str = GIVEN) -> None:
        """Keep what somebody said of a document: ``y``, ``n`` or ``skip``; of one that was skipped also later."""
        if answer not in ANSWERS:
            raise UsageError(f"an answer is y, n or skip, got {answer!r}", hint="y")
        if row in self.order.answers:
            raise UsageError("this document is judged already", hint="u takes the last judgement back")
        again = row in self.order.skipped
        self._write(row, answer, drawn)
        if again:
            self.order = self._replayed()
        else:
            self.order.judge(row, ANSWERS[answer], drawn)

    def undo(self) -> int | None:
        """Take the last answer back; the row of its document, None where there is none.

        What others said of the document stays, and so may the label: ``labelled`` tells.
        """
        if self.last is None:
            return None
        row = self.last[0]
        self._write(row, UNDONE, GIVEN)
        self.order = self._replayed()
        return row

    def labelled(self, row: int) -> bool:
        """Whether a document has the label, whoever gave it."""
        return self.label in self.collection.documents.labels_of([row])[0]

    def _write(self, row: int, answer: str, drawn: str) -> None:
        if self._writing is None:
            with self.together():
                self._write(row, answer, drawn)
            return
        database = self._writing.database
        table = ReviewTable(database)
        with database.transaction():
            table.begin(self.label, self.lot)
            if table.lot(self.label) != self.lot or table.last_number(self.label) != self.number:
                raise ChangedError("somebody else judges for this label at the same time", hint="open the review again")
            n_docs = self.order.n_docs
            made = [table.append(self.label, given, YES, LABELLED, n_docs) for given in self._given]
            made.append(table.append(self.label, row, answer, drawn, n_docs))
            written = self._relabel(database, row, answer)
        self._written.pop(row, None)
        if answer != UNDONE:
            self._written[row] = written
        self.entries, self._given = [*self.entries, *made], []

    def _relabel(self, database: Database, row: int, answer: str) -> int:
        """Give a relevant document the label, take it from one that is not; the number of the judgement, 0 for none."""
        judgements, wanted = Judgements(database), ANSWERS.get(answer)
        if answer == UNDONE and self._is_own(judgements, row):
            judgements.take_back(row, expected=judgements.last_of(row))
        if wanted is None:
            return 0
        labels = Documents(database).labels_of([row])[0]
        if wanted == (self.label in labels):
            if not wanted:
                return 0
            # another gave it first: undo must know that it is theirs
            return judgements.judge(row, ACCEPT, labels, expected=judgements.last_of(row)).number
        others = tuple(label for label in labels if label != self.label)
        given = (*others, self.label) if wanted else others
        return judgements.judge(row, MOVE, given, expected=judgements.last_of(row)).number

    def _is_own(self, judgements: Judgements, row: int) -> bool:
        """Whether the newest judgement of a document is what the answer made that is taken back.

        Of an answer that was given here that is known. Of an earlier one it is where nobody else can have given the
        label, or taken it away: only one judgement that stands did, or no more than this review has answered so.
        Otherwise nobody knows whose it is, and it stays.
        """
        newest = judgements.last_of(row)
        if row in self._written:
            return newest > 0 and self._written[row] == newest
        answer = "" if self.last is None else self.last[1]
        wanted = ANSWERS.get(answer)

        def same(entries: list[Judgement]) -> list[int]:
            return [
                one.number
                for one in entries
                if one.kind == MOVE and (self.label in one.after) is wanted and (self.label in one.before) is not wanted
            ]

        standing, every = same(judgements.standing(row)), same(judgements.all_of(row))
        answered = sum(entry.row == row and entry.answer == answer for entry in _judged(self.entries))
        return newest in standing and (len(standing) == 1 or len(every) <= answered)

    def _replayed(self) -> ReadingOrder:
        """The order after all that was said so far, each document with the answer that it has now."""
        n_docs = len(self.collection)
        order = ReadingOrder(
            self._features, np.random.default_rng([self.lot, n_docs]).permutation(n_docs), start=self._start,
            strata=self._strata, target=self.target, confidence=self.confidence,
        )  # fmt: skip
        standing = _standing(self.entries)
        now = {entry.row: ANSWERS[entry.answer] for entry in standing}
        for entry in standing:
            # what was drawn from other documents than there are now tells nothing of these
            order.judge(entry.row, now[entry.row], entry.drawn if entry.documents == n_docs else GIVEN)
        for row in self._given:
            order.judge(row, relevant=True)
        return order


def new_lot() -> int:
    """The seed of an order of all documents that nobody could know before the review began."""
    return secrets.randbelow(LOTS)


def begun(collection: Collection) -> list[Begun]:
    """The reviews of a collection, by their labels; those of which everything was taken back are none."""
    table, found = ReviewTable(collection.generation.database), []
    for label in sorted(table.labels()):
        now = {entry.row: entry.answer for entry in _standing(table.entries(label))}
        said = list(now.values())
        if said:
            found.append(Begun(label, len(said) - said.count(SKIP), said.count(YES), said.count(SKIP)))
    return found


def carry_over(old: Database, new: Database) -> tuple[int, int]:
    """Take reviews over to a collection that replaces another, by the ids of documents; how many entries, of how many.

    Where the documents are not the same, judgements are kept, and what was drawn at random tells nothing any more.
    Where they stand in another order, the rest is drawn by another lot: the old one is of rows that are others now.
    """
    before, after = ReviewTable(old), ReviewTable(new)
    labels = before.labels()
    if not labels:
        return 0, 0
    names, ids = Documents(old).ids(), Documents(new).ids()
    rows = {id: row for row, id in enumerate(ids)}
    same = len(ids) if set(ids) == set(names) else CHANGED
    kept = every = 0
    for label in labels:
        lot = before.lot(label)
        after.begin(label, new_lot() if lot is None or ids != names else lot)
        for entry in _standing(before.entries(label)):
            every += 1
            if names[entry.row] in rows:
                of = same if entry.documents == len(names) else CHANGED
                after.append(label, rows[names[entry.row]], entry.answer, entry.drawn, of)
                kept += 1
    return kept, every


def _standing(entries: list[ReviewEntry]) -> list[ReviewEntry]:
    """The entries that were not taken back: each undo takes the last judgement of its document before it."""
    found: list[ReviewEntry] = []
    for entry in entries:
        if entry.answer != UNDONE:
            found.append(entry)
            continue
        own = (at for at in reversed(range(len(found))) if found[at].row == entry.row and found[at].drawn != LABELLED)
        last = next(own, None)
        if last is not None:
            del found[last]
    return found


def _taken_back(entries: list[ReviewEntry]) -> ReviewEntry | None:
    """What the last entry took back, where it is an undo."""
    if not entries or entries[-1].answer != UNDONE:
        return None
    before = _judged(_standing(entries[:-1]))
    return before[-1] if before else None


def _judged(entries: list[ReviewEntry]) -> list[ReviewEntry]:
    """Those that somebody judged in the review; not documents that came with the label."""
    return [entry for entry in entries if entry.drawn != LABELLED]


def _scores(collection: Collection, query: str) -> Doubles:
    """What a query finds, the best highest; 0 for everything else."""
    from topiarist.collection.find.search import Search

    rows = Search(collection, query, near=len(collection)).rows()
    scores = np.zeros(len(collection))
    scores[rows] = np.linspace(1.0, 0.5, len(rows))
    return scores
