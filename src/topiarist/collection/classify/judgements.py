"""Judgements of labels: an append-only table, so that users do not overwrite each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from topiarist.collection.shape.history import ChangedError
from topiarist.errors import UsageError
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.review_table import Judgement as Judgement
from topiarist.storage.review_table import JudgementTable
from topiarist.text.characters import to_storable
from topiarist.text.spelling import find_near_words

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

ACCEPT, MOVE, LEAVE, TAKE_BACK = "accept", "move", "leave", "back"


class JudgementChangedError(ChangedError):
    """Error: another user judged the document after it was displayed."""


class Judgements(JudgementTable):
    """Judgements of the documents of a collection, with methods to record and undo them."""

    def list_current(self) -> list[Judgement]:
        """Return the newest judgement of each document that was not undone."""
        current = (
            [judgement] if judgement.kind != TAKE_BACK else self.list_standing(judgement.row)[-1:]
            for judgement in self.newest()
        )
        return [judgement for judgements in current for judgement in judgements]

    def last_number_of(self, row: int) -> int:
        """Return the number of the newest entry of a document, 0 without one."""
        last = self.of([row]).get(row)
        return 0 if last is None else last.number

    def list_standing(self, row: int) -> list[Judgement]:
        """Return the judgements of a document that were not undone, the oldest first."""
        judgements: list[Judgement] = []
        for judgement in self.all_of(row):
            if judgement.kind != TAKE_BACK:
                judgements.append(judgement)
            elif judgements:
                judgements.pop()
        return judgements

    def judge(self, row: int, kind: str, labels: Sequence[str], *, expected: int) -> Judgement:
        """Record a judgement and set the labels, except for "leave"; ``expected`` is the last known entry or 0."""
        with self.database.transaction():
            old_labels = self._check_last_entry(row, expected)
            new_labels = old_labels if kind == LEAVE else _clean_labels(labels)
            return self._write(row, kind, old_labels, new_labels)

    def undo_last(self, row: int, *, expected: int) -> Judgement:
        """Restore the labels before the last judgement and record this; raise UsageError without a judgement."""
        with self.database.transaction():
            labels = self._check_last_entry(row, expected)
            last = self.of([row]).get(row)
            if last is None or last.kind == TAKE_BACK:
                raise UsageError("this document has no judgement to undo")
            return self._write(row, TAKE_BACK, labels, last.before)

    def update_counts(self, counts: Counter[str], number: int) -> Counter[str]:
        """Return a copy of label counts with all judgements after entry ``number`` applied."""
        now = counts.copy()
        for judgement in self.since(number):
            now.subtract(set(judgement.before))
            now.update(set(judgement.after))
        return now

    def _check_last_entry(self, row: int, expected: int) -> tuple[str, ...]:
        """Return the labels of a document; raise an error if its newest entry is not the expected one."""
        if self.last_number_of(row) != expected:
            raise JudgementChangedError("this document was judged after you opened the page", hint="Reload the page.")
        return Documents(self.database).labels_of([row])[0]

    def _write(self, row: int, kind: str, old_labels: tuple[str, ...], new_labels: tuple[str, ...]) -> Judgement:
        if new_labels != old_labels:
            Documents(self.database).change_labels(row, new_labels)
        return self.append(row, kind, old_labels, new_labels)


def choose_labels(
    collection: Collection, row: int, labels: Sequence[str], other: str, *, move: bool
) -> tuple[str, ...]:
    """Return the new labels of a document; ``move`` replaces its single label. An unknown label is an error."""
    is_multilabel = collection.categories is not None and collection.categories.is_multilabel
    checked_labels = [] if move and not is_multilabel else list(labels)
    others = [other] if other and (move or is_multilabel) else []
    if not checked_labels and not others:
        hint = "Check one of its labels, or choose Leave." if is_multilabel else "Choose one of the list, then Move."
        raise UsageError("choose the category that the document belongs to", hint=hint)
    old_labels = collection.documents.labels_of([row])[0]
    known_labels = {*(collection.categories.names if collection.categories is not None else ()), *old_labels}
    if not known_labels.issuperset([*checked_labels, *others]):
        known_labels |= set(collection.documents.label_counts())
    new_labels = [label if label in known_labels else label.strip() for label in [*checked_labels, *others]]
    unknown_labels = [label for label in new_labels if label not in known_labels]
    if unknown_labels:
        suggestions = find_near_words(unknown_labels[0], [(label, 1) for label in sorted(known_labels)], 3)
        raise UsageError(
            f"there is no category {unknown_labels[0][:60]!r}",
            hint=f"Choose {' or '.join(suggestions)}." if suggestions else "Choose a category of the list.",
        )
    # a model with one label per document learns the first label; a judgement leaves the others unchanged
    return (
        tuple(new_labels)
        if is_multilabel
        else (new_labels[0], *(label for label in old_labels[1:] if label != new_labels[0]))
    )


def carry_over(old: Database, new: Database) -> tuple[int, int]:
    """Copy judgements to a new collection by document id; return the number copied and the number before."""
    judgements = Judgements(old).list_current()
    names = Documents(old).load_many([judgement.row for judgement in judgements], texts=False)
    rows = {id: row for row, id in enumerate(Documents(new).ids())} if judgements else {}
    copies = [
        (rows[document.id], judgement)
        for judgement, document in zip(judgements, names, strict=True)
        if document.id in rows
    ]
    for row, judgement in copies:
        Judgements(new).judge(row, judgement.kind, judgement.after, expected=0)
    return len(copies), len(judgements)


def _clean_labels(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(plain for label in labels if (plain := to_storable(label)).strip()))
