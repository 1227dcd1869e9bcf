"""What people said of the labels of documents: an entry for each time, the newest last.

Entries are never changed, so that of two people none overwrites the other's: whoever judges a document names the entry
that they saw last. Labels themselves lie with the documents, where learning, searching and comparing find them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from topiarist.collection.shape.changes import ChangedError
from topiarist.errors import UsageError
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.store.judgement_table import Judgement as Judgement
from topiarist.store.judgement_table import JudgementTable
from topiarist.text.readers.making import storable
from topiarist.text.spelling import nearest

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

ACCEPT, MOVE, LEAVE, BACK = "accept", "move", "leave", "back"


class JudgedError(ChangedError):
    """Somebody else has judged the document since whoever judges it now has looked."""


class Judgements(JudgementTable):
    """The judgements of a collection's documents, and how to judge."""

    def holding(self) -> list[Judgement]:
        """The newest entry of every document that was not taken back; where one was, what was said before holds."""
        standing = ([one] if one.kind != BACK else self.standing(one.row)[-1:] for one in self.newest())
        return [one for found in standing for one in found]

    def last_of(self, row: int) -> int:
        """The number of the newest entry of a document, 0 for none."""
        last = self.of([row]).get(row)
        return 0 if last is None else last.number

    def standing(self, row: int) -> list[Judgement]:
        """The entries of a document that were not taken back, the oldest first."""
        found: list[Judgement] = []
        for one in self.all_of(row):
            if one.kind != BACK:
                found.append(one)
            elif found:
                found.pop()
        return found

    def judge(self, row: int, kind: str, labels: Sequence[str], *, expected: int) -> Judgement:
        """Write down what somebody said of a document, and give it these labels; of a document left alone, none change.

        ``expected``: the newest entry of the document that they saw, 0 for none.
        """
        with self.database.transaction():
            before = self._seen(row, expected)
            after = before if kind == LEAVE else _clean(labels)
            return self._write(row, kind, before, after)

    def take_back(self, row: int, *, expected: int) -> Judgement:
        """Give a document the labels that it had before it was judged last."""
        with self.database.transaction():
            before = self._seen(row, expected)
            last = self.of([row]).get(row)
            if last is None or last.kind == BACK:
                raise UsageError("there is nothing to take back: nobody has judged this document")
            return self._write(row, BACK, before, last.before)

    def counted(self, counts: Counter[str], number: int) -> Counter[str]:
        """Documents of each label, after what people took away and gave since an entry."""
        now = counts.copy()
        for one in self.since(number):
            now.subtract(set(one.before))
            now.update(set(one.after))
        return now

    def _seen(self, row: int, expected: int) -> tuple[str, ...]:
        """The labels of a document, if its newest entry is the one that somebody saw."""
        self.create()
        if self.last_of(row) != expected:
            raise JudgedError("somebody has judged this document since you opened the page", hint="look at it again")
        return Documents(self.database).labels_of([row])[0]

    def _write(self, row: int, kind: str, before: tuple[str, ...], after: tuple[str, ...]) -> Judgement:
        if after != before:
            Documents(self.database).change_labels(row, after)
        return self.append(row, kind, before, after)


def labels_for(collection: Collection, row: int, labels: Sequence[str], other: str, *, move: bool) -> tuple[str, ...]:
    """The labels that a document shall have: those of somebody who has checked them, and another one.

    ``move``: where documents have one label, the other one instead. A label that nobody knows is an error.
    """
    several = collection.categories is not None and collection.categories.several
    told = [] if move and not several else list(labels)
    others = [other] if other and (move or several) else []
    if not told and not others:
        hint = "check one of its labels, or Leave" if several else "one of the list, then Move"
        raise UsageError("choose the category that the document belongs to", hint=hint)
    now = collection.documents.labels_of([row])[0]
    known = {*(collection.categories.names if collection.categories is not None else ()), *now}
    if not known.issuperset([*told, *others]):
        known |= set(collection.documents.label_counts())
    wanted = [label if label in known else label.strip() for label in [*told, *others]]
    strange = [label for label in wanted if label not in known]
    if strange:
        near = nearest(strange[0], [(label, 1) for label in sorted(known)], 3)
        raise UsageError(f"there is no category {strange[0][:60]!r}", hint=" or ".join(near) or "one of the list")
    # where one label was learned it is the first of a document; others that it has are not what is judged
    return tuple(wanted) if several else (wanted[0], *(label for label in now[1:] if label != wanted[0]))


def carry_over(old: Database, new: Database) -> tuple[int, int]:
    """Judge the documents of a collection as those with the same ids were judged in the one that it replaces.

    How many were, and how many there had been.
    """
    held = Judgements(old).holding()
    names = Documents(old).many([one.row for one in held], texts=False)
    rows = {id: row for row, id in enumerate(Documents(new).ids())} if held else {}
    kept = [(rows[document.id], one) for one, document in zip(held, names, strict=True) if document.id in rows]
    for row, one in kept:
        Judgements(new).judge(row, one.kind, one.after, expected=0)
    return len(kept), len(held)


def _clean(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels as they are kept: each once, none empty."""
    return tuple(dict.fromkeys(plain for label in labels if (plain := storable(label)).strip()))
