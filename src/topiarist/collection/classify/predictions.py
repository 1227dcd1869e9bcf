"""Category predictions: headings of labels, predicted labels, and predictions for held-out documents."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.vectors import find_rows_with_vectors
from topiarist.errors import reading
from topiarist.storage.tensors import map_tensors, write_tensors

PREDICTIONS_FILE = "told.safetensors"
MAX_SAMPLE = 20_000  # documents with predictions; of a larger collection an even sample
_NUMBERS = ("place", "label", "share", "score")
MAX_HELDOUT_FOR_INTERVAL = 100  # held-out documents: with fewer, accuracy is reported with an interval
BLOCK = 4_096  # documents whose dense rows are in memory at once


@dataclass(frozen=True)
class Headings:
    """Hierarchy of labels: for each level, from the top, the names of its groups and the group of each label.

    The last level is the labels. A label with fewer headings forms a separate group at the levels that it lacks. The
    name of a heading ends with the separator, so that it differs from the names of labels.
    """

    names: tuple[tuple[str, ...], ...]
    groups: Array  # levels × labels

    @property
    def levels(self) -> int:
        """Number of levels, 1 without a hierarchy."""
        return len(self.names)

    def best(self, shares: Array) -> tuple[Array, Array]:
        """Return the most probable group of each document at each level, and its probability; documents × levels."""
        best_groups, certainty = [], []
        for names, groups in zip(self.names, self.groups, strict=True):
            membership = np.zeros((shares.shape[1], len(names)))
            membership[np.arange(shares.shape[1]), groups] = 1.0
            group_shares = shares @ membership
            best_groups.append(group_shares.argmax(axis=1))
            certainty.append(group_shares.max(axis=1, initial=0.0))
        return np.stack(best_groups, axis=1).astype(np.int32), np.stack(certainty, axis=1).astype(np.float32)


def find_headings(labels: Sequence[str]) -> Headings:
    """Return the levels of headings in labels with slashes, otherwise in labels with dots."""
    chains = _chain_prefixes(labels, "/") if any("/" in label for label in labels) else _chain_dotted_names(labels)
    depth = max((len(chain) for chain in chains), default=1)
    padded = [(*chain, *[chain[-1]] * (depth - len(chain))) for chain in chains]
    names, groups = [], []
    for level in range(depth):
        level_names = list(labels) if level == depth - 1 else sorted({chain[level] for chain in padded})
        place = {name: number for number, name in enumerate(level_names)}
        names.append(tuple(level_names))
        groups.append([place[chain[level]] for chain in padded])
    return Headings(tuple(names), np.array(groups, np.int64).reshape(depth, len(labels)))


def _chain_dotted_names(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """Split labels at dots if most are names such as comp.graphics and not sentences."""
    dotted_labels = [
        label for label in labels if all(label.split(".")) and "." in label and not any(map(str.isspace, label))
    ]
    return _chain_prefixes(labels, ".") if 2 * len(dotted_labels) >= len(labels) else [(label,) for label in labels]


def _chain_prefixes(labels: Sequence[str], sign: str) -> list[tuple[str, ...]]:
    """Return for each label its shared prefixes, the shortest first, and the label itself."""
    n_below: dict[str, int] = {}
    for label in labels:
        for prefix in _prefixes(label, sign):
            n_below[prefix] = n_below.get(prefix, 0) + 1
    chains = []
    for label in labels:
        chain, size = [], len(labels)
        for prefix in _prefixes(label, sign):
            if 2 <= n_below[prefix] < size:
                chain.append(prefix)
                size = n_below[prefix]
        chains.append((*chain, label))
    return chains


def _prefixes(label: str, sign: str) -> list[str]:
    """Return ``law/`` and ``law/bail/`` for law/bail: a label can be the heading of others."""
    parts = label.split(sign)
    return [sign.join(parts[: end + 1]) + sign for end in range(len(parts))]


@dataclass(frozen=True)
class PredictedLabels:
    """Predicted labels: place of the document, label, share and score; with one label also the best headings."""

    place: Array
    label: Array
    share: Array
    score: Array  # share, divided by the threshold of the label if labels have thresholds
    best: tuple[Array, Array] | None

    def select(self, keep: Array) -> PredictedLabels:
        """Return the predictions of the documents in the mask ``keep``, by their new places."""
        is_kept = keep[self.place]
        place = (np.cumsum(keep) - 1)[self.place[is_kept]].astype(self.place.dtype)
        best = None if self.best is None else (self.best[0][keep], self.best[1][keep])
        return PredictedLabels(place, self.label[is_kept], self.share[is_kept], self.score[is_kept], best)


def sample_rows(n_docs: int, max_rows: int = MAX_SAMPLE) -> Array:
    return np.arange(0, n_docs, max(1, -(-n_docs // max_rows)))


def write_predictions(folder: Path, rows: Array, predictions: PredictedLabels) -> None:
    arrays = {"rows": rows, **{name: getattr(predictions, name) for name in _NUMBERS}}
    if predictions.best is not None:
        arrays |= {"groups": predictions.best[0], "certainty": predictions.best[1]}
    write_tensors(folder / PREDICTIONS_FILE, arrays)


def read_predictions(folder: Path) -> tuple[Array, PredictedLabels]:
    """Return the rows of documents and their stored predictions, memory-mapped."""
    arrays = map_tensors(folder / PREDICTIONS_FILE)
    with reading(str(folder / PREDICTIONS_FILE)):
        best = (arrays["groups"], arrays["certainty"]) if "groups" in arrays else None
        place, label, share, score = (arrays[name] for name in _NUMBERS)
        return arrays["rows"], PredictedLabels(place, label, share, score, best)


@dataclass(frozen=True)
class Categories:
    """Fitted ``CategoryLearner`` with its predictions of held-out and other documents at the time of learning."""

    model: Any
    is_multilabel: bool
    heldout: HeldOut | None = None  # predictions for held-out documents
    stored_predictions: tuple[Array, PredictedLabels] | None = None  # rows at that time, and their predictions
    word_model: Any = None  # fitted ``PMM``, if documents have several labels

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.model.classes_)

    @property
    def reason(self) -> str:
        return str(self.model.reason_)

    @cached_property
    def headings(self) -> Headings:
        return find_headings(self.names)

    @property
    def uses_vectors(self) -> bool:
        """True if predictions use the embeddings of documents."""
        return bool(self.model.uses_vectors_)

    def _vector_arguments(self, vectors: Floats | None) -> dict[str, Floats]:
        return {"vectors": vectors} if vectors is not None and self.uses_vectors else {}

    def predict(self, counts: Csr, vectors: Floats | None = None) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
        """Return labels and certainties of each document, certainties only for single labels; empty if unknown."""
        empty = np.diff(counts.indptr) == 0
        if vectors is not None and self.uses_vectors:
            empty &= ~find_rows_with_vectors(vectors)
        if self.is_multilabel:
            indicator = self._predict_indicator(counts, vectors) & ~empty[:, None]
            return [(tuple(self.names[column] for column in np.flatnonzero(row)), ()) for row in indicator]
        rows = self.model.predict_proba(counts, **self._vector_arguments(vectors))
        best = [((self.names[column],), (round(float(rows[row, column]), 4),))
                for row, column in enumerate(rows.argmax(axis=1))]  # fmt: skip
        return [((), ()) if is_empty else prediction for prediction, is_empty in zip(best, empty.tolist(), strict=True)]

    def _predict_indicator(self, counts: Csr, vectors: Floats | None) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            indicator: Any = self.model.predict(counts, **self._vector_arguments(vectors))
        return np.asarray(indicator.toarray() if hasattr(indicator, "toarray") else indicator) > 0

    def _compute_thresholds(self, n_docs: int, vectors: Floats | None) -> Floats | None:
        """Return the share that each label needs in each document; None for a model without thresholds."""
        if self.model.label_threshold_ is None:
            return None
        needs: Floats = self.model.label_thresholds(n_docs, **self._vector_arguments(vectors))
        return needs

    def shares(self, counts: Csr, vectors: Floats | None = None) -> Array:
        """Return P(label | document); documents × labels."""
        shares: Array = self.model.predict_proba(counts, **self._vector_arguments(vectors))
        return shares

    def predict_labels(
        self, counts: Csr, names: Sequence[str] | None = None, vectors: Floats | None = None
    ) -> PredictedLabels:
        """Predict labels block by block; ``names`` number the labels, and can exceed the labels of the model."""
        label_names = tuple(names or self.names)
        place = {name: number for number, name in enumerate(label_names)}
        columns = np.array([place[name] for name in self.names], np.int64)
        headings = self.headings if label_names == self.names else find_headings(label_names)
        starts = range(0, max(counts.shape[0], 1), BLOCK)
        parts = [
            self._predict_block(
                counts[start : start + BLOCK],
                start,
                columns,
                headings,
                None if vectors is None else vectors[start : start + BLOCK],
            )
            for start in starts
        ]
        numbers = [np.concatenate([part[at] for part in parts]) for at in range(len(parts[0]))]
        best = None if self.is_multilabel else (numbers[4], numbers[5])
        return PredictedLabels(numbers[0], numbers[1], numbers[2], numbers[3], best)

    def _predict_block(
        self, counts: Csr, start: int, columns: Array, headings: Headings, vectors: Floats | None
    ) -> tuple[Array, ...]:
        """Return document numbers, labels, shares and scores of a block; with one label, groups as well."""
        n = counts.shape[0]
        shares = self.shares(counts, vectors) if n else np.empty((0, len(columns)))
        if self.is_multilabel:
            indicator = (
                self._predict_indicator(counts, vectors) if n else shares > 0
            )  # a document without known words is not a special case
            place, label = np.nonzero(indicator)
            label_shares, needs = shares[place, label], self._compute_thresholds(n, vectors)
            return (
                place + start,
                columns[label],
                label_shares,
                label_shares if needs is None else label_shares / needs[place, label],
            )
        wide = np.zeros((n, headings.groups.shape[1]))
        wide[:, columns] = shares
        groups, certainty = headings.best(wide)
        return np.arange(n) + start, groups[:, -1], certainty[:, -1], certainty[:, -1], groups, certainty


HELDOUT_FILE = "heldout.safetensors"
DOCUMENTS_PER_STEP, MAX_STEPS = (
    50,
    20,
)  # predicted labels per calibration step; at most so many steps


@dataclass(frozen=True)
class HeldOut:
    """Held-out documents with their true and predicted labels; labels are numbers of the classes of the model.

    With one label per document, also the most probable heading at each level and its probability.
    """

    labelled: Array  # training documents of each label
    by_table: Array  # [1] if labels came from a separate table, not with the documents
    rows: Array  # (n,) of the collection
    right_place: Array  # true labels: place in ``rows`` and label
    right_label: Array
    told_place: Array  # predicted labels: place in ``rows``, label, share and score
    told_label: Array
    told_share: Array
    told_score: Array
    groups: Array  # (n, levels) with one label per document, otherwise (n, 0)
    certainty: Array
    judged: Array  # [1] number of the last judgement before learning

    @cached_property
    def is_correct(self) -> Array:
        """Return for each predicted label, in the order of ``told_label``, whether it is a true label."""
        n = max(len(self.labelled), 1)
        is_right: Array = np.isin(self.told_place * n + self.told_label, self.right_place * n + self.right_label)
        return is_right

    @cached_property
    def is_found(self) -> Array:
        """Return for each true label, in the order of ``right_label``, whether it was predicted."""
        n = max(len(self.labelled), 1)
        is_predicted: Array = np.isin(self.right_place * n + self.right_label, self.told_place * n + self.told_label)
        return is_predicted

    def precision(self) -> tuple[Array, Array]:
        """Return the number of documents with each predicted label, and the number of correct ones."""
        n = len(self.labelled)
        return np.bincount(self.told_label, minlength=n), np.bincount(self.told_label[self.is_correct], minlength=n)

    def recall(self) -> tuple[Array, Array]:
        """Return the number of documents with each true label, and the number predicted correctly."""
        n = len(self.labelled)
        return np.bincount(self.right_label, minlength=n), np.bincount(self.right_label[self.is_found], minlength=n)

    def exact(self) -> float:
        """Return the share of documents whose predicted labels are exactly their true labels."""
        wrong = np.union1d(self.told_place[~self.is_correct], self.right_place[~self.is_found])
        return 1.0 - len(wrong) / max(len(self.rows), 1)

    def estimate_precision(self, score: Array) -> Array:
        """Return the probability that labels with these scores are correct.

        It rises with the score and is never 0 or 1.
        """
        order = np.argsort(self.told_score, kind="stable")
        if not len(order):
            return np.full(len(score), 0.5)
        from sklearn.isotonic import isotonic_regression  # takes long to import, and few pages need it

        steps = np.array_split(order, int(np.clip(len(order) // DOCUMENTS_PER_STEP, 1, MAX_STEPS)))
        right = self.is_correct
        mean_scores = [float(self.told_score[step].mean()) for step in steps]
        shares = [(right[step].sum() + 1) / (len(step) + 2) for step in steps]
        rising = isotonic_regression(shares, sample_weight=[len(step) for step in steps])
        probability: Array = np.interp(score, mean_scores, rising)
        return probability

    def count_confusions(self) -> Counter[tuple[int, int]]:
        """Count documents by each pair of a missed true label and a wrong predicted label."""
        return Counter((label, other) for _, label, other, _ in self._list_wrong_pairs())

    def list_confused(self, label: int, other: int) -> list[tuple[int, float]]:
        """Return the rows of a confused pair of labels, with the scores of the wrong label."""
        return [
            (int(self.rows[place]), score)
            for place, a, b, score in self._list_wrong_pairs()
            if (a, b) == (label, other)
        ]

    def _list_wrong_pairs(self) -> list[tuple[int, int, int, float]]:
        """Return a tuple (document, missed label, wrong label, score) for each confused pair."""
        wrong_labels: dict[int, list[tuple[int, float]]] = {}
        is_wrong = ~self.is_correct
        predictions = zip(self.told_place[is_wrong], self.told_label[is_wrong], self.told_score[is_wrong], strict=True)
        for place, label, score in predictions:
            wrong_labels.setdefault(int(place), []).append((int(label), float(score)))
        is_missed = ~self.is_found
        return [
            (int(place), int(true_label), other, score)
            for place, true_label in zip(self.right_place[is_missed], self.right_label[is_missed], strict=True)
            for other, score in wrong_labels.get(int(place), ())
        ]


def collect_heldout(
    names: Sequence[str],
    rows: Sequence[int] | Array,
    true_labels: Sequence[Sequence[str]],
    predictions: PredictedLabels,
    label_sizes: Mapping[str, int],
    *,
    by_table: bool = False,
    last_judgement: int = 0,
) -> HeldOut:
    """Return true and predicted labels of held-out documents; ``last_judgement`` is the last one used for learning."""
    number = {name: place for place, name in enumerate(names)}
    label_pairs = [
        (place, number[name])
        for place, document_labels in enumerate(true_labels)
        for name in document_labels
        if name in number
    ]
    groups, certainty = predictions.best or (np.empty((len(rows), 0)), np.empty((len(rows), 0)))
    return HeldOut(
        np.array([label_sizes.get(name, 0) for name in names], np.int64), np.array([int(by_table)], np.int64),
        np.asarray(rows, np.int64), np.array([place for place, _ in label_pairs], np.int64),
        np.array([label for _, label in label_pairs], np.int64), predictions.place.astype(np.int64),
        predictions.label.astype(np.int64), predictions.share.astype(np.float32), predictions.score.astype(np.float32),
        groups.astype(np.int32), certainty.astype(np.float32),
        np.array([last_judgement], np.int64),
    )  # fmt: skip


def write_held_out(folder: Path, heldout: HeldOut) -> None:
    write_tensors(folder / HELDOUT_FILE, {field.name: getattr(heldout, field.name) for field in fields(HeldOut)})


def read_held_out(folder: Path) -> HeldOut:
    arrays = map_tensors(folder / HELDOUT_FILE)
    with reading(str(folder / HELDOUT_FILE)):
        return HeldOut(**{field.name: arrays[field.name] for field in fields(HeldOut)})


def compute_accuracy_interval(share: float, number: int) -> tuple[float, float] | None:
    """Return the 95% Wilson interval of an accuracy on few held-out documents; None for many documents."""
    if number >= MAX_HELDOUT_FOR_INTERVAL:
        return None
    z = 1.96
    middle, spread = share + z * z / (2 * number), z * math.sqrt(share * (1 - share) / number + (z / (2 * number)) ** 2)
    scale = 1 + z * z / number
    return round(max(0.0, (middle - spread) / scale), 4), round(min(1.0, (middle + spread) / scale), 4)
