"""What the model of the labels tells of documents, and what it told of those whose labels it had not seen."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.app.explorer.view import View
from topiarist.collection.judge.categories import MOST, Categories, Told, spread
from topiarist.collection.judge.heldout_answers import HeldOut, held_out
from topiarist.collection.judge.judgements import Judgements

Array = np.ndarray[Any, Any]
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


def filing(view: View, categories: Categories) -> Filing:
    """The documents of a collection with their categories; worked out once for a model, whatever the tree becomes.

    Where it is judged by labels that documents have now, that is done again after somebody has judged one.
    """
    seen = categories.held is None or not len(categories.held.rows)
    number = Judgements(view.collection.generation.database).last_number() if seen else 0
    # what is remembered holds the model, so that no other has its number
    key = id(categories.model), view.n_docs, number
    with _lock:
        if key not in _known:
            earlier = next((one for one in _known if one[:2] == key[:2]), None)
            _known[key] = _made(view, categories, None if earlier is None else _known.pop(earlier).told)
        _known.move_to_end(key)
        while len(_known) > KEPT:
            _known.popitem(last=False)
        return _known[key]


def _made(view: View, categories: Categories, read: Told | None = None) -> Filing:
    """``read``: what the model tells of these documents, if that is known already."""
    rows, known = spread(view.n_docs, JUDGED), categories.known
    fits = known is not None and np.array_equal(known[0], rows)  # no document was added since
    if read is None:
        read = known[1] if known is not None and fits else categories.read(view.collection.counts[rows])
    told, basis = read, categories.held
    seen = basis is None or not len(basis.rows)
    if seen:
        basis = _by_seen(view, categories, rows, told, basis)
    assert basis is not None  # noqa: S101
    return Filing(categories, rows, told, certainty_of(categories, basis, told.share, told.score), basis, seen)


def _by_seen(view: View, categories: Categories, rows: Array, told: Told, kept: HeldOut | None) -> HeldOut:
    """The labels that documents have, against those that the model tells after it has learned from them."""
    every = view.collection.documents.labels_of(rows.tolist())
    names = set(categories.names)
    right = [tuple(name for name in own if name in names) for own in every]
    right = right if categories.several else [own[:1] for own in right]
    have = np.array([bool(own) for own in right], bool)
    number = np.cumsum(have) - 1
    of = have[told.place]
    best = None if told.best is None else (told.best[0][have], told.best[1][have])
    sizes = {} if kept is None else dict(zip(categories.names, kept.labelled.tolist(), strict=True))
    return held_out(
        categories.names, rows[have], [own for own in right if own],
        (number[told.place[of]], told.label[of], told.share[of], told.score[of]), best, sizes,
        by_table=kept is not None and bool(kept.by_table[0]), judged=0 if kept is None else int(kept.judged[0]),
    )  # fmt: skip


def headings_at(made: Filing, rho: float) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Each level above the categories, from below: its headings, and how many documents go there."""
    if made.told.best is None:
        return
    at, names = made.levels_at(rho), made.categories.headings.names
    for level in reversed(range(len(names) - 1)):
        sizes = Counter(made.told.best[0][at == level, level].tolist())
        yield level, [(names[level][group], number) for group, number in sizes.most_common()]
