"""Documents of a collection with the categories that were learned, and how good those are by held-out documents."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection.judge.categories import MOST, Categories, Told, spread
from topiarist.collection.judge.heldout_answers import HeldOut, held_out
from topiarist.collection.judge.judgements import Judgements

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection


JUDGED = MOST  # documents that are looked at; of more, some that are spread evenly
STEPS = 100  # of the certainty that may be asked for, from 0 to 99 %
KEPT = 4  # models whose answers are remembered
LEFT = -1  # level of a document that is certain enough nowhere


@dataclass(frozen=True)
class Level:
    """What of the documents goes to categories, or to headings of a level: their share, and how many are right."""

    share: float
    correct: float | None


@dataclass(frozen=True)
class Filing:
    """Documents of a collection with their categories; and others by which these are judged.

    ``seen``: the model has seen the labels of those others, so that it seems better than it is.
    """

    categories: Categories
    rows: Array
    told: Told
    certainty: Array  # of each label that was told
    basis: HeldOut
    seen: bool

    @cached_property
    def confused(self) -> Counter[tuple[int, int]]:
        """Labels that were missed, and those that were told instead."""
        return self.basis.confused()

    @cached_property
    def basis_certainty(self) -> Array:
        """Of each label that held-out documents got."""
        return certainty_of(self.categories, self.basis, self.basis.told_share, self.basis.told_score)

    @cached_property
    def curve(self) -> tuple[tuple[Level, ...], ...]:
        """The levels at every certainty that may be asked for."""
        return tuple(self.levels(step / STEPS) for step in range(STEPS))

    def levels_at(self, rho: float) -> Array:
        """The level at which each document is filed."""
        if self.told.best is not None:
            return filed_at(self.told.best[1], rho)
        found = np.full(len(self.rows), LEFT)
        found[self.told.place[self.filed(rho)]] = 0
        return found

    def filed(self, rho: float) -> Array:
        """Which of the labels that were told hold: they are certain enough."""
        found: Array = self.certainty >= np.float32(rho)
        return found

    def levels(self, rho: float) -> tuple[Level, ...]:
        """By the documents that judge: at categories first, then at headings from below, then nowhere."""
        basis, n = self.basis, max(len(self.basis.rows), 1)
        if self.told.best is None:
            sure = self.basis_certainty >= np.float32(rho)
            filed = len(np.unique(basis.told_place[sure])) / n
            right = float(basis.told_right[sure].mean()) if sure.any() else None
            return Level(filed, right), Level(1.0 - filed, None)
        at, found = filed_at(basis.certainty, rho), []
        for level in reversed(range(basis.certainty.shape[1])):
            here = at == level
            group = self.categories.headings.groups[level][basis.right_label]
            right = float((group == basis.groups[:, level])[here].mean()) if here.any() else None
            found.append(Level(float(here.sum()) / n, right))
        return (*found, Level(float((at == LEFT).sum()) / n, None))


def filed_at(certainty: Array, rho: float) -> Array:
    """The deepest level at which a document is certain enough."""
    sure = certainty >= np.float32(rho)
    deepest = sure.shape[1] - 1 - sure[:, ::-1].argmax(axis=1)
    return np.where(sure.any(axis=1), deepest, LEFT)


def certainty_of(categories: Categories, basis: HeldOut, share: Array, score: Array) -> Array:
    """P(label | document); or where documents have several, how many labels are right that are given as clearly."""
    if categories.several and len(basis.told_score):
        return basis.right_as_clear(score).astype(np.float32)
    return share.astype(np.float32)


_known: OrderedDict[tuple[int, int, int], Filing] = OrderedDict()
_lock = threading.Lock()


def filing(collection: Collection, categories: Categories) -> Filing:
    """The documents of a collection with their categories; worked out once for a model, whatever the tree becomes.

    Where it is judged by labels that documents have now, that is done again after somebody has judged one.
    """
    seen = categories.held is None or not len(categories.held.rows)
    number = Judgements(collection.generation.database).last_number() if seen else 0
    # what is remembered holds the model, so that no other has its number
    key = id(categories.model), len(collection), number
    with _lock:
        if key not in _known:
            earlier = next((one for one in _known if one[:2] == key[:2]), None)
            _known[key] = _made(collection, categories, None if earlier is None else _known.pop(earlier).told)
        _known.move_to_end(key)
        while len(_known) > KEPT:
            _known.popitem(last=False)
        return _known[key]


def _made(collection: Collection, categories: Categories, read: Told | None = None) -> Filing:
    """``read``: what the model tells of these documents, if that is known already."""
    rows, known = spread(len(collection), JUDGED), categories.known
    fits = known is not None and np.array_equal(known[0], rows)  # no document was added since
    if read is None:
        read = known[1] if known is not None and fits else read_rows(collection, categories, rows)
    told, basis = read, categories.held
    seen = basis is None or not len(basis.rows)
    if seen:
        basis = _by_seen(collection, categories, rows, told, basis)
    assert basis is not None  # noqa: S101
    return Filing(categories, rows, told, certainty_of(categories, basis, told.share, told.score), basis, seen)


def vectors_at(collection: Collection, categories: Categories, rows: Array) -> Floats | None:
    """The vectors of some documents, where they have a say in categories and there are any."""
    vectors = collection.vectors if categories.knows_vectors else None
    return None if vectors is None else vectors[rows]


def read_rows(collection: Collection, categories: Categories, rows: Array, names: Sequence[str] | None = None) -> Told:
    """What a model tells of documents of a collection."""
    return categories.read(collection.all_counts[rows], names, vectors_at(collection, categories, rows))


def _by_seen(collection: Collection, categories: Categories, rows: Array, told: Told, kept: HeldOut | None) -> HeldOut:
    """The labels that documents have, against those that the model tells after it has learned from them."""
    every = collection.documents.labels_of(rows.tolist())
    names = set(categories.names)
    right = [tuple(name for name in own if name in names) for own in every]
    right = right if categories.several else [own[:1] for own in right]
    have = np.array([bool(own) for own in right], bool)
    number = np.cumsum(have) - 1
    of = have[told.place]
    best = None if told.best is None else (told.best[0][have], told.best[1][have])
    sizes = {} if kept is None else dict(zip(categories.names, kept.labelled.tolist(), strict=True))
    return held_out(
        categories.names,
        rows[have],
        [own for own in right if own],
        (number[told.place[of]], told.label[of], told.share[of], told.score[of]),
        best,
        sizes,
        by_table=kept is not None and bool(kept.by_table[0]),
        judged=0 if kept is None else int(kept.judged[0]),
    )


@dataclass(frozen=True)
class FiledRows:
    """Documents of a category, of a heading, or left for a person: the least certain first, and what they are filed as.

    ``label``: the category that each of them would get, if that is known; else ``level`` and ``group`` of the heading.
    """

    rows: Array
    certainty: Array
    label: int | None = None
    level: int = LEFT
    group: int = -1

    def without(self, *others: Sequence[int]) -> FiledRows:
        """Those that are in none of some lists of rows."""
        kept = np.ones(len(self.rows), bool)
        for rows in others:
            kept &= ~np.isin(self.rows, rows)
        return replace(self, rows=self.rows[kept], certainty=self.certainty[kept])

    def part(self, start: int, stop: int) -> FiledRows:
        """Some of them, by their places."""
        return replace(self, rows=self.rows[start:stop], certainty=self.certainty[start:stop])


def filed_under(made: Filing, label: str, rho: float) -> FiledRows | None:
    """The documents of a category, or of a heading and no deeper, at a certainty; None where there is no such name."""
    names, headings = made.categories.names, made.categories.headings
    if label in names:
        place = names.index(label)
        here = made.filed(rho) & (made.told.label == place)
        return _ordered(made.rows[made.told.place[here]], made.certainty[here], label=place)
    for level in range(headings.levels - 1 if made.told.best is not None else 0):
        if label in headings.names[level] and made.told.best is not None:
            group = headings.names[level].index(label)
            here = (made.levels_at(rho) == level) & (made.told.best[0][:, level] == group)
            return _ordered(made.rows[here], made.told.best[1][here, level], level=level, group=group)
    return None


def confused_with(made: Filing, label: str, told: str) -> FiledRows:
    """The held-out documents with a label that the model gave another one instead."""
    names = list(made.categories.names)
    found = made.basis.pair(names.index(label), names.index(told))
    rows, score = np.array([row for row, _ in found], np.int64), np.array([score for _, score in found], np.float32)
    return _ordered(rows, certainty_of(made.categories, made.basis, score, score), label=names.index(told))


def left_over(made: Filing, rho: float) -> FiledRows:
    """Documents that are certain enough nowhere."""
    here = made.levels_at(rho) == LEFT
    if made.told.best is not None:
        return _ordered(made.rows[here], made.told.best[1][here, -1])
    largest = np.zeros(len(made.rows), np.float32)
    np.maximum.at(largest, made.told.place, made.certainty)
    return _ordered(made.rows[here], largest[here])


def _ordered(rows: Array, certainty: Array, **filed: int) -> FiledRows:
    order = np.lexsort((rows, certainty.round(4)))
    return FiledRows(rows[order], certainty[order], **filed)


@dataclass(frozen=True)
class Answer:
    """What the model says of a document: the category that accepting gives, its headings, labels, other categories."""

    label: int
    path: tuple[tuple[str, str, float], ...]  # the full name, the name to show, and the certainty of each heading
    certain: dict[str, float]  # of the labels that the model gives, where documents have several
    likely: tuple[str, ...]  # other categories, the likeliest first


def answers(collection: Collection, made: Filing, filed: FiledRows, likely: int) -> list[Answer]:
    """What the model says of some documents."""
    if not len(filed.rows):
        return []
    counts, names = collection.all_counts[filed.rows], made.categories.names
    near = vectors_at(collection, made.categories, filed.rows)
    shares = made.categories.shares(counts, near)
    read = made.categories.read(counts, vectors=near) if made.categories.several else None
    sure = None if read is None else certainty_of(made.categories, made.basis, read.share, read.score)
    found = []
    for place, own in enumerate(shares):
        label, certain = _accepted(made, filed, own), {}
        if read is not None and sure is not None:
            certain = {names[read.label[at]]: float(sure[at]) for at in np.flatnonzero(read.place == place)}
            if filed.label is not None:
                certain.setdefault(names[filed.label], float(filed.certainty[place]))
        order = np.argsort(-own, kind="stable")[: likely + 1]
        others = tuple(names[one] for one in order.tolist() if one != label)[:likely]
        found.append(Answer(label, () if read is not None else _path(made, own, label), certain, others))
    return found


def _accepted(made: Filing, filed: FiledRows, shares: Array) -> int:
    """What accepting a document gives: the category of the list, or the likeliest under its heading."""
    if filed.label is not None:
        return filed.label
    if filed.level == LEFT:
        return int(shares.argmax())
    return int(np.where(made.categories.headings.groups[filed.level] == filed.group, shares, -1.0).argmax())


def _path(made: Filing, shares: Array, label: int) -> tuple[tuple[str, str, float], ...]:
    """The headings of a category and itself, with the certainty of each."""
    headings, found = made.categories.headings, []
    for level in range(headings.levels):
        group = headings.groups[level, label]
        name, last = headings.names[level][group], level == headings.levels - 1
        if last or name != made.categories.names[label]:
            together = float(shares[headings.groups[level] == group].sum())
            found.append((name, name if last else name[:-1], min(together, 1.0)))
    return tuple(found)


@dataclass(frozen=True)
class CategoryFigures:
    """How many documents are filed under each category, and how far held-out documents agree.

    ``agreement``: of those that have it, the share that got it. ``precision``: of those that got it, the share that has
    it. ``confused``: the categories that those got which did not get it, and how many.
    """

    filed: int
    held_out: int
    agreement: float | None
    precision: float | None
    confused: list[tuple[str, int]]


def category_figures(made: Filing, rho: float, most_confused: int) -> list[CategoryFigures]:
    """The figures of every category at a certainty."""
    names = made.categories.names
    filed = np.bincount(made.told.label[made.filed(rho)].astype(np.int64), minlength=len(names))
    (got, got_right), (have, have_told) = made.basis.precision(), made.basis.recall()
    wrong: dict[int, Counter[int]] = {}
    for (own, other), number in made.confused.items():
        wrong.setdefault(own, Counter())[other] = number
    return [
        CategoryFigures(
            int(filed[label]),
            int(have[label]),
            float(have_told[label] / have[label]) if have[label] else None,
            float(got_right[label] / got[label]) if got[label] else None,
            [(names[other], number) for other, number in wrong.get(label, Counter()).most_common(most_confused)],
        )
        for label in range(len(names))
    ]


def documents_by_level(made: Filing, rho: float) -> tuple[int, int]:
    """How many documents are filed at a category, and how many are certain enough nowhere."""
    at = made.levels_at(rho)
    here = made.categories.headings.levels - 1 if made.told.best is not None else 0
    return int((at == here).sum()), int((at < 0).sum())


def labels_with_certainty(
    collection: Collection, counts: Csr, vectors: Floats | None = None
) -> dict[int, dict[str, float]]:
    """How certain each label of other documents is, where a document may have several; by place and name.

    ``counts`` and ``vectors``: those of the documents, as filing has made them.
    """
    found: dict[int, dict[str, float]] = {}
    categories = collection.categories
    if categories is None or not categories.several:
        return found
    told = categories.read(counts, vectors=vectors)
    sure = told.share if categories.held is None else certainty_of(categories, categories.held, told.share, told.score)
    for place, label, certainty in zip(told.place.tolist(), told.label.tolist(), sure.tolist(), strict=True):
        found.setdefault(place, {})[categories.names[label]] = certainty
    return found


def headings_at(made: Filing, rho: float) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Each level above the categories, from below: its headings, and how many documents go there."""
    if made.told.best is None:
        return
    at, names = made.levels_at(rho), made.categories.headings.names
    for level in reversed(range(len(names) - 1)):
        sizes = Counter(made.told.best[0][at == level, level].tolist())
        yield level, [(names[level][group], number) for group, number in sizes.most_common()]
