"""Filing: predicted categories of the documents of a collection, and their accuracy on held-out documents."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection.classify.judgements import Judgements
from topiarist.collection.classify.predictions import (
    MAX_SAMPLE,
    Categories,
    HeldOut,
    PredictedLabels,
    collect_heldout,
    sample_rows,
)

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection


MAX_DOCUMENTS = MAX_SAMPLE  # documents with predictions; of a larger collection an even sample
STEPS = 100  # values of the minimum certainty, from 0 to 99%
MAX_CACHED_FILINGS = 4  # models whose predictions are cached
UNFILED = -1  # level of a document without a certain category or heading


@dataclass(frozen=True)
class Level:
    """Share of the documents that are filed at a level, and the correct fraction."""

    share: float
    correct: float | None


@dataclass(frozen=True)
class Filing:
    """Categories of a sample of documents, with the held-out documents; the model may be trained on the latter."""

    categories: Categories
    rows: Array
    predictions: PredictedLabels
    certainty: Array  # of each predicted label
    basis: HeldOut
    is_training_data: bool

    @cached_property
    def confusions(self) -> Counter[tuple[int, int]]:
        """Number of held-out documents for each missed label and the label predicted instead."""
        return self.basis.count_confusions()

    @cached_property
    def basis_certainty(self) -> Array:
        """Certainty of each label predicted for held-out documents."""
        return compute_certainty(self.categories, self.basis, self.basis.told_share, self.basis.told_score)

    @cached_property
    def curve(self) -> tuple[tuple[Level, ...], ...]:
        """Levels at each minimum certainty."""
        return tuple(self.levels(step / STEPS) for step in range(STEPS))

    def levels_at(self, rho: float) -> Array:
        """Return the level at which each document is filed: 0 without headings, ``UNFILED`` if too uncertain."""
        if self.predictions.best is not None:
            return find_deepest_levels(self.predictions.best[1], rho)
        levels = np.full(len(self.rows), UNFILED)
        levels[self.predictions.place[self.select_certain(rho)]] = 0
        return levels

    def select_certain(self, rho: float) -> Array:
        """Return which predicted labels have at least a certainty."""
        is_certain: Array = self.certainty >= np.float32(rho)
        return is_certain

    def levels(self, rho: float) -> tuple[Level, ...]:
        """Return the share and accuracy of held-out documents filed at each level.

        Categories come first, then headings from the lowest level up, then unfiled documents.
        """
        basis, n = self.basis, max(len(self.basis.rows), 1)
        if self.predictions.best is None:
            is_certain = self.basis_certainty >= np.float32(rho)
            filed_share = len(np.unique(basis.told_place[is_certain])) / n
            right = float(basis.is_correct[is_certain].mean()) if is_certain.any() else None
            return Level(filed_share, right), Level(1.0 - filed_share, None)
        deepest, levels = find_deepest_levels(basis.certainty, rho), []
        for level in reversed(range(basis.certainty.shape[1])):
            is_here = deepest == level
            group = self.categories.headings.groups[level][basis.right_label]
            right = float((group == basis.groups[:, level])[is_here].mean()) if is_here.any() else None
            levels.append(Level(float(is_here.sum()) / n, right))
        return (*levels, Level(float((deepest == UNFILED).sum()) / n, None))


def find_deepest_levels(certainty: Array, rho: float) -> Array:
    """Return the deepest level at which each document has at least a certainty."""
    is_certain = certainty >= np.float32(rho)
    deepest = is_certain.shape[1] - 1 - is_certain[:, ::-1].argmax(axis=1)
    return np.where(is_certain.any(axis=1), deepest, UNFILED)


def compute_certainty(categories: Categories, basis: HeldOut, share: Array, score: Array) -> Array:
    """Return P(label | document), or with several labels the precision of labels with similar scores."""
    if categories.is_multilabel and len(basis.told_score):
        return basis.estimate_precision(score).astype(np.float32)
    return share.astype(np.float32)


_filing_cache: OrderedDict[tuple[int, int, int], Filing] = OrderedDict()
_lock = threading.Lock()


def load_filing(collection: Collection, categories: Categories) -> Filing:
    """Return a sample of documents with predicted categories and certainties, cached until the next judgement."""
    is_training_data = categories.heldout is None or not len(categories.heldout.rows)
    number = Judgements(collection.generation.database).last_number() if is_training_data else 0
    # the cached value keeps the model alive, so that no other model gets its id
    key = id(categories.model), len(collection), number
    with _lock:
        if key not in _filing_cache:
            earlier = next((cached_key for cached_key in _filing_cache if cached_key[:2] == key[:2]), None)
            _filing_cache[key] = _evaluate_filing(
                collection, categories, None if earlier is None else _filing_cache.pop(earlier).predictions
            )
        _filing_cache.move_to_end(key)
        while len(_filing_cache) > MAX_CACHED_FILINGS:
            _filing_cache.popitem(last=False)
        return _filing_cache[key]


def _evaluate_filing(
    collection: Collection, categories: Categories, cached_predictions: PredictedLabels | None = None
) -> Filing:
    """Predict the labels of a sample of documents, or reuse predictions, and compute their certainty."""
    rows, stored = sample_rows(len(collection), MAX_DOCUMENTS), categories.stored_predictions
    is_current = stored is not None and np.array_equal(stored[0], rows)  # no document was added since
    if cached_predictions is None:
        cached_predictions = (
            stored[1] if stored is not None and is_current else predict_rows(collection, categories, rows)
        )
    predictions, basis = cached_predictions, categories.heldout
    is_training_data = basis is None or not len(basis.rows)
    if is_training_data:
        basis = _predict_training_documents(collection, categories, rows, predictions, basis)
    assert basis is not None  # noqa: S101
    return Filing(
        categories,
        rows,
        predictions,
        compute_certainty(categories, basis, predictions.share, predictions.score),
        basis,
        is_training_data,
    )


def select_vectors(collection: Collection, categories: Categories, rows: Array) -> Floats | None:
    """Return the embeddings of rows; None without embeddings or if the model does not use them."""
    vectors = collection.vectors if categories.uses_vectors else None
    return None if vectors is None else vectors[rows]


def predict_rows(
    collection: Collection, categories: Categories, rows: Array, names: Sequence[str] | None = None
) -> PredictedLabels:
    return categories.predict_labels(collection.all_counts[rows], names, select_vectors(collection, categories, rows))


def _predict_training_documents(
    collection: Collection, categories: Categories, rows: Array, predictions: PredictedLabels, heldout: HeldOut | None
) -> HeldOut:
    """Compare the labels of documents with predictions of the model that was trained on them."""
    all_labels = collection.documents.labels_of(rows.tolist())
    names = set(categories.names)
    right = [tuple(name for name in labels if name in names) for labels in all_labels]
    right = right if categories.is_multilabel else [labels[:1] for labels in right]
    has_label = np.array([bool(labels) for labels in right], bool)
    sizes = {} if heldout is None else dict(zip(categories.names, heldout.labelled.tolist(), strict=True))
    true_labels = [labels for labels in right if labels]
    return collect_heldout(
        categories.names, rows[has_label], true_labels, predictions.select(has_label), sizes,
        by_table=heldout is not None and bool(heldout.by_table[0]),
        last_judgement=0 if heldout is None else int(heldout.judged[0]),
    )  # fmt: skip


@dataclass(frozen=True)
class FiledRows:
    """Rows of one category (``label``) or heading (``level``, ``group``), the least certain first."""

    rows: Array
    certainty: Array
    label: int | None = None
    level: int = UNFILED
    group: int = -1

    def exclude(self, *others: Sequence[int]) -> FiledRows:
        """Return the rows that are in none of the lists."""
        is_kept = np.ones(len(self.rows), bool)
        for rows in others:
            is_kept &= ~np.isin(self.rows, rows)
        return replace(self, rows=self.rows[is_kept], certainty=self.certainty[is_kept])

    def part(self, start: int, stop: int) -> FiledRows:
        return replace(self, rows=self.rows[start:stop], certainty=self.certainty[start:stop])


def list_filed_documents(filing: Filing, label: str, rho: float) -> FiledRows | None:
    """Return the documents filed at a category or heading with at least ``rho``; None for an unknown name."""
    names, headings = filing.categories.names, filing.categories.headings
    if label in names:
        place = names.index(label)
        is_here = filing.select_certain(rho) & (filing.predictions.label == place)
        return _sort_by_certainty(
            filing.rows[filing.predictions.place[is_here]], filing.certainty[is_here], label=place
        )
    for level in range(headings.levels - 1 if filing.predictions.best is not None else 0):
        if label in headings.names[level] and filing.predictions.best is not None:
            group = headings.names[level].index(label)
            is_here = (filing.levels_at(rho) == level) & (filing.predictions.best[0][:, level] == group)
            return _sort_by_certainty(
                filing.rows[is_here], filing.predictions.best[1][is_here, level], level=level, group=group
            )
    return None


def list_confused_documents(filing: Filing, label: str, predicted_label: str) -> FiledRows:
    """Return the held-out documents with ``label`` for which the model predicted ``predicted_label``."""
    names = list(filing.categories.names)
    pairs = filing.basis.list_confused(names.index(label), names.index(predicted_label))
    rows, score = np.array([row for row, _ in pairs], np.int64), np.array([score for _, score in pairs], np.float32)
    return _sort_by_certainty(
        rows, compute_certainty(filing.categories, filing.basis, score, score), label=names.index(predicted_label)
    )


def list_unassigned_documents(filing: Filing, rho: float) -> FiledRows:
    """Return the documents without a category or heading of sufficient certainty."""
    is_here = filing.levels_at(rho) == UNFILED
    if filing.predictions.best is not None:
        return _sort_by_certainty(filing.rows[is_here], filing.predictions.best[1][is_here, -1])
    largest = np.zeros(len(filing.rows), np.float32)
    np.maximum.at(largest, filing.predictions.place, filing.certainty)
    return _sort_by_certainty(filing.rows[is_here], largest[is_here])


def _sort_by_certainty(rows: Array, certainty: Array, **place: int) -> FiledRows:
    order = np.lexsort((rows, certainty.round(4)))
    return FiledRows(rows[order], certainty[order], **place)


@dataclass(frozen=True)
class FilingAnswer:
    """Prediction for a document: the category that accepting assigns, its headings, labels and alternatives."""

    label: int
    path: tuple[tuple[str, str, float], ...]  # full name, display name and certainty of each heading
    certain: dict[str, float]  # certainty of each predicted label, if documents can have several
    alternatives: tuple[str, ...]  # other categories, the most probable first


def explain_filing(
    collection: Collection, filing: Filing, documents: FiledRows, n_alternatives: int
) -> list[FilingAnswer]:
    """Return the label, headings, certainties and alternatives of each of these documents."""
    if not len(documents.rows):
        return []
    counts, names = collection.all_counts[documents.rows], filing.categories.names
    vectors = select_vectors(collection, filing.categories, documents.rows)
    shares = filing.categories.shares(counts, vectors)
    predictions = filing.categories.predict_labels(counts, vectors=vectors) if filing.categories.is_multilabel else None
    certainty = (
        None
        if predictions is None
        else compute_certainty(filing.categories, filing.basis, predictions.share, predictions.score)
    )
    result = []
    for place, label_shares in enumerate(shares):
        label, certain = _find_accepted_label(filing, documents, label_shares), {}
        if predictions is not None and certainty is not None:
            certain = {
                names[predictions.label[at]]: float(certainty[at]) for at in np.flatnonzero(predictions.place == place)
            }
            if documents.label is not None:
                certain.setdefault(names[documents.label], float(documents.certainty[place]))
        order = np.argsort(-label_shares, kind="stable")[: n_alternatives + 1]
        others = tuple(names[column] for column in order.tolist() if column != label)[:n_alternatives]
        result.append(
            FilingAnswer(
                label,
                () if predictions is not None else _find_heading_path(filing, label_shares, label),
                certain,
                others,
            )
        )
    return result


def _find_accepted_label(filing: Filing, documents: FiledRows, shares: Array) -> int:
    """Return the label under which a document is listed, or its most probable label."""
    if documents.label is not None:
        return documents.label
    if documents.level == UNFILED:
        return int(shares.argmax())
    return int(np.where(filing.categories.headings.groups[documents.level] == documents.group, shares, -1.0).argmax())


def _find_heading_path(filing: Filing, shares: Array, label: int) -> tuple[tuple[str, str, float], ...]:
    """Return the headings of a label: name, short name and probability, from the highest level."""
    headings, path = filing.categories.headings, []
    for level in range(headings.levels):
        group = headings.groups[level, label]
        name, last = headings.names[level][group], level == headings.levels - 1
        if last or name != filing.categories.names[label]:
            probability = float(shares[headings.groups[level] == group].sum())
            path.append((name, name if last else name[:-1], min(probability, 1.0)))
    return tuple(path)


@dataclass(frozen=True)
class CategoryFigures:
    """Number of documents of a category, its recall (``agreement``), its precision and its confusions."""

    filed: int | None = None
    held_out: int = 0
    agreement: float | None = None
    precision: float | None = None
    confused: Sequence[Any] = ()  # names and numbers; links on a page


def compute_category_figures(filing: Filing, rho: float, most_confused: int) -> list[CategoryFigures]:
    """Return counts, recall, precision and most confused labels of each category."""
    names = filing.categories.names
    n_filed = np.bincount(filing.predictions.label[filing.select_certain(rho)].astype(np.int64), minlength=len(names))
    (n_predicted, n_predicted_right), (n_labelled, n_labelled_right) = filing.basis.precision(), filing.basis.recall()
    wrong: dict[int, Counter[int]] = {}
    for (true_label, other), number in filing.confusions.items():
        wrong.setdefault(true_label, Counter())[other] = number
    return [
        CategoryFigures(
            int(n_filed[label]),
            int(n_labelled[label]),
            float(n_labelled_right[label] / n_labelled[label]) if n_labelled[label] else None,
            float(n_predicted_right[label] / n_predicted[label]) if n_predicted[label] else None,
            [(names[other], number) for other, number in wrong.get(label, Counter()).most_common(most_confused)],
        )
        for label in range(len(names))
    ]


def count_filed_documents(filing: Filing, rho: float) -> tuple[int, int]:
    """Return the number of documents filed at a category, and of documents that are not filed."""
    levels = filing.levels_at(rho)
    category_level = filing.categories.headings.levels - 1 if filing.predictions.best is not None else 0
    return int((levels == category_level).sum()), int((levels < 0).sum())


def predict_label_certainties(
    collection: Collection, counts: Csr, vectors: Floats | None = None
) -> dict[int, dict[str, float]]:
    """Return the certainty of each label by document and name; empty if documents have one label."""
    result: dict[int, dict[str, float]] = {}
    categories = collection.categories
    if categories is None or not categories.is_multilabel:
        return result
    predictions = categories.predict_labels(counts, vectors=vectors)
    certainties = (
        predictions.share
        if categories.heldout is None
        else compute_certainty(categories, categories.heldout, predictions.share, predictions.score)
    )
    for place, label, certainty in zip(
        predictions.place.tolist(), predictions.label.tolist(), certainties.tolist(), strict=True
    ):
        result.setdefault(place, {})[categories.names[label]] = certainty
    return result


def iter_heading_sizes(filing: Filing, rho: float) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Yield each level above the categories, from the lowest up, with its headings and their document counts."""
    if filing.predictions.best is None:
        return
    levels, names = filing.levels_at(rho), filing.categories.headings.names
    for level in reversed(range(len(names) - 1)):
        sizes = Counter(filing.predictions.best[0][levels == level, level].tolist())
        yield level, [(names[level][group], number) for group, number in sizes.most_common()]
