"""What a model of labels told of documents whose labels it had not seen: kept with it, so that pages can say how good
it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from pathlib import Path

import numpy as np

from topiarist.arrays import Array
from topiarist.errors import DamagedError
from topiarist.store.tensors import map_tensors, write_tensors

ARRAYS = "heldout.safetensors"
ALIKE, STEPS = 50, 20  # labels that were given about as clearly, to tell how many of them are right; steps at most


@dataclass(frozen=True)
class HeldOut:
    """Documents, the labels that they have, and those that they got; labels are numbers of the model's classes.

    Where a document has one label it got one, and the likeliest heading at each level with its probability.
    """

    labelled: Array  # documents that each label was learned from
    by_table: Array  # [1] if labels came in a table of their own, not with the documents
    rows: Array  # (n,) of the collection
    right_place: Array  # labels that documents have: the place in ``rows``, and the label
    right_label: Array
    told_place: Array  # labels that they got: the place, the label, and its share, and how clearly it was given
    told_label: Array
    told_share: Array
    told_score: Array
    groups: Array  # (n, levels) where documents have one label; else (n, 0)
    certainty: Array
    judged: Array = field(default_factory=lambda: np.zeros(1, np.int64))  # the judgement made last before; older: none

    @cached_property
    def told_right(self) -> Array:
        """For each label that a document got: whether it has it."""
        n = max(len(self.labelled), 1)
        found: Array = np.isin(self.told_place * n + self.told_label, self.right_place * n + self.right_label)
        return found

    @cached_property
    def right_told(self) -> Array:
        """For each label that a document has: whether it got it."""
        n = max(len(self.labelled), 1)
        found: Array = np.isin(self.right_place * n + self.right_label, self.told_place * n + self.told_label)
        return found

    def precision(self) -> tuple[Array, Array]:
        """Of each label: how many documents got it, and how many of these have it."""
        n = len(self.labelled)
        return np.bincount(self.told_label, minlength=n), np.bincount(self.told_label[self.told_right], minlength=n)

    def recall(self) -> tuple[Array, Array]:
        """Of each label: how many documents have it, and how many of these got it."""
        n = len(self.labelled)
        return np.bincount(self.right_label, minlength=n), np.bincount(self.right_label[self.right_told], minlength=n)

    def exact(self) -> float:
        """The share of documents that got just the labels that they have."""
        wrong = np.union1d(self.told_place[~self.told_right], self.right_place[~self.right_told])
        return 1.0 - len(wrong) / max(len(self.rows), 1)

    def right_as_clear(self, score: Array) -> Array:
        """How often labels were right that documents got as clearly: rising with the score, never quite 0 or 1."""
        order = np.argsort(self.told_score, kind="stable")
        if not len(order):
            return np.full(len(score), 0.5)
        from sklearn.isotonic import isotonic_regression  # takes long to import, and few pages need it

        steps = np.array_split(order, int(np.clip(len(order) // ALIKE, 1, STEPS)))
        right = self.told_right
        clear = [float(self.told_score[step].mean()) for step in steps]
        shares = [(right[step].sum() + 1) / (len(step) + 2) for step in steps]
        rising = isotonic_regression(shares, sample_weight=[len(step) for step in steps])
        found: Array = np.interp(score, clear, rising)
        return found

    def confused(self) -> Counter[tuple[int, int]]:
        """How many documents have one label that they did not get, and got another that they do not have."""
        return Counter((own, other) for _, own, other, _ in self._wrong())

    def pair(self, own: int, other: int) -> list[tuple[int, float]]:
        """The rows of a pair that was confused, and how clearly the wrong label was given."""
        return [(int(self.rows[place]), score) for place, a, b, score in self._wrong() if (a, b) == (own, other)]

    def _wrong(self) -> list[tuple[int, int, int, float]]:
        given: dict[int, list[tuple[int, float]]] = {}
        wrong = ~self.told_right
        told = zip(self.told_place[wrong], self.told_label[wrong], self.told_score[wrong], strict=True)
        for place, label, score in told:
            given.setdefault(int(place), []).append((int(label), float(score)))
        missed = ~self.right_told
        return [
            (int(place), int(own), other, score)
            for place, own in zip(self.right_place[missed], self.right_label[missed], strict=True)
            for other, score in given.get(int(place), ())
        ]


def held_out(
    names: Sequence[str],
    rows: Sequence[int] | Array,
    right: Sequence[Sequence[str]],
    told: tuple[Array, Array, Array, Array],
    best: tuple[Array, Array] | None,
    labelled: Mapping[str, int],
    *,
    by_table: bool = False,
    judged: int = 0,
) -> HeldOut:
    """What documents have and got; ``told`` and ``best`` are those of ``categories.Told``.

    ``judged``: the number of the newest judgement that was learned from.
    """
    number = {name: place for place, name in enumerate(names)}
    have = [(place, number[name]) for place, own in enumerate(right) for name in own if name in number]
    groups, certainty = best if best is not None else (np.empty((len(rows), 0)), np.empty((len(rows), 0)))
    return HeldOut(
        np.array([labelled.get(name, 0) for name in names], np.int64), np.array([int(by_table)], np.int64),
        np.asarray(rows, np.int64), np.array([place for place, _ in have], np.int64),
        np.array([label for _, label in have], np.int64), told[0].astype(np.int64), told[1].astype(np.int64),
        told[2].astype(np.float32), told[3].astype(np.float32), groups.astype(np.int32), certainty.astype(np.float32),
        np.array([judged], np.int64),
    )  # fmt: skip


def write_held_out(folder: Path, held: HeldOut) -> None:
    """Beside the model that it is of."""
    write_tensors(folder / ARRAYS, {one.name: getattr(held, one.name) for one in fields(HeldOut)})


def read_held_out(folder: Path) -> HeldOut | None:
    """What was written; None for a model that was learned before this was kept."""
    if not (folder / ARRAYS).exists():
        return None
    arrays = map_tensors(folder / ARRAYS)
    known = [one.name for one in fields(HeldOut) if one.name in arrays or one.default_factory is MISSING]
    try:
        return HeldOut(**{name: arrays[name] for name in known})
    except KeyError as error:
        raise DamagedError(f"{folder / ARRAYS} is damaged: there is no {error}", hint="topiarist check") from error
