"""Words of a document with several labels: the label that each word speaks for.

A parametric mixture model is fitted to documents with these labels, and all other labels together are one more label.
In a document, a word speaks for label l with probability P(w | l) / Σ P(w | l'), over the labels of the document.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.collection import Collection
from topiarist.estimators.category.pmm import PMM

MAX_DOCUMENTS = 500  # of each label, spread evenly: more change the colours of few words
MAX_STEPS = 20


def compute_word_labels(collection: Collection, labels: Sequence[str]) -> Floats:
    """Return P(label | word, document) for the words of the vocabulary, (n_labels, n_words)."""
    documents, place = collection.documents, {label: number for number, label in enumerate(labels)}
    rows: set[int] = set()
    for label in labels:
        labelled = documents.labelled_rows(label)
        rows.update(labelled[:: -(-len(labelled) // MAX_DOCUMENTS)] if len(labelled) else ())
    ordered = sorted(map(int, rows))
    indicator = np.zeros((len(ordered), len(labels) + 1), bool)
    for number, names in enumerate(documents.labels_of(ordered)):
        indicator[number, [place.get(name, len(labels)) for name in names]] = True
    used = indicator.any(axis=0)
    mixture = PMM(max_iter=MAX_STEPS).fit(collection.counts[ordered], indicator[:, used])
    words = mixture.word_given_label_[: len(labels)].astype(np.float64)
    probabilities: Floats = words / np.maximum(words.sum(axis=0), np.finfo(np.float64).tiny)
    return probabilities
