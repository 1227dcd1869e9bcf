"""Gaussian mixture of labelled and unlabelled documents: the components of each label, with words and documents.

The features are the embeddings of the documents, or points of latent semantic indexing. A label can have several
components, each a group of its documents (Larsen et al.: docs/models/ggm.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import TINY, Array, Bools, Doubles, Floats
from topiarist.collection.classify import learning
from topiarist.collection.classify.predictions import compute_accuracy_interval
from topiarist.collection.classify.word_labels import rank_words
from topiarist.errors import InputError
from topiarist.estimators.flat.lsi import LSI
from topiarist.estimators.gaussian.ggm import GGM
from topiarist.estimators.gaussian.mixture_hierarchy import MixtureHierarchy

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MAX_UNLABELLED = 20_000  # documents; of more, a random sample
LATENT_DIMENSIONS = 16
MAX_TYPICAL = 3  # documents of a component
MIN_SHARE = 0.005  # of a label in a component, and of a component in a label, that is listed
VECTORS, LATENT = "vectors", "latent dimensions"


@dataclass(frozen=True)
class TypicalDocument:
    """Document of high density in a component."""

    id: str
    title: str


@dataclass(frozen=True)
class Component:
    """Component of the mixture, with its share of the documents and P(label | component)."""

    number: int
    share: float
    labels: Mapping[str, float]
    words: tuple[str, ...]
    typical: tuple[TypicalDocument, ...]


@dataclass(frozen=True)
class MixedLabel:
    """Label with its number of labelled documents, and P(component | label) by component, the largest first."""

    name: str
    documents: int
    components: Mapping[int, float]


@dataclass(frozen=True)
class LabelMixture:
    """Components of a Gaussian mixture that was learned from labelled and unlabelled documents."""

    features: str
    n_labelled: int
    n_unlabelled: int
    n_held_out: int
    accuracy: float | None  # share of held-out documents whose label is right
    accuracy_between: tuple[float, float] | None  # 95% interval, with fewer than 100 held-out documents
    labels: tuple[MixedLabel, ...]
    components: tuple[Component, ...]
    left_out: tuple[str, ...] = ()  # labels with too few documents
    column: str = ""  # source of the labels
    n_several: int = 0  # documents with more than one label, of which only the first is used

    def to_dict(self) -> dict[str, Any]:
        """Return the mixture as plain JSON data."""
        return asdict(self)


def learn_mixture(
    collection: Collection,
    labels: Mapping[str, Sequence[str]] | None = None,
    *,
    column: str = "",
    separator: str = "",
    holdout: float = 0.2,
    unlabelled_weight: float | None = None,
    seed: int = 0,
) -> LabelMixture:
    """Fit a Gaussian mixture to labelled and unlabelled documents, with the arguments of ``learn_categories``.

    A document has its first label. Nothing is stored: categories that were learned before stay.
    """
    collection.refresh()
    table, column = learning.read_label_table(collection, labels, column, separator)
    rows, labels_of_rows, left_out = learning.select_labels(collection, table)
    names = [document_labels[0] for document_labels in labels_of_rows]
    features, points = _make_points(collection, seed)
    has_point: Bools = np.asarray(points.any(axis=1))
    names = [name for name, row in zip(names, rows.tolist(), strict=True) if has_point[row]]
    n_several = sum(
        len(document_labels) > 1
        for document_labels, row in zip(labels_of_rows, rows.tolist(), strict=True)
        if has_point[row]
    )
    rows = rows[has_point[rows]]
    if len(set(names)) < 2:
        raise InputError(
            f"a mixture needs documents with {features} of at least two categories, got {len(set(names))}",
            hint="Label more documents, or leave --model out.",
        )
    others = np.setdiff1d(np.flatnonzero(has_point), rows)
    if len(others) > MAX_UNLABELLED:
        others = np.sort(np.random.default_rng(seed).choice(others, MAX_UNLABELLED, replace=False))
    used = np.concatenate([rows, others])
    weight = "auto" if unlabelled_weight is None else unlabelled_weight

    def fit(labelled_places: Array) -> GGM:
        y = np.full(len(used), None, object)
        y[labelled_places] = np.array(names, object)[labelled_places]
        return GGM(unlabelled_weight=weight, random_state=seed).fit(points[used], y)

    groups = learning.group_linked_documents(collection, rows)
    heldout, training = learning.split_heldout([(name,) for name in names], holdout, seed, groups)
    accuracy = interval = None
    if len(heldout) and len({names[place] for place in training.tolist()}) > 1:
        predicted = fit(training).predict(points[rows[heldout]])
        accuracy = float(np.mean(predicted == np.array(names, object)[heldout]))
        interval = compute_accuracy_interval(accuracy, len(heldout))
    model = fit(np.arange(len(rows)))
    joint = model.component_prior_[:, None] * model.class_given_component_
    return LabelMixture(
        features, len(rows), len(others), len(heldout) if accuracy is not None else 0, accuracy, interval,
        _list_labels(model, joint, names), _list_components(collection, model, joint, used, points[used], seed),
        left_out, column, n_several,
    )  # fmt: skip


def _make_points(collection: Collection, seed: int) -> tuple[str, Floats]:
    """Return the kind and values of the features: vectors, otherwise LSI of the counts; zeros without any."""
    vectors = collection.encoder_vectors
    if vectors is not None:
        return VECTORS, np.asarray(vectors, np.float64)
    counts = collection.all_counts
    return LATENT, LSI(max(2, min(LATENT_DIMENSIONS, *counts.shape)), random_state=seed).fit_transform(counts)


def _list_labels(model: GGM, joint: Doubles, names: Sequence[str]) -> tuple[MixedLabel, ...]:
    """Return each label with its component shares and number of documents, the largest label first."""
    labels = []
    for column, name in enumerate(model.classes_.tolist()):
        shares = joint[:, column] / joint[:, column].sum()
        order = [
            component for component in np.argsort(-shares, kind="stable").tolist() if shares[component] > MIN_SHARE
        ]
        components = {component: round(float(shares[component]), 4) for component in order}
        labels.append(MixedLabel(name, names.count(name), components))
    return tuple(sorted(labels, key=lambda label: (-label.documents, label.name)))


def _list_components(
    collection: Collection, model: GGM, joint: Doubles, used: Array, points: Doubles, seed: int
) -> tuple[Component, ...]:
    """Return each component of the mixture with its labels, words and typical documents."""
    counts = collection.all_counts[used]
    table = np.asarray(counts.T @ model.component_given_example(points), np.float64).T
    probability = table / np.maximum(table.sum(axis=1, keepdims=True), TINY)
    words = rank_words(probability, model.component_prior_, counts, collection.counting.vocabulary.words)
    prototypes = MixtureHierarchy(random_state=seed).fit(model).prototypes(points, MAX_TYPICAL)
    components = []
    for number, shares in enumerate(joint / joint.sum(axis=1, keepdims=True)):
        order = [label for label in np.argsort(-shares, kind="stable").tolist() if shares[label] > MIN_SHARE]
        documents = collection.documents.load_many(used[prototypes[number]].tolist(), texts=False)
        components.append(
            Component(
                number, round(float(model.component_prior_[number]), 4),
                {model.classes_[label]: round(float(shares[label]), 4) for label in order}, words[number],
                tuple(TypicalDocument(document.id, document.title) for document in documents),
            )
        )  # fmt: skip
    return tuple(components)
